#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/weights/safetensors.hpp>

#include "support/model_case.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

using Tensors = std::vector<weights::TensorView>;

/// A golden model in a directory of its own, whose files a test changes.
class CheckpointCopy {
 public:
  explicit CheckpointCopy(const std::string& name)
      : golden_{tests::small_model(name)}, file_{golden_.directory() / "model.safetensors"} {
    std::filesystem::copy_file(golden_.directory() / "config.json", directory_ / "config.json");
    write(tensors());
  }

  [[nodiscard]] const Tensors& tensors() const { return file_.tensors(); }
  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }
  [[nodiscard]] data::Batch batch() const { return golden_.batch(0); }
  [[nodiscard]] json::Document config() const {
    return json::Document::load(golden_.directory() / "config.json");
  }

  void write(const Tensors& tensors) const {
    weights::write_safetensors(directory_ / "model.safetensors", tensors);
  }
  void write_config(const std::string& text) const {
    tests::write_file(directory_ / "config.json", text);
  }
  /// Puts words before the names of all tensors.
  void wrap(const std::string& words) const {
    Tensors all = tensors();
    for (auto& tensor : all) tensor.name.insert(0, words);
    write(all);
  }
  [[nodiscard]] AnyClassifier load() const {
    return load_classifier(path(), {.only_predicts = true});
  }
  /// Returns why the checkpoint is no trained model.
  [[nodiscard]] std::string problem() const {
    return tests::problem_of([&] { check_trained(load().load_report(), path()); });
  }

 private:
  tests::ModelCase golden_;
  weights::SafetensorsFile file_;
  tests::TemporaryDirectory directory_;
};

class DamagedCheckpoint : public testing::TestWithParam<std::string> {
 protected:
  CheckpointCopy copy_{GetParam()};
};

/// What is done to a tensor. Its numbers have 4 bytes, so they can be taken for integers.
void give_another_shape(weights::TensorView& tensor) {
  tensor.shape.insert(tensor.shape.begin(), 1);
}
void give_another_type(weights::TensorView& tensor) {
  tensor.dtype = weights::DType::i32;
}
void give_another_name(weights::TensorView& tensor) {
  tensor.name += "_of_another";
}

TEST_P(DamagedCheckpoint, IsRefusedWithTheFileAndTheTensor) {
  const std::string file = (copy_.path() / "model.safetensors").string() + ": ";
  const auto expect = [&](const Tensors& tensors, const std::string& name,
                          const std::string& says) {
    copy_.write(tensors);
    const std::string problem = copy_.problem();
    EXPECT_TRUE(problem.starts_with(file + name + ": ")) << name << ": " << problem;
    EXPECT_NE(problem.find(says), std::string::npos) << problem;
    EXPECT_NE(problem.find("; "), std::string::npos) << "no advice: " << problem;
  };
  // The error about a tensor of the head says that the model is not fine-tuned.
  const auto expect_missing = [&](const Tensors& tensors, const std::string& name) {
    copy_.write(tensors);
    const std::string problem = copy_.problem();
    const std::string of_head = copy_.path().string() + ": has no tensor " + name + ", so ";
    EXPECT_TRUE(problem.starts_with(file + name + ": the checkpoint has no such tensor; ") ||
                problem.starts_with(of_head))
        << name << ": " << problem;
  };
  ASSERT_EQ(copy_.problem(), "nothing was thrown");
  for (std::size_t i = 0; i < copy_.tensors().size(); ++i) {
    const std::string& name = copy_.tensors()[i].name;
    if (name.ends_with("position_ids")) continue;  // no weights
    Tensors tensors = copy_.tensors();
    give_another_shape(tensors[i]);
    expect(tensors, name,
           "has shape " + weights::to_string(tensors[i].shape) + " in the checkpoint, " +
               weights::to_string(copy_.tensors()[i].shape) + " in the model");
    tensors = copy_.tensors();
    give_another_type(tensors[i]);
    expect(tensors, name, "holds no floating-point numbers but I32");
    tensors = copy_.tensors();
    give_another_name(tensors[i]);
    expect_missing(tensors, name);
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
    expect_missing(tensors, name);
  }
}

