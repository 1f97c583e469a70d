#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/families.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/corrupt.hpp"
#include "support/model_case.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

TEST(Architectures, UnknownFamiliesAreNamedWithTheSupportedOnes) {
  const auto visit = [](const char* text) {
    return tests::refusal(
        [&] { Architectures::visit(weights::ConfigFile::parse(text), []<class Family>() {}); });
  };
  EXPECT_EQ(visit(R"({"model_type": "gpt2"})"),
            "config.json: model_type: 'gpt2' is not supported; supported are bert, roberta, "
            "distilbert, xlm-roberta, camembert, electra, mpnet, albert, modernbert, deberta-v2");
  EXPECT_EQ(visit("{}"), "config.json: model_type: missing");
}

TEST(Architectures, EveryFamilyHasACaseOfTransformers) {
  std::vector<std::string> seen;
  for (const auto& directory : tests::model_cases()) {
    Architectures::visit(weights::ConfigFile{directory / "config.json"},
                         [&]<class Family>() { seen.emplace_back(Family::model_type); });
  }
  for (const auto* name : {"bert", "roberta", "distilbert", "xlm-roberta", "camembert", "electra",
                           "mpnet", "albert", "modernbert", "deberta-v2"}) {
    EXPECT_NE(std::ranges::find(seen, name), seen.end()) << name;
  }
}

/// Checkpoints of encoders alone, as after pre-training: names have no prefix, there is no head,
/// and there are tensors that a classifier does not have.
class PretrainedEncoders : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PretrainedEncoders, GetANewHead) {
  const tests::TemporaryDirectory directory;
  const weights::ConfigFile config{GetParam() / "config.json"};
  std::string prefix;
  Architectures::visit(config, [&]<class Family>() { prefix = std::string{Family::prefix} + "."; });
  std::filesystem::copy_file(GetParam() / "config.json", directory.path() / "config.json");
  const weights::WeightsFolder whole{GetParam()};
  std::vector<weights::TensorView> tensors;
  std::vector<std::string> head;
  for (const auto& name : whole.names()) {
    auto tensor = *whole.find(name);
    if (tensor.name.starts_with(prefix) && tensor.name.find("pooler") == std::string::npos) {
      tensor.name.erase(0, prefix.size());
      tensors.push_back(tensor);
    } else {
      head.push_back(tensor.name);
    }
  }
  tensors.push_back(tensors.front());
  tensors.back().name = "predictions.bias";
  weights::write_safetensors(directory.path() / "model.safetensors", tensors);
  const auto model = load_classifier(directory.path(), {.seed = 1});
  auto fresh = model.load_report().fresh;
  std::ranges::sort(fresh);
  std::ranges::sort(head);
  EXPECT_EQ(fresh, head);
  EXPECT_EQ(model.load_report().left_out, std::vector<std::string>{"predictions.bias"});
}

INSTANTIATE_TEST_SUITE_P(Cases, PretrainedEncoders, testing::ValuesIn(tests::model_cases()),
                         [](const auto& test) { return test.param.filename().string(); });

}  // namespace
}  // namespace seqtrain::model
