#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::run {

/// The parts of a model that a run saves. It refers to the model.
struct ModelFiles {
  /// Writes the model's files to a directory. Empty means model.safetensors with the state_dict.
  std::function<void(const std::filesystem::path&)> save = {};
  std::span<const weights::TensorView> state_dict;
  std::vector<std::string> labels = {};  ///< names for the results, if they are known
};

/// Calls `use` with the files of a model: those that `model.save_pretrained(directory)` writes if
/// the model has it, else its state_dict.
template <class M, class Use>
void with_files_of(const M& model, const Use& use) {
  const auto state_dict = model.state_dict();
  ModelFiles files{.state_dict = state_dict.views()};
  if constexpr (requires(const std::filesystem::path& directory) {
                  model.save_pretrained(directory);
                }) {
    files.save = [&model](const std::filesystem::path& directory) {
      model.save_pretrained(directory);
    };
  }
  if constexpr (requires { model.config().labels; }) files.labels = model.config().labels;
  use(files);
}

}  // namespace seqtrain::run
