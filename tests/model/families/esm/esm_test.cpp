#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/families/esm/esm.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/model_case.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

using Tensors = std::vector<weights::TensorView>;

/// The name that transformers 5 gives to the angles of a new model's file, the star included.
constexpr std::string_view starred_angles =
    "esm.encoder.layer.*.attention.self.rotary_embeddings.inv_freq";

std::string angles_of_layer(std::string_view number) {
  return std::string{starred_angles}.replace(starred_angles.find('*'), 1, number);
}

/// The case esm_rotary with its tensors changed by a function.
class ChangedEsm {
 public:
  template <class Change>
  explicit ChangedEsm(const Change& change) {
    std::filesystem::copy_file(source() / "config.json", path() / "config.json");
    const weights::WeightsFolder whole{source()};
    Tensors tensors;
    for (const auto& name : whole.names()) tensors.push_back(*whole.find(name));
    change(tensors);
    weights::write_safetensors(path() / "model.safetensors", tensors);
  }

  static std::filesystem::path source() { return tests::golden() / "model/esm_rotary"; }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  tests::TemporaryDirectory directory_;
};

weights::TensorView& angles_in(Tensors& tensors) {
  return *std::ranges::find(tensors, starred_angles, &weights::TensorView::name);
}

auto esm_logits(const std::filesystem::path& directory) {
  return load_classifier(directory, {}).logits(tests::ModelCase{ChangedEsm::source()}.batch(0));
}

TEST(Esm, ReadsTheAnglesByEachOfTheirNames) {
  const ChangedEsm saved{
      [](auto& tensors) { angles_in(tensors).name = "esm.rotary_embeddings.inv_freq"; }};
  EXPECT_EQ(esm_logits(saved.path()), esm_logits(ChangedEsm::source()));
  const std::array<float, 3> unused{9, 9, 9};
  const ChangedEsm published{[&](auto& tensors) {  // as transformers, takes those of layer 0
    angles_in(tensors).name = angles_of_layer("0");
    weights::TensorView other = tensors.front();
    other.name = angles_of_layer("1");
    other.dtype = weights::DType::f32;
    other.shape = {3};
    other.bytes = std::as_bytes(std::span{unused});
    tensors.push_back(other);
  }};
  EXPECT_EQ(esm_logits(published.path()), esm_logits(ChangedEsm::source()));
  EXPECT_TRUE(load_classifier(published.path(), {}).load_report().left_out.empty());
}

TEST(Esm, ComputesTheAnglesIfAFileHasNone) {
  const ChangedEsm bare{[](auto& tensors) {
    std::erase_if(tensors, [](const auto& tensor) { return tensor.name == starred_angles; });
  }};
  const auto ours = esm_logits(bare.path());
  const auto stored = esm_logits(ChangedEsm::source());  // rounded to half
  EXPECT_NE(ours, stored);
  EXPECT_LT((ours - stored).cwiseAbs().maxCoeff(), 0.1);
  EXPECT_TRUE(load_classifier(bare.path(), {}).load_report().fresh.empty());
}

/// A published file is of a masked language model: it has position_ids and lm_head, too.
TEST(Esm, ReadsAPublishedFile) {
  const ChangedEsm published{[](auto& tensors) {
    std::erase_if(tensors,
                  [](const auto& tensor) { return tensor.name.starts_with("classifier"); });
    for (const auto* name : {"esm.embeddings.position_ids", "lm_head.dense.weight"}) {
      tensors.push_back(tensors.front());
      tensors.back().name = name;
    }
  }};
  const auto report = load_classifier(published.path(), {}).load_report();
  EXPECT_EQ(report.left_out, std::vector<std::string>{"lm_head.dense.weight"});
  EXPECT_EQ(report.fresh,
            (std::vector<std::string>{"classifier.dense.weight", "classifier.dense.bias",
                                      "classifier.out_proj.weight", "classifier.out_proj.bias"}));
}

TEST(Esm, SavesTheAnglesAndTheContactHead) {
  const tests::TemporaryDirectory directory;
  load_classifier(ChangedEsm::source(), {}).save_pretrained(directory.path());
  const weights::WeightsFolder before{ChangedEsm::source()}, after{directory.path()};
  const auto same = [&](const std::string& name, std::string_view stored) {
    const auto saved = after.find(name), given = before.find(stored);
    return saved && given && weights::to_floats(*saved) == weights::to_floats(*given);
  };
  EXPECT_TRUE(same("esm.rotary_embeddings.inv_freq", starred_angles));
  for (const std::string name : {"weight", "bias"}) {
    const std::string whole = "esm.contact_head.regression." + name;
    EXPECT_TRUE(same(whole, whole));
  }
  EXPECT_EQ(after.names().size(), before.names().size());
}

TEST(Esm, HasTheContactHeadAfterItsLayers) {
  const auto model = load_classifier(ChangedEsm::source(), {});
  for (const auto& parameter : model.parameters()) {
    if (parameter.name.find("contact_head") == std::string::npos) continue;
    EXPECT_EQ(parameter.depth, tensor::Depth{tensor::Depth::Part::head}) << parameter.name;
    EXPECT_FALSE(parameter.gradient.defined()) << parameter.name;
  }
}

}  // namespace
}  // namespace seqtrain::model
