#include <string>

#include <gtest/gtest.h>

#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/model_class.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

class ModelClass : public testing::Test {
 protected:
  void write(const std::string& classes) const {
    tests::write_file(directory_ / "config.json", R"({"architectures": )" + classes + "}");
  }
  [[nodiscard]] std::string untrained() const {
    return not_trained(directory_.path(), "classifier.weight").what();
  }

  tests::TemporaryDirectory directory_;
  std::string place_ = directory_.path().string();
  std::string remedy_ = "; fine-tune it first: seqtrain train --model " + place_ +
                        " --train-file FILE --output-dir DIR";
};

TEST_F(ModelClass, IsTheFirstInTheConfig) {
  EXPECT_EQ(model_class(directory_.path()), "");
  for (const char* none : {"[]", "null"}) {
    write(none);
    EXPECT_EQ(model_class(directory_.path()), "");
  }
  write(R"(["BertForMaskedLM", "BertModel"])");
  EXPECT_EQ(model_class(directory_.path()), "BertForMaskedLM");
}

TEST_F(ModelClass, OfAnotherTaskIsNamedWithTheCommandThatTrains) {
  for (const std::string name : {"BertForQuestionAnswering", "RobertaForMaskedLM", "BertModel"}) {
    write("[\"" + name + "\"]");
    EXPECT_EQ(untrained(), place_ + ": is a " + name + ", which labels no texts" + remedy_);
  }
  write(R"(["BertForSequenceClassification"])");
  EXPECT_EQ(untrained(),
            place_ + ": has no tensor classifier.weight, so it is no trained classifier" + remedy_);
  tests::write_file(directory_ / "config.json", "{}");
  EXPECT_EQ(untrained(),
            place_ + ": has no tensor classifier.weight, so it is no trained classifier" + remedy_);
}

TEST_F(ModelClass, OfAnAdapterIsNotTheReason) {
  tests::write_file(directory_ / "adapter_config.json", "{}");
  EXPECT_EQ(untrained(),
            place_ +
                ": neither the adapter nor its base has a tensor classifier.weight; train the "
                "adapter with its head, as seqtrain train --lora-rank 8 does");
}

TEST_F(ModelClass, WithAClassifiersTensorsForAnotherTaskIsRefused) {
  const auto problem = [&] {
    return tests::problem_of([&] { refuse_other_heads(directory_.path()); });
  };
  for (const std::string name : {"ModernBertForTokenClassification", "BertForMultipleChoice"}) {
    write("[\"" + name + "\"]");
    EXPECT_EQ(problem(), place_ + ": is a " + name + ", which labels no texts" + remedy_);
  }
  // A state_dict saved by hand may have the base's config.json beside it.
  for (const std::string name : {"BertForMaskedLM", "BertForSequenceClassification", "MyOwn"}) {
    write("[\"" + name + "\"]");
    EXPECT_EQ(problem(), "nothing was thrown");
  }
}

}  // namespace
}  // namespace seqtrain::weights
