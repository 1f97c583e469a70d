#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/adapter.hpp>

namespace seqtrain::weights {

/// Returns the class that a config.json names first among its architectures, such as
/// BertForMaskedLM, or an empty text.
[[nodiscard]] inline std::string model_class(const json::Value& config) {
  const auto classes = config.find("architectures");
  if (!classes || classes->items().empty()) return {};
  return std::string{classes->items().front().string()};
}

/// Returns the class in the config.json of a directory, or an empty text.
[[nodiscard]] inline std::string model_class(const std::filesystem::path& directory) {
  std::error_code ignored;
  const auto file = directory / "config.json";
  if (!std::filesystem::exists(file, ignored)) return {};
  return model_class(json::Document::load(file).root());
}

namespace detail {

/// Returns the error about a directory whose model labels no texts.
inline InputError no_classifier(const std::filesystem::path& directory,
                                const std::string& problem) {
  return InputError{problem,
                    {.object = directory.string()},
                    "fine-tune it first: seqtrain train --model " + directory.string() +
                        " --train-file FILE --output-dir DIR"};
}

}  // namespace detail

/// Throws `InputError` if a directory's model is of a class for another task whose head has the
/// names of a classifier's tensors, so that nothing is missing.
inline void refuse_other_heads(const std::filesystem::path& directory) {
  const std::string name = model_class(directory);
  for (const auto* const task : {"ForTokenClassification", "ForMultipleChoice"}) {
    if (!name.ends_with(task)) continue;
    throw detail::no_classifier(directory, "is a " + name + ", which labels no texts");
  }
}

/// Returns the error about a model that cannot predict because it lacks a tensor: it is of a class
/// for another task, it is an encoder alone, or it is an adapter without a head.
[[nodiscard]] inline InputError not_trained(const std::filesystem::path& directory,
                                            const std::string& tensor) {
  if (is_adapter(directory)) {
    return InputError{"neither the adapter nor its base has a tensor " + tensor,
                      {.object = directory.string()},
                      "train the adapter with its head, as seqtrain train --lora-rank 8 does"};
  }
  const std::string name = model_class(directory);
  const bool is_other = !name.empty() && name.find("ForSequenceClassification") == name.npos;
  if (is_other) {
    return detail::no_classifier(directory, "is a " + name + ", which labels no texts");
  }
  return detail::no_classifier(directory,
                               "has no tensor " + tensor + ", so it is no trained classifier");
}

}  // namespace seqtrain::weights
