#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/families/esm/esm.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/model_case.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

constexpr std::string_view angles_name = "esm.rotary_embeddings.inv_freq";

/// The case esm_rotary with its tensors changed by a function.
class Changed {
 public:
  template <class Change>
  explicit Changed(const Change& change) {
    const auto source = tests::golden() / "model/esm_rotary";
    std::filesystem::copy_file(source / "config.json", path() / "config.json");
    const weights::WeightsFolder whole{source};
    std::vector<weights::TensorView> tensors;
    for (const auto& name : whole.names()) tensors.push_back(*whole.find(name));
    change(tensors);
    weights::write_safetensors(path() / "model.safetensors", tensors);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  tests::TemporaryDirectory directory_;
};

auto logits_of(const std::filesystem::path& directory) {
  return load_classifier(directory, {})
      .logits(tests::ModelCase{tests::golden() / "model/esm_rotary"}.batch(0));
}

TEST(Esm, ReadsTheAnglesOfOldFilesInEachLayer) {
  const Changed old{[](auto& tensors) {
    const auto angles = std::ranges::find(tensors, angles_name, &weights::TensorView::name);
    ASSERT_NE(angles, tensors.end());
    weights::TensorView copy = *angles;
    const std::string before = "esm.encoder.layer.", after = ".attention.self.rotary_embeddings.";
    angles->name = before + "0" + after + "inv_freq";
    copy.name = before + "1" + after + "inv_freq";
    tensors.push_back(copy);
  }};
  EXPECT_EQ(logits_of(old.path()), logits_of(tests::golden() / "model/esm_rotary"));
  EXPECT_TRUE(load_classifier(old.path(), {}).load_report().left_out.empty());
}

TEST(Esm, ComputesTheAnglesIfAFileHasNone) {
  const Changed bare{[](auto& tensors) {
    std::erase_if(tensors, [](const auto& tensor) { return tensor.name == angles_name; });
  }};
  const auto ours = logits_of(bare.path());
  const auto stored = logits_of(tests::golden() / "model/esm_rotary");  // rounded to half
  EXPECT_NE(ours, stored);
  EXPECT_LT((ours - stored).cwiseAbs().maxCoeff(), 0.1);
  EXPECT_TRUE(load_classifier(bare.path(), {}).load_report().fresh.empty());
}

}  // namespace
}  // namespace seqtrain::model
