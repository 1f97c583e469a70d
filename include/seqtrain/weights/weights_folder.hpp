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
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/sentence_form.hpp>
#include <seqtrain/weights/setfit_head.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/torch_file.hpp>
#include <seqtrain/weights/weights_file.hpp>

namespace seqtrain::weights {

/// Returns the directory of an adapter's base: `given` or, if that is empty, the one that the
/// adapter names. Throws `InputError` if it is no directory of a model.
[[nodiscard]] inline std::filesystem::path base_of(const std::filesystem::path& adapter,
                                                   const std::filesystem::path& given) {
  const auto base =
      given.empty() ? std::filesystem::path{read_adapter_config(adapter).base} : given;
  std::error_code ignored;
  if (std::filesystem::is_directory(base, ignored) && !is_adapter(base)) return base;
  throw InputError{
      "names '" + base.string() + "', which is no directory of a model",
      {.object = (adapter / adapter_config_name).string(), .field = "base_model_name_or_path"},
      "put the base there, or write its place into that field"};
}

/// Returns the folder that says how texts are embedded, with its modules, its prompt and the most
/// ids of a text: a model's own, and an adapter's own if it has a modules.json, else its base's.
/// Throws `InputError` as `base_of` does.
[[nodiscard]] inline std::filesystem::path sentence_folder(const std::filesystem::path& folder,
                                                           const std::filesystem::path& base) {
  std::error_code ignored;
  const bool has_own = std::filesystem::exists(folder / "modules.json", ignored);
  return has_own || !is_adapter(folder) ? folder : base_of(folder, base);
}

/// The tensors in a directory in Hugging Face's layout. It reads the first file that exists of
/// model.safetensors, its index, pytorch_model.bin and its index; an index lists the shards of a
/// model. A pytorch_model.bin may also be a checkpoint of Lightning, a dict that holds the tensors
/// under `state_dict`. Files are mapped, so opening them costs next to nothing. The tensors' bytes
/// live as long as this object. Throws `InputError` with the directory and the names that it looked
/// for, or with the file and the tensor.
///
/// If the directory holds an adapter in PEFT's layout, the tensors are those of its base, and
/// `adapter` changes some of them. In sentence-transformers' layout they include those of the map
/// to logits.
class WeightsFolder {
 public:
  /// `base` is the directory of an adapter's base. By default the adapter names it.
  explicit WeightsFolder(std::filesystem::path directory, const std::filesystem::path& base = {})
      : directory_{std::move(directory)}, config_file_{directory_ / "config.json"} {
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory_, ignored)) fail("no such directory");
    if (is_adapter(directory_)) {
      use_adapter(base);
    } else {
      refuse_adapter();
    }
    open();
    sentence_ = read_sentence_classifier(directory_);
    if (!sentence_) return;
    const auto file = sentence_->dense.filename() / "model.safetensors";
    for (const auto& [name, tensor] : read(file.string())) tensors_.insert_or_assign(name, tensor);
  }

  /// Takes the head of a model of setfit, if the directory holds one. Otherwise the model is an
  /// encoder without a head, from which a training begins. Throws `InputError` if the head cannot
  /// be read.
  void take_setfit_head() {
    if (sentence_ || adapter_ || !is_setfit(directory_)) return;
    setfit_ = std::make_shared<const SetfitHead>(directory_);
    sentence_ = detail::form_of(directory_, modules_in(directory_), false);
    sentence_->normalizes = sentence_->normalizes || setfit_->normalizes();
    const auto head = named(setfit_->tensors(), std::string{setfit_head_name});
    for (const auto& [name, tensor] : head) tensors_.insert_or_assign(name, tensor);
  }

  /// Returns the head that `take_setfit_head` has taken, or null.
  [[nodiscard]] const SetfitHead* setfit_head() const { return setfit_.get(); }

  /// Returns the layout if it is that of sentence-transformers.
  [[nodiscard]] const std::optional<SentenceForm>& sentence() const { return sentence_; }

  /// Returns the adapter, or null if there is none.
  [[nodiscard]] const Adapter* adapter() const { return adapter_.get(); }

  /// Returns the tensor of a state_dict key, or nothing if there is none.
  [[nodiscard]] std::optional<TensorView> find(std::string_view name) const {
    if (auto own = adapter_ ? adapter_->find(name) : std::nullopt) return own;
    const auto place = tensors_.find(name);
    if (place == tensors_.end()) return {};
    return place->second.tensor;
  }

  /// Returns the place of a tensor for errors: its file and its name there. A name that no file has
  /// gets the file that lists the names.
  [[nodiscard]] Where where(std::string_view name) const {
    if (adapter_ && adapter_->find(Adapter::in_model(name))) return adapter_->where(name);
    const auto place = tensors_.find(name);
    const auto& file = place == tensors_.end() ? main_file_ : place->second.file;
    return {.object = (directory_ / file).string(), .field = std::string{name}};
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

  /// Throws `Error` if a file has changed since it was opened. Call it when the tensors' bytes have
  /// been read, because they may then be any bytes.
  void check_unchanged() const {
    for (const auto& file : safetensors_) file->check_unchanged();
    for (const auto& file : torch_) file.check_unchanged();
    if (adapter_) adapter_->check_unchanged();
  }

  /// Returns the directory of the tensors, which is the base's if there is an adapter.
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// Returns the path of config.json: the adapter's if it has one.
  [[nodiscard]] const std::filesystem::path& config_file() const { return config_file_; }

 private:
  struct Stored {
    TensorView tensor;
    std::string file;  ///< below the directory
  };
  using Tensors = std::map<std::string, Stored, std::less<>>;

  void use_adapter(const std::filesystem::path& base) {
    adapter_ = std::make_shared<const Adapter>(directory_);
    directory_ = base_of(directory_, base);
    if (!std::filesystem::exists(config_file_)) config_file_ = directory_ / "config.json";
  }

  /// Throws `InputError` if there is an adapter beside a whole model.
  void refuse_adapter() const {
    std::error_code ignored;
    if (!std::filesystem::exists(directory_ / adapter_config_name, ignored)) return;
    fail("holds a model and, by its adapter_config.json, an adapter too", only_one);
  }

  void open() {
    const auto file = weights_file(directory_);
    if (!file) {
      fail("holds no model",
           "looked for model.safetensors, pytorch_model.bin, and an .index.json of either");
    }
    main_file_ = *file;
    if (file->ends_with(".index.json")) return read_index(*file);
    tensors_ = read(*file);
  }

  Tensors read(const std::string& file) {
    const auto path = directory_ / file;
    if (path.extension() == ".bin") {
      return named(state_dict_in(torch_.emplace_back(path).root()).tensors(), file);
    }
    const auto& opened = safetensors_.emplace_back(std::make_shared<SafetensorsFile>(path));
    return named(opened->tensors(), file);
  }

  static TorchValue state_dict_in(const TorchValue& root) {
    const auto inner = root.find("state_dict");
    return inner && !inner->is_tensor() ? *inner : root;
  }

  static Tensors named(const std::vector<TensorView>& tensors, const std::string& file) {
    Tensors result;
    for (const auto& tensor : tensors) result.emplace(tensor.name, Stored{tensor, file});
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
    std::error_code ignored;
    if (std::filesystem::exists(directory_ / shard, ignored)) return read(shard);
    throw entry.error("the file " + shard + " is missing");
  }

  [[noreturn]] void fail(const std::string& problem, const std::string& advice = {}) const {
    throw InputError{problem, {.object = directory_.string()}, advice};
  }

  std::filesystem::path directory_;
  std::filesystem::path config_file_;
  std::shared_ptr<const Adapter> adapter_;
  std::optional<SentenceForm> sentence_;
  std::shared_ptr<const SetfitHead> setfit_;
  std::vector<std::shared_ptr<const SafetensorsFile>> safetensors_;
  std::vector<TorchFile> torch_;
  std::string main_file_;
  Tensors tensors_;
};

}  // namespace seqtrain::weights
