#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/weights/lora.hpp>
#include <seqtrain/weights/peft_names.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/torch_file.hpp>
#include <seqtrain/weights/weights_file.hpp>

namespace seqtrain::weights {

/// The names in PEFT's layout of an adapter.
inline constexpr std::string_view adapter_config_name = "adapter_config.json";
/// The file of an adapter's weights.
inline constexpr std::string_view adapter_weights_name = "adapter_model.safetensors";
inline constexpr std::string_view old_adapter_weights_name = "adapter_model.bin";  ///< until 2024
/// The front of a parameter's name in that file.
inline constexpr std::string_view adapter_prefix = "base_model.model.";
/// The end of the name of the factor that reads the layer's input.
inline constexpr std::string_view factor_a = ".lora_A.weight";
/// The end of the name of the factor that writes to the layer's output.
inline constexpr std::string_view factor_b = ".lora_B.weight";

/// The advice about a place that holds both a whole model and an adapter. transformers computes
/// with the two; the model alone gives other answers.
inline constexpr const char* only_one =
    "put the one that you mean into a folder of its own, and name that";

/// Tells whether a directory holds an adapter and no whole model.
[[nodiscard]] inline bool is_adapter(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(directory / adapter_config_name, ignored) &&
         !weights_file(directory);
}

/// Returns the file of an adapter's tensors: adapter_model.bin only if there is none of the name
/// that PEFT writes now.
[[nodiscard]] inline std::filesystem::path adapter_weights(const std::filesystem::path& directory) {
  std::error_code ignored;
  const bool only_old = !std::filesystem::exists(directory / adapter_weights_name, ignored) &&
                        std::filesystem::exists(directory / old_adapter_weights_name, ignored);
  return directory / (only_old ? old_adapter_weights_name : adapter_weights_name);
}

namespace detail {

inline constexpr const char* merge_it =
    "merge the adapter by PEFT's merge_and_unload, and name the result";

/// Returns what to do with an adapter in whose config `key` has an unsupported value, as JSON.
inline std::string advice_on_adapter(std::string_view key, const std::string& value) {
  constexpr std::string_view unmerged =
      R"( "ADAPTION_PROMPT" "CARTRIDGE" "CPT" "LILY" "MULTITASK_PROMPT_TUNING" "POLY" )"
      R"( "PREFIX_TUNING" "PROMPT_TUNING" "P_TUNING" "SHADOW" "XLORA" )";
  if (key == "task_type") return "train one with the task_type SEQ_CLS, for a classifier of texts";
  const bool cannot = key == "alora_invocation_tokens" || key == "arrow_config" ||
                      key == "layer_replication" ||
                      (key == "peft_type" && unmerged.find(" " + value + " ") != unmerged.npos);
  return cannot ? "PEFT cannot merge it into a model either; train an adapter of LoRA" : merge_it;
}

}  // namespace detail

/// Throws `InputError` if an option of a config has a value that is not listed here. Others would
/// change what the tensors mean.
inline void check_is_plain_lora(const json::Value& root) {
  constexpr std::string_view plain =
      R"( peft_type:"LORA" task_type:"SEQ_CLS" bias:"none" use_dora:false )"
      R"( fan_in_fan_out:false fan_in_fan_out:true )"
      R"( lora_bias:false use_qalora:false use_bdlora:false rank_pattern:{} alpha_pattern:{} )"
      R"( layer_replication:null target_parameters:null alora_invocation_tokens:null )"
      R"( kasa_config:null velora_config:null monteclora_config:null arrow_config:null )"
      R"( trainable_token_indices:null )"
      R"( init_lora_weights:true init_lora_weights:false init_lora_weights:"gaussian" )";
  const auto check = [&](std::string_view key, const json::Value& value) {
    const std::string option = " " + std::string{key} + ":";
    const std::string text = simdjson::minify(value.element());
    if (plain.find(option) == plain.npos || text == "null") return;
    if (plain.find(option + text + " ") != plain.npos) return;
    throw value.error(text + " is not supported", detail::advice_on_adapter(key, text));
  };
  check("peft_type", root.at("peft_type"));  // other options depend on it
  for (const auto& [key, value] : root.members()) check(key, value);
}

/// Reads an `adapter_config.json`. Throws `InputError` if it is no adapter of LoRA for a
/// classifier, or of a kind that is not supported.
[[nodiscard]] inline AdapterConfig adapter_config_in(const json::Value& root) {
  check_is_plain_lora(root);
  AdapterConfig config{
      .lora = {.rank = root.at("r").integer(), .alpha = root.at("lora_alpha").number()}};
  if (config.lora.rank < 1) throw root.at("r").error("must be at least 1");
  if (const auto rate = root.find("lora_dropout")) config.lora.dropout = rate->number();
  const auto stabilised = root.find("use_rslora");
  config.lora.rank_stabilised = stabilised && stabilised->boolean();
  if (!std::isfinite(static_cast<float>(config.lora.scale()))) {
    throw root.at("lora_alpha").error("is not a number of float32");
  }
  for (const auto& [key, to] :
       {std::pair{"base_model_name_or_path", &config.base}, {"revision", &config.revision}}) {
    if (const auto value = root.find(key)) *to = value->string();
  }
  return config;
}

/// Reads the `adapter_config.json` of a directory.
[[nodiscard]] inline AdapterConfig read_adapter_config(const std::filesystem::path& directory) {
  return adapter_config_in(json::Document::load(directory / adapter_config_name).root());
}

/// Returns which modules of a head, of those that families have, hold a tensor of an adapter.
[[nodiscard]] inline std::vector<std::string_view> head_modules(
    std::span<const TensorView> tensors) {
  std::vector<std::string_view> found;
  for (const std::string_view module : {"classifier", "pooler", "pre_classifier", "head"}) {
    const bool holds = std::ranges::any_of(tensors, [&](const TensorView& tensor) {
      return std::ranges::count(split(tensor.name, '.'), module) > 0;
    });
    if (holds) found.push_back(module);
  }
  return found;
}

/// Returns the `adapter_config.json` that PEFT reads with these tensors. It names only those
/// modules of a head that hold one of the tensors: PEFT looks for modules whose names end in these,
/// and would take ESM's `contact_head` for a `head`.
[[nodiscard]] inline std::string adapter_config_text(const AdapterConfig& config,
                                                     std::span<const TensorView> tensors = {}) {
  json::Writer out{2};
  out.begin_object().member("peft_type", "LORA").member("task_type", "SEQ_CLS");
  out.member("base_model_name_or_path", config.base).key("revision");
  config.revision.empty() ? out.null() : out.value(config.revision);
  out.member("inference_mode", true).member("r", config.lora.rank);
  out.member("lora_alpha", config.lora.alpha).member("lora_dropout", config.lora.dropout);
  out.member("use_rslora", config.lora.rank_stabilised).member("bias", "none");
  out.member("fan_in_fan_out", config.fan_in_fan_out).member("init_lora_weights", true);
  out.member("target_modules", config.lora.targets);
  out.member("modules_to_save", head_modules(tensors));
  return out.end_object().text() + "\n";
}

/// The tensors of an adapter: two factors for each linear layer that it adapts, and the tensors
/// that take the place of the base's. Names are those of the base's state_dict.
class Adapter {
 public:
  /// Reads a directory in PEFT's layout. Throws `InputError` with the file and the tensor if
  /// anything does not fit.
  explicit Adapter(const std::filesystem::path& directory)
      : config_{read_adapter_config(directory)}, name_{adapter_weights(directory).string()} {
    for (const TensorView& tensor : open()) {
      if (!tensor.name.starts_with(adapter_prefix)) {
        throw InputError{"is no name of an adapter's tensor, which begins with base_model.model.",
                         {.object = name_, .field = tensor.name}};
      }
      tensors_.emplace(tensor.name.substr(adapter_prefix.size()), tensor);
    }
    for (const auto& [name, tensor] : tensors_) check(name, tensor);
  }

