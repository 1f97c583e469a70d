#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/torch_file.hpp>
#include <seqtrain/weights/weights_file.hpp>

namespace seqtrain::weights {

/// The tensors in a directory in Hugging Face's layout. It reads the first file that exists of
/// model.safetensors, its index, pytorch_model.bin and its index; an index lists the shards of a
/// model. Files are mapped, so opening them costs next to nothing. The tensors' bytes live as long
/// as this object. Throws `InputError` with the directory and the names that it looked for, or with
/// the file and the tensor.
class WeightsFolder {
 public:
  explicit WeightsFolder(std::filesystem::path directory) : directory_{std::move(directory)} {
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory_, ignored)) fail("no such directory");
    open();
  }

  /// Returns the tensor of a state_dict key, or nothing if there is none.
  [[nodiscard]] std::optional<TensorView> find(std::string_view name) const {
    const auto place = tensors_.find(name);
    if (place == tensors_.end()) return {};
    return place->second;
  }

  /// Returns all names, sorted.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, tensor] : tensors_) result.push_back(name);
    return result;
  }

  /// Returns the safetensors file that has a tensor's bytes, which live as long as it, or null if
  /// none has them.
  [[nodiscard]] std::shared_ptr<const SafetensorsFile> file_of(const TensorView& tensor) const {
    for (const auto& file : safetensors_) {
      if (file->has(tensor)) return file;
    }
    return nullptr;
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::filesystem::path config_file() const { return directory_ / "config.json"; }

 private:
  using Tensors = std::map<std::string, TensorView, std::less<>>;

  void open() {
    const auto file = weights_file(directory_);
    if (!file) {
      fail("holds no model",
           "looked for model.safetensors, pytorch_model.bin, and an .index.json of either");
    }
    if (file->ends_with(".index.json")) return read_index(*file);
    tensors_ = read(*file);
  }

  [[nodiscard]] bool exists(const std::string& file) const {
    std::error_code ignored;
    return std::filesystem::exists(directory_ / file, ignored);
  }

  Tensors read(const std::string& file) {
    const auto path = directory_ / file;
    if (path.extension() == ".bin") return named(torch_.emplace_back(path).root().tensors());
    return named(safetensors_.emplace_back(std::make_shared<SafetensorsFile>(path))->tensors());
  }

  static Tensors named(const std::vector<TensorView>& tensors) {
    Tensors result;
    for (const auto& tensor : tensors) result.emplace(tensor.name, tensor);
    return result;
  }

  /// Reads an index, whose weight_map gives the file of each tensor.
  void read_index(const std::string& file) {
    const auto document = json::Document::load(directory_ / file);
    std::map<std::string, Tensors, std::less<>> shards;
    for (const auto& [name, entry] : document.root().at("weight_map").members()) {
      const std::string shard{entry.string()};
      if (!shards.contains(shard)) shards[shard] = read_shard(shard, entry);
      const auto tensor = shards[shard].find(name);
      if (tensor == shards[shard].end()) throw entry.error(shard + " has no such tensor");
      tensors_.insert(*tensor);
    }
  }

  Tensors read_shard(const std::string& shard, const json::Value& entry) {
    const bool beside = !shard.empty() && std::filesystem::path{shard}.filename() == shard;
    if (!beside) throw entry.error("'" + shard + "' is not a file in this directory");
    if (!exists(shard)) throw entry.error("the file " + shard + " is missing");
    return read(shard);
  }

  [[noreturn]] void fail(const std::string& problem, const std::string& advice = {}) const {
    throw InputError{problem, {.object = directory_.string()}, advice};
  }

  std::filesystem::path directory_;
  std::vector<std::shared_ptr<const SafetensorsFile>> safetensors_;
  std::vector<TorchFile> torch_;
  Tensors tensors_;
};

}  // namespace seqtrain::weights
