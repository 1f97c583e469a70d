#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::tests {

/// A model's directory and transformers' results for it, from tests/golden/model.py.
class ModelCase {
 public:
  explicit ModelCase(std::filesystem::path directory)
      : directory_{std::move(directory)}, expected_{directory_ / "expected.safetensors"} {}

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  [[nodiscard]] std::vector<float> expected(const std::string& name) const {
    for (const auto& tensor : expected_.tensors()) {
      if (tensor.name == name) return weights::to_floats(tensor);
    }
    throw std::out_of_range{directory_.string() + " expects no " + name};
  }

  /// Returns batch 0 or 1.
  [[nodiscard]] data::Batch batch(std::int64_t index) const {
    data::Batch batch;
    batch.index = index;
    const std::string prefix = "batch." + std::to_string(index) + ".";
    fill(batch.input_ids, prefix + "input_ids");
    fill(batch.token_type_ids, prefix + "token_type_ids");
    fill(batch.lengths, prefix + "lengths");
    batch.rows = static_cast<std::int64_t>(batch.lengths.size());
    if (one_label()) {
      fill(batch.labels, prefix + "labels");
    } else {
      fill(batch.targets, prefix + "labels");
      batch.labels.resize(batch.lengths.size());
    }
    batch.width = static_cast<std::int64_t>(batch.input_ids.size()) / batch.rows;
    for (std::int64_t row = 0; row < batch.rows; ++row) batch.row_ids.push_back(row);
    return batch;
  }

 private:
  [[nodiscard]] bool one_label() const {
    const auto config = weights::read_config(
        weights::ConfigFile{directory_ / "config.json"},
        {.keys = {.type_vocab_size = "", .position_embedding_type = ""}, .may_have_silu = true});
    return config.problem() == ProblemType::single_label;
  }

  template <class T>
  void fill(std::vector<T>& out, const std::string& name) const {
    for (const float number : expected(name)) out.push_back(static_cast<T>(number));
  }

  std::filesystem::path directory_;
  weights::SafetensorsFile expected_;
};

inline ModelCase small_model(const std::string& name) {
  return ModelCase{golden() / "model" / name};
}

/// Returns the small cases in the tree, and those in the directory SEQTRAIN_MODEL_CASES, if it is
/// set.
inline std::vector<std::filesystem::path> model_cases() {
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator{golden() / "model"}) {
    cases.push_back(entry.path());
  }
  std::ranges::sort(cases);
  if (const char* more = std::getenv("SEQTRAIN_MODEL_CASES")) {
    for (const auto& entry : std::filesystem::directory_iterator{more}) {
      if (entry.is_directory()) cases.push_back(entry.path());
    }
  }
  return cases;
}

}  // namespace seqtrain::tests
