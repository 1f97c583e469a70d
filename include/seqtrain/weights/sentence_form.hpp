#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>

/// The layout of sentence-transformers: modules.json lists the modules that a text passes through.
namespace seqtrain::weights {

/// The names of a Transformer's config: the first one that exists is read.
inline constexpr std::string_view transformer_config_names[] = {
    "sentence_bert_config.json",       "sentence_roberta_config.json",
    "sentence_distilbert_config.json", "sentence_camembert_config.json",
    "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json"};
/// The name of the file with the prompts.
inline constexpr std::string_view model_config_name = "config_sentence_transformers.json";

/// The modules after a sentence encoder, and what is done to texts before it.
struct SentenceForm {
  bool mean_pooling = true;          ///< the mean of all tokens, not one of them
  bool last_pooling = false;         ///< the last token, not the first one, if not the mean
  bool normalizes = false;           ///< the pooled vector is divided by its 2-norm
  std::filesystem::path dense = {};  ///< the folder of the linear layer, or empty
  std::size_t max_length = 0;        ///< the most ids of a text; 0 if the tokenizer says it
  bool lowercases = false;           ///< texts are read in lower case
  std::string prompt = {};           ///< begins each text
};

/// Returns the pooling by its name in sentence-transformers: mean, cls or lasttoken.
[[nodiscard]] inline std::string pooling_name(const SentenceForm& form) {
  if (form.mean_pooling) return "mean";
  return form.last_pooling ? "lasttoken" : "cls";
}

/// Returns how texts are read and their tokens pooled: "mean, normalized, 256 ids".
[[nodiscard]] inline std::string describe(const SentenceForm& form) {
  std::string text = pooling_name(form);
  if (form.normalizes) text += ", normalized";
  if (form.max_length > 0) text += ", " + std::to_string(form.max_length) + " ids";
  if (form.lowercases) text += ", lower case";
  if (!form.prompt.empty()) text += ", prompt " + form.prompt;
  return text;
}

/// The modules of a directory: the last word of each class, and its folder.
using Modules = std::vector<std::pair<std::string, std::filesystem::path>>;

/// Returns the modules of a directory, or none if there is no modules.json.
[[nodiscard]] inline Modules modules_in(const std::filesystem::path& directory) {
  Modules modules;
  if (!std::filesystem::exists(directory / "modules.json")) return modules;
  const auto document = json::Document::load(directory / "modules.json");
  for (const auto& entry : document.root().items()) {
    const std::string_view type = entry.at("type").string();
    const std::filesystem::path path{entry.at("path").string()};
    const std::string_view kind = type.substr(type.rfind('.') + 1);
    if (path.filename() != path || path == "." || path == ".." ||
        (path.empty() && kind != "Transformer")) {
      throw entry.at("path").error("is not the name of a folder beside modules.json");
    }
    modules.emplace_back(kind, directory / path);
  }
  return modules;
}

namespace detail {

inline constexpr std::string_view identity = "torch.nn.modules.linear.Identity";

/// Takes the pooling that a Pooling's config asks for. Throws `InputError` if it is not supported,
/// or leaves out the tokens of a prompt that the texts have.
inline void read_pooling(const std::filesystem::path& file, SentenceForm& form) {
  const auto document = json::Document::load(file);
  const auto includes = document.root().find("include_prompt");
  if (!form.prompt.empty() && includes && !includes->boolean()) {
    throw includes->error(
        "false is not supported for texts with a prompt",
        std::string{"write \"default_prompt_name\": null into "}.append(model_config_name));
  }
  std::string mode;
  bool is_told = false;
  for (const auto& [key, value] : document.root().members()) {
    if (key == "pooling_mode") mode += value.string();
    if (key.starts_with("pooling_mode_") && value.boolean()) mode += key.substr(13);
    is_told = is_told || key.starts_with("pooling_mode");
  }
  form.mean_pooling = mode == "mean" || mode == "mean_tokens" || !is_told;
  form.last_pooling = mode == "lasttoken";
  if (form.mean_pooling || form.last_pooling || mode == "cls" || mode == "cls_token") return;
  throw InputError{"the pooling '" + mode + "' is not supported",
                   {.object = file.string()},
                   "supported are mean, cls and lasttoken"};
}

/// Throws `InputError` unless a Dense module is a plain linear layer.
inline void check_dense(const std::filesystem::path& file) {
  const auto document = json::Document::load(file);
  const json::Value root = document.root();
  const auto residual = root.find("use_residual");
  const bool adds = residual && residual->boolean();
  if (root.at("activation_function").string() == identity && root.at("bias").boolean() && !adds) {
    return;
  }
  throw InputError{"is no plain linear layer, which a classifier needs",
                   {.object = file.string()},
                   "its activation_function must be Identity, its bias true"};
}

/// Tells whether the last of a directory's modules maps to the logits of labels: a Dense module
/// with an output for each label of config.json, which has a problem_type and is not that of a
/// classifier with a head of its own.
inline bool classifies(const std::filesystem::path& directory, const Modules& modules) {
  if (modules.empty() || modules.back().first != "Dense") return false;
  if (!std::filesystem::exists(directory / "config.json")) return false;  // an adapter's folder
  const auto config = json::Document::load(directory / "config.json");
  const auto labels = config.root().find("id2label");
  if (!labels || !config.root().find("problem_type")) return false;
  if (const auto classes = config.root().find("architectures")) {
    for (const auto& name : classes->items()) {
      if (name.string().ends_with("ForSequenceClassification")) return false;
    }
  }
  const auto dense = json::Document::load(modules.back().second / "config.json");
  const auto outputs = dense.root().find("out_features");
  return outputs && outputs->integer() == std::ssize(labels->members());
}

/// Returns the text with which a model begins each text, or "" if it names none as the default.
inline std::string default_prompt(const std::filesystem::path& directory) {
  const auto file = directory / model_config_name;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  const auto document = json::Document::load(file);
  const auto name = document.root().find("default_prompt_name");
  if (!name) return {};
  const std::string_view key = name->string();
  if (const auto prompts = document.root().find("prompts")) {
    if (const auto prompt = prompts->find(key)) return std::string{prompt->string()};
    if (prompts->has_null(key)) return {};
  }
  if (key == "query" || key == "document") return {};  // sentence-transformers always has these
  throw name->error("'" + std::string{key} + "' is none of the prompts");
}

/// Reads what is done to texts before the encoder.
inline void read_text_settings(const std::filesystem::path& directory, SentenceForm& form) {
  form.prompt = default_prompt(directory);
  for (const auto name : transformer_config_names) {
    std::error_code ignored;
    if (!std::filesystem::exists(directory / name, ignored)) continue;
    const auto document = json::Document::load(directory / name);
    if (const auto length = document.root().find("max_seq_length")) {
      if (length->integer() < 1) throw length->error("must be at least 1");
      form.max_length = static_cast<std::size_t>(length->integer());
    }
    const auto lower = document.root().find("do_lower_case");
    form.lowercases = lower && lower->boolean();
    return;
  }
}

/// Returns the layout with these modules. A Dense counts only if the directory `has_head`.
inline SentenceForm form_of(const std::filesystem::path& directory, const Modules& modules,
                            bool has_head) {
  SentenceForm form;
  if (!modules.empty()) read_text_settings(directory, form);
  std::string kinds;
  for (const auto& [kind, folder] : modules) {
    kinds += kind == "Transformer" && folder.has_filename() ? "0_Transformer " : kind + " ";
    if (kind == "Pooling") read_pooling(folder / "config.json", form);
    if (kind == "Normalize") form.normalizes = true;
    if (kind == "Dense" && has_head) form.dense = folder;
  }
  const std::string more = form.normalizes ? "Normalize " : "";
  const std::string end = form.dense.empty() ? more : more + "Dense ";
  if (!kinds.empty() && kinds != "Transformer Pooling " + end) {
    throw InputError{"has modules that are not supported: " + kinds,
                     {.object = (directory / "modules.json").string()},
                     "supported are a Transformer without a folder, a Pooling, and perhaps a "
                     "Normalize and a Dense that maps to the labels of config.json"};
  }
  if (!form.dense.empty()) check_dense(form.dense / "config.json");
  return form;
}

}  // namespace detail

/// Reads the layout of a directory; without a modules.json it is an encoder with mean pooling.
/// Throws `InputError` that names the file if a module is not supported.
[[nodiscard]] inline SentenceForm read_sentence_form(const std::filesystem::path& directory) {
  const auto modules = modules_in(directory);
  return detail::form_of(directory, modules, detail::classifies(directory, modules));
}

/// Reads the layout of a directory that holds a sentence encoder with a map to the logits of
/// labels; returns nothing for any other. Throws `InputError` as `read_sentence_form` does.
[[nodiscard]] inline std::optional<SentenceForm> read_sentence_classifier(
    const std::filesystem::path& directory) {
  const auto modules = modules_in(directory);
  if (!detail::classifies(directory, modules)) return {};
  return detail::form_of(directory, modules, true);
}

/// Writes the prompt and the case of texts as sentence-transformers reads them, if texts are
/// changed. The tokenizer's files have the most ids of a text.
inline void write_text_settings(const std::filesystem::path& directory, const SentenceForm& form) {
  if (form.lowercases) {
    json::Writer config{2};
    config.begin_object().key("max_seq_length").null().member("do_lower_case", true);
    write_file_atomically(directory / transformer_config_names[0],
                          config.end_object().text() + "\n");
  }
  if (form.prompt.empty()) return;
  json::Writer config{2};
  config.begin_object().key("prompts").begin_object().member("default", form.prompt).end_object();
  config.member("default_prompt_name", "default");
  write_file_atomically(directory / model_config_name, config.end_object().text() + "\n");
}

/// Writes the modules of a classifier beside its encoder, so that sentence-transformers computes
/// its logits. `map` is linear.weight [labels, hidden] and linear.bias.
inline void write_sentence_form(const std::filesystem::path& directory, const SentenceForm& form,
                                std::span<const TensorView> map) {
  const auto& shape = map.front().shape;
  auto modules = json::Writer{2}.begin_array();
  int number = 0;
  const auto add = [&](const std::string& kind) {
    const std::string name = std::to_string(number++);
    const std::string folder = kind == "Transformer" ? "" : name + "_" + kind;
    modules.begin_object().member("idx", number - 1).member("name", name).member("path", folder);
    modules.member("type", "sentence_transformers.models." + kind).end_object();
    return directory / folder;
  };
  const auto write = [](const std::filesystem::path& folder, json::Writer& config) {
    std::filesystem::create_directories(folder);
    write_file_atomically(folder / "config.json", config.end_object().text() + "\n");
  };
  add("Transformer");
  json::Writer pooling{2}, dense{2};
  pooling.begin_object().member("word_embedding_dimension", shape[1]);
  pooling.member("pooling_mode_cls_token", !form.mean_pooling && !form.last_pooling);
  pooling.member("pooling_mode_lasttoken", !form.mean_pooling && form.last_pooling);
  write(add("Pooling"), pooling.member("pooling_mode_mean_tokens", form.mean_pooling));
  if (form.normalizes) add("Normalize");
  dense.begin_object().member("in_features", shape[1]).member("out_features", shape[0]);
  const auto folder = add("Dense");
  write(folder, dense.member("bias", true).member("activation_function", detail::identity));
  write_safetensors(folder / "model.safetensors", map);
  write_text_settings(directory, form);
  write_file_atomically(directory / "modules.json", modules.end_array().text() + "\n");
}

}  // namespace seqtrain::weights