  [[nodiscard]] const AdapterConfig& config() const { return config_; }

  /// Returns the tensor of a name, or nothing if there is none.
  [[nodiscard]] std::optional<TensorView> find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? std::nullopt : std::optional{found->second};
  }

  /// Returns the number of labels of the head that it brings, or nothing if it brings none.
  [[nodiscard]] std::optional<std::int64_t> label_count() const {
    for (const char* name : {"classifier.weight", "classifier.out_proj.weight"}) {
      const auto own = find(name);
      if (own && own->shape.size() == 2 && own->shape[1] > 0) return own->shape[0];
    }
    return {};
  }

  /// Returns all tensors by their names.
  [[nodiscard]] const auto& tensors() const { return tensors_; }

  /// See `SafetensorsFile::check_unchanged`.
  void check_unchanged() const {
    if (const auto* file = std::get_if<SafetensorsFile>(&file_)) file->check_unchanged();
    if (const auto* file = std::get_if<TorchFile>(&file_)) file->check_unchanged();
  }

  /// Returns the name that a tensor of this name in the file has in the model.
  [[nodiscard]] static std::string_view in_model(std::string_view name) {
    return name.substr(name.starts_with(adapter_prefix) ? adapter_prefix.size() : 0);
  }

  /// Returns the place of a tensor for errors: the file, and the name that it has there.
  [[nodiscard]] Where where(std::string_view name) const {
    return {.object = name_, .field = std::string{adapter_prefix}.append(in_model(name))};
  }