TEST_P(DamagedCheckpoint, WithAShapeOfManyDimensionsIsRefusedInOneShortLine) {
  Tensors tensors = copy_.tensors();
  tensors.front().shape.insert(tensors.front().shape.begin(), 100'000, 1);
  copy_.write(tensors);
  const std::string problem = copy_.problem();
  EXPECT_NE(problem.find("[1, 1, 1, 1, 1, 1, 1, 1, …] (10000"), std::string::npos) << problem;
  EXPECT_LT(problem.size(), 1000U);
}

/// Replaces each value of config.json by values of other types and sizes. A key that the family
/// does not read changes nothing.
TEST_P(DamagedCheckpoint, IsRefusedWithTheFileAndTheKey) {
  const auto document = copy_.config();
  const auto members = document.root().members();
  for (const auto& [damaged, old] : members) {
    for (const std::string value : {"", "{}", "-7", "\"x\"", "123456789012"}) {
      json::Writer out;
      out.begin_object();
      for (const auto& [key, member] : members) {
        if (key == damaged && value.empty()) continue;
        out.key(key).raw(key == damaged ? value : simdjson::minify(member.element()));
      }
      copy_.write_config(out.end_object().text());
      const std::string problem = copy_.problem();
      if (problem == "nothing was thrown") continue;
      // Sizes that are in order do not fit the weights.
      const bool names_key = problem.find(std::string{damaged}) != std::string::npos;
      EXPECT_TRUE(problem.starts_with((copy_.path() / "model.safetensors: ").string()) ||
                  (problem.starts_with((copy_.path() / "config.json: ").string()) && names_key))
          << damaged << " = " << value << ": " << problem;
    }
  }
}

/// DistributedDataParallel, torch.compile and Lightning modules write such names.
TEST_P(DamagedCheckpoint, IsWholeWhereAllNamesHaveWordsOfAWrapper) {
  const auto expected = copy_.load().logits(copy_.batch());
  for (const std::string words : {"module.", "_orig_mod.", "model.", "module._orig_mod.",
                                  "model._orig_mod.", "model.model."}) {
    copy_.wrap(words);
    auto model = copy_.load();
    EXPECT_EQ(model.load_report().wrapper, words);
    EXPECT_TRUE(model.load_report().fresh.empty());
    EXPECT_TRUE(model.logits(copy_.batch()) == expected) << words;
    EXPECT_TRUE(describe(model.load_report())
                    .starts_with("All names in the checkpoint begin with " + words + ","));
  }
}

/// The names of an encoder alone have no word of the family before them.
TEST_P(DamagedCheckpoint, OfAnEncoderAloneIsReadAsBefore) {
  const auto is_embedding = [](const auto& tensor) {
    return tensor.name.find(".embeddings.") != std::string::npos;
  };
  std::string family = std::ranges::find_if(copy_.tensors(), is_embedding)->name;
  family.erase(family.find('.') + 1);
  Tensors encoder = copy_.tensors();
  std::erase_if(encoder, [&](const auto& tensor) { return !tensor.name.starts_with(family); });
  copy_.write(encoder);
  const auto with_family = copy_.load().load_report();
  EXPECT_EQ(with_family.wrapper, "");
  for (auto& tensor : encoder) tensor.name.erase(0, family.size());
  copy_.write(encoder);
  const auto bare = copy_.load().load_report();
  EXPECT_EQ(bare.wrapper, "");
  EXPECT_EQ(bare.fresh, with_family.fresh);
  for (auto& tensor : encoder) tensor.name.insert(0, "module.");
  copy_.write(encoder);
  const auto wrapped = copy_.load().load_report();
  EXPECT_EQ(wrapped.wrapper, "module.");
  EXPECT_EQ(wrapped.fresh, with_family.fresh);
  std::erase_if(encoder, is_embedding);
  copy_.write(encoder);
  EXPECT_NE(copy_.problem().find("the checkpoint has no such tensor"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Families, DamagedCheckpoint,
                         testing::Values("albert", "bert_gelu", "deberta_v3", "distilbert_gelu",
                                         "electra_small", "modernbert", "mpnet",
                                         "roberta_gelu_new"),
                         [](const auto& test) { return test.param; });

TEST(WrappedCheckpoint, IsNoneWhereOneNameHasNoWrapper) {
  const CheckpointCopy copy{"bert_gelu"};
  Tensors tensors = copy.tensors();
  for (auto& tensor : tensors) tensor.name.insert(0, "net.");
  copy.write(tensors);
  EXPECT_EQ(
      copy.problem(),
      (copy.path() / "model.safetensors").string() +
          ": embeddings.word_embeddings.weight: the checkpoint has no such tensor; it has "
          "net.bert.embeddings.word_embeddings.weight; check that config.json and the weights "
          "belong to one model");
  for (auto& tensor : tensors) tensor.name.replace(0, 4, "model.");
  tensors.back().name = "loss.weight";
  copy.write(tensors);
  EXPECT_NE(copy.problem().find("it has model.bert.embeddings.word_embeddings.weight"),
            std::string::npos)
      << copy.problem();
}

/// Folders of `gte` were made from those of its own code, and transformers reads both.
TEST(Gte, MayHaveThePrefixOfItsOwnCode) {
  const CheckpointCopy copy{"gte"};
  const auto expected = copy.load().logits(copy.batch());
  Tensors tensors = copy.tensors();
  for (auto& tensor : tensors) {
    if (tensor.name.starts_with("gte.")) tensor.name.replace(0, 3, "new");
  }
  copy.write(tensors);
  auto model = copy.load();
  EXPECT_TRUE(model.load_report().fresh.empty());
  EXPECT_TRUE(model.load_report().left_out.empty());
  EXPECT_TRUE(model.logits(copy.batch()) == expected);
}

TEST(WrappedCheckpoint, IsABaseOfAnAdapter) {
  const CheckpointCopy base{"bert_gelu"};
  const auto adapter = tests::golden() / "adapters/bert_gelu";
  const auto expected = load_classifier(adapter, {}, base.path()).logits(base.batch());
  base.wrap("module.");
  EXPECT_TRUE(load_classifier(adapter, {}, base.path()).logits(base.batch()) == expected);
}

}  // namespace
}  // namespace seqtrain::model
