#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/core/json.hpp>
#include <seqtrain/predict/prediction.hpp>

namespace seqtrain::model {

/// Returns the function that a config.json names for the score of a model with one output, by
/// default the sigmoid. As in sentence-transformers, a function that is not torch's does not count.
/// Throws `InputError` if it is another one of torch's.
[[nodiscard]] inline predict::OneOutput one_output_in(const json::Value& config) {
  const auto settings = config.find("sentence_transformers");
  auto value = settings ? settings->find("activation_fn") : std::nullopt;
  if (!value) value = config.find("sbert_ce_default_activation_function");
  if (!value) return predict::OneOutput::sigmoid;
  std::string_view name = value->string();
  if (!name.starts_with("torch.")) return predict::OneOutput::sigmoid;
  name.remove_prefix(name.rfind('.') + 1);
  if (name == "Sigmoid") return predict::OneOutput::sigmoid;
  if (name == "Identity") return predict::OneOutput::identity;
  throw value->error("'" + std::string{name} + "' is not supported",
                     "supported are Identity, Sigmoid");
}

}  // namespace seqtrain::model