  /// Throws an `InputError` that names a tensor.
  [[noreturn]] void fail(std::string_view name, const std::string& problem,
                         const std::string& advice = {}) const {
    throw InputError{problem, where(name), advice};
  }

 private:
  /// Opens the file and returns its tensors.
  [[nodiscard]] std::vector<TensorView> open() {
    if (!name_.ends_with(".bin")) return file_.emplace<SafetensorsFile>(name_).tensors();
    return file_.emplace<TorchFile>(name_).root().tensors();
  }

  /// Throws `InputError` unless numbers are finite, and factors are in pairs of the config's rank.
  void check(const std::string& name, const TensorView& tensor) const {
    if (name.find(".lora_embedding_") != name.npos) {
      fail(name, "adapts an embedding, which is not supported", detail::merge_it);
    }
    if (!is_floating(tensor.dtype)) fail(name, "holds no floating-point numbers");
    for (const float number : to_floats(tensor)) {
      if (!std::isfinite(number)) fail(name, "holds a number that is not finite");
    }
    const bool is_a = name.ends_with(factor_a);
    if (!is_a && !name.ends_with(factor_b)) return;
    const std::string map = name.substr(0, name.size() - factor_a.size());
    const std::string other = map + std::string{is_a ? factor_b : factor_a};
    if (!tensors_.contains(other)) fail(other, "is missing");
    const std::int64_t rank = config_.lora.rank;
    const auto& shape = tensor.shape;
    if (shape.size() == 2 && shape[is_a ? 0 : 1] == rank && shape[is_a ? 1 : 0] > 0) return;
    fail(name, "has shape " + to_string(shape) + ", which is not of rank " + std::to_string(rank));
  }

  AdapterConfig config_;
  std::string name_;  // of the file
  std::variant<std::monostate, SafetensorsFile, TorchFile> file_;
  std::map<std::string, TensorView, std::less<>> tensors_;
};

namespace detail {

/// Returns the tensors of an adapter with the names that they have in its file. Each part of a
/// linear layer has the whole layer's A, and the rows of B that are its outputs.
inline std::vector<TensorView> in_adapter_file(std::span<const TensorView> tensors,
                                               std::span<const PeftName> names) {
  std::vector<TensorView> result;
  for (const TensorView& tensor : tensors) {
    const bool is_b = tensor.name.ends_with(factor_b);
    if (!is_b && !tensor.name.ends_with(factor_a)) {
      result.push_back(tensor);
      continue;
    }
    const std::size_t length = tensor.name.size() - factor_a.size();
    const auto parts = peft_names(tensor.name.substr(0, length), names);
    const std::size_t bytes = tensor.bytes.size() / parts.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      TensorView& part = result.emplace_back(tensor);
      part.name = parts[i] + tensor.name.substr(length);
      if (!is_b) continue;
      part.shape[0] /= std::ssize(parts);
      part.bytes = tensor.bytes.subspan(i * bytes, bytes);
    }
  }
  for (TensorView& tensor : result) tensor.name.insert(0, adapter_prefix);
  return result;
}

}  // namespace detail

/// Writes an adapter of these tensors as PEFT reads it, each file as a whole or not at all. `names`
/// are those that PEFT's adapters have for linear layers of the base.
inline void write_adapter(const std::filesystem::path& directory, AdapterConfig config,
                          std::span<const TensorView> tensors,
                          std::span<const PeftName> names = {}) {
  std::vector<std::string> targets;
  for (const std::string& layer : config.lora.targets) {
    std::ranges::move(peft_names(layer, names), std::back_inserter(targets));
  }
  config.lora.targets = std::move(targets);
  write_safetensors(directory / adapter_weights_name, detail::in_adapter_file(tensors, names));
  write_file_atomically(directory / adapter_config_name, adapter_config_text(config, tensors));
}

}  // namespace seqtrain::weights
