#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/torch_file.hpp>
#include <seqtrain/weights/unpickle.hpp>

namespace seqtrain::weights {

/// A .pth file of an AWD-LSTM model that fastai has saved: a state_dict, or a dict that holds one
/// under `model` and the optimizer's state beside it. The tensors' bytes live as long as this
/// object.
class FastaiFile {
 public:
  explicit FastaiFile(const std::filesystem::path& path) : path_{path.string()}, file_{path} {
    const TorchValue root = file_.root();
    const auto model = root.find("model");
    for (const auto& [name, value] : (model ? *model : root).members()) {
      if (value.is_tensor()) tensors_.emplace(name, value.tensor());
    }
    if (tensors_.empty()) throw InputError{"holds no state_dict", {.object = path_}};
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// See `TorchFile::check_unchanged`.
  void check_unchanged() const { file_.check_unchanged(); }

  /// Returns the tensor of that name, or nothing. fastai saves some tensors a second time under
  /// another name; if a file has only this copy, the copy is returned.
  [[nodiscard]] std::optional<TensorView> find(std::string_view name) const {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> copies{
        {{"weight_hh_l0_raw", "module.weight_hh_l0"},
         {"linear.weight_raw", "linear.module.weight"},
         {"encoder.weight", "encoder_dp.emb.weight"}}};
    if (const auto found = tensors_.find(name); found != tensors_.end()) return found->second;
    for (const auto& [ending, other] : copies) {
      if (!name.ends_with(ending)) continue;
      const std::string copy = std::string{name.substr(0, name.size() - ending.size())};
      const auto found = tensors_.find(copy + std::string{other});
      if (found != tensors_.end()) return found->second;
    }
    return {};
  }

  /// Returns the tensor of that name. Throws `InputError` if it is missing.
  [[nodiscard]] TensorView at(std::string_view name) const {
    if (const auto found = find(name)) return *found;
    const bool encoder_alone = tensors_.contains("encoder.weight");
    throw InputError{"there is no such tensor",
                     {.object = path_, .field = std::string{name}},
                     encoder_alone
                         ? "the file is of fastai's save_encoder; save the whole model by "
                           "learn.save"
                         : ""};
  }

 private:
  std::string path_;
  TorchFile file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
};

/// Returns the strings of a pickled list, such as fastai's `itos.pkl`. Nothing in it is executed.
/// Throws `InputError` if it is anything else.
inline std::vector<std::string> read_pickled_words(const std::filesystem::path& path) {
  const MappedFile file{path};
  const Pickle pickle = parse_pickle(file.bytes(), path.string(), {});
  const auto* list = pickle.get_if<Pickle::List>(pickle.root);
  if (list == nullptr) throw InputError{"expected a list of words", {.object = path.string()}};
  std::vector<std::string> words;
  for (const auto item : list->items) {
    const auto* word = pickle.get_if<std::string_view>(item);
    if (word == nullptr)
      throw InputError{"an item of the list is not a string", {.object = path.string()}};
    words.emplace_back(*word);
  }
  return words;
}

}  // namespace seqtrain::weights
