#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/weights/pickle.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/torch_archive.hpp>

namespace seqtrain::weights {

/// A value inside a `TorchFile`, which must outlive it. An access that does not fit the value
/// throws `InputError` with the file and the path of the value.
class TorchValue {
 public:
  TorchValue(const detail::TorchArchive& archive, Pickle::Ref ref, std::string path)
      : archive_{&archive}, ref_{ref}, path_{std::move(path)} {}

  /// Returns the member `key` of a dict, or nothing if there is none.
  [[nodiscard]] std::optional<TorchValue> find(std::string_view key) const {
    (void)get<Pickle::Dict>("a dict");
    const auto found = archive_->pickle().member(ref_, key);
    if (!found) return {};
    return child(*found, key);
  }

  /// Returns a member. Throws `InputError` if it is missing.
  [[nodiscard]] TorchValue at(std::string_view key) const {
    auto member = find(key);
    if (!member) throw child(ref_, key).error("missing");
    return *std::move(member);
  }

  /// Returns the members of a dict whose keys are strings, in the file's order.
  [[nodiscard]] std::vector<std::pair<std::string_view, TorchValue>> members() const {
    std::vector<std::pair<std::string_view, TorchValue>> result;
    for (const auto& [name, value] : get<Pickle::Dict>("a dict").members) {
      const auto* key = archive_->pickle().get_if<std::string_view>(name);
      if (key == nullptr) throw error("expected strings as keys");
      result.emplace_back(*key, child(value, *key));
    }
    return result;
  }

  [[nodiscard]] bool is_tensor() const { return archive_->tensor(ref_) != nullptr; }

  /// Returns the value as a tensor, named by its key.
  [[nodiscard]] TensorView tensor() const {
    const auto* found = archive_->tensor(ref_);
    if (found == nullptr) throw error("expected a tensor");
    TensorView tensor = *found;
    tensor.name = key_;
    return tensor;
  }

  /// Returns the tensors of a state_dict in its order.
  [[nodiscard]] std::vector<TensorView> tensors() const {
    std::vector<TensorView> result;
    for (const auto& [key, value] : members()) result.push_back(value.tensor());
    check_names_differ(result, archive_->file());
    return result;
  }

  /// Returns an error at this place, to be thrown.
  [[nodiscard]] InputError error(const std::string& problem) const {
    return InputError{problem, {.object = archive_->file(), .field = path_}};
  }

 private:
  template <class T>
  [[nodiscard]] const T& get(const char* expected) const {
    const auto* value = archive_->pickle().get_if<T>(ref_);
    if (value == nullptr) throw error(std::string{"expected "} + expected);
    return *value;
  }

  [[nodiscard]] TorchValue child(Pickle::Ref ref, std::string_view key) const {
    TorchValue value{*archive_, ref,
                     path_.empty() ? std::string{key} : path_ + "." + std::string{key}};
    value.key_ = key;
    return value;
  }

  const detail::TorchArchive* archive_;
  Pickle::Ref ref_;
  std::string path_;
  std::string key_;
};

/// Reads the tensors of a file of torch.save in zip format (torch 1.6 and later) without Python.
/// Nothing in it is executed. The file is mapped, and a contiguous tensor is a view of it. All
/// values live as long as this object.
class TorchFile {
 public:
  explicit TorchFile(const std::filesystem::path& path)
      : file_{MappedFile{path, MappedFile::Pages::read_only, MappedFile::Changes::watched}},
        archive_{std::make_unique<Archive>(file_->bytes(), path.string())} {}

  /// Reads `bytes`, which must outlive this object. Errors call them `name`.
  TorchFile(std::span<const std::byte> bytes, const std::string& name)
      : archive_{std::make_unique<Archive>(bytes, name)} {}

  [[nodiscard]] TorchValue root() const { return {*archive_, archive_->pickle().root, ""}; }

  /// Throws `Error` if the file has changed since it was opened. Call it when the tensors' bytes
  /// have been read, because they may then be any bytes.
  void check_unchanged() const {
    if (file_) file_->check_unchanged();
  }

 private:
  using Archive = detail::TorchArchive;

  std::optional<MappedFile> file_;
  std::unique_ptr<const Archive> archive_;
};

}  // namespace seqtrain::weights
