#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/core/json.hpp>
#include <seqtrain/predict/prediction.hpp>

namespace seqtrain::model {
namespace detail {

/// Returns the function that a member names, if it is one of torch's. As in sentence-transformers,
/// the name of another function does not count.
inline std::optional<predict::OneOutput> one_output_in(const json::Value& object,
                                                       std::string_view key) {
  const auto value = object.find(key);
  if (!value || !value->string().starts_with("torch.")) return {};
  const std::string_view path = value->string();
  const std::string_view name = path.substr(path.rfind('.') + 1);
  if (name == "Sigmoid") return predict::OneOutput::sigmoid;
  if (name == "Identity") return predict::OneOutput::identity;
  throw value->error("'" + std::string{name} + "' is not supported",
                     "supported are Identity, Sigmoid");
}

}  // namespace detail

/// Returns the function by which sentence-transformers' CrossEncoder makes the score of a model
/// with one output. The first of these names it: `activation_fn` of
/// config_sentence_transformers.json, `sentence_transformers.activation_fn` and
/// `sbert_ce_default_activation_function` of config.json. By default it is the sigmoid. Throws
/// `InputError` if it is another function of torch's.
[[nodiscard]] inline predict::OneOutput one_output_of(const std::filesystem::path& folder) {
  const auto file = folder / "config_sentence_transformers.json";
  std::optional<predict::OneOutput> found;
  if (std::filesystem::exists(file)) {
    found = detail::one_output_in(json::Document::load(file).root(), "activation_fn");
  }
  const auto config = json::Document::load(folder / "config.json");
  const auto settings = config.root().find("sentence_transformers");
  if (!found && settings) found = detail::one_output_in(*settings, "activation_fn");
  const bool named = settings && settings->find("activation_fn");
  if (!found && !named) {
    found = detail::one_output_in(config.root(), "sbert_ce_default_activation_function");
  }
  return found.value_or(predict::OneOutput::sigmoid);
}

}  // namespace seqtrain::model
