#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/nn/rope.hpp>

namespace seqtrain::model {

namespace detail {

/// Reads a number that must be above 0.
inline void read_positive(const json::Value& object, std::string_view key, double& number) {
  const auto value = object.find(key);
  if (!value) return;
  number = value->number();
  if (!(number > 0)) throw value->error("is not above 0");
}

/// Returns the scaling that an object of rotary positions names.
inline Rope::Scaling scaling_in(const json::Value& object) {
  auto kind = object.find("rope_type");
  if (!kind) kind = object.find("type");
  const std::string_view name = kind ? kind->string() : "default";
  if (name == "default") return Rope::Scaling::none;
  if (name == "linear") return Rope::Scaling::linear;
  if (name == "llama3") return Rope::Scaling::llama3;
  if (name == "yarn") return Rope::Scaling::yarn;
  throw kind->error("'" + std::string{name} + "' is not supported",
                    "supported are default, linear, llama3, yarn");
}

/// Reads the numbers that only yarn has.
inline void read_yarn(const json::Value& object, Rope& rope) {
  rope.slow = 1;
  rope.fast = 32;
  read_positive(object, "beta_slow", rope.slow);
  read_positive(object, "beta_fast", rope.fast);
  if (const auto truncates = object.find("truncate")) rope.whole_pairs = truncates->boolean();
  const auto magnitude = [&](double scale) {
    return rope.factor <= 1 ? 1 : 0.1 * scale * std::log(rope.factor) + 1;
  };
  double numerator = 0, denominator = 0;
  if (const auto value = object.find("mscale")) numerator = value->number();
  if (const auto value = object.find("mscale_all_dim")) denominator = value->number();
  rope.magnitude = numerator != 0 && denominator != 0
                       ? magnitude(numerator) / magnitude(denominator)
                       : magnitude(1);
  read_positive(object, "attention_factor", rope.magnitude);
}

}  // namespace detail

/// Reads rotary positions from an object of config.json; `rope` has the values if keys are absent.
/// `length` is the number of positions of the model. Throws `InputError` that names what is wrong
/// or not supported.
[[nodiscard]] inline Rope rope_in(const json::Value& object, Rope rope, double length) {
  for (const auto& [key, value] : object.members()) {
    if (value.is_object()) throw value.error("is an object, where this family has a number");
  }
  detail::read_positive(object, "rope_theta", rope.base);
  detail::read_positive(object, "partial_rotary_factor", rope.share);
  rope.scaling = detail::scaling_in(object);
  if (rope.scaling == Rope::Scaling::none) return rope;
  if (rope.original_length == 0) {
    rope.original_length = length;
    detail::read_positive(object, "original_max_position_embeddings", rope.original_length);
  }
  if (rope.scaling != Rope::Scaling::yarn) (void)object.at("factor");
  rope.factor = length / rope.original_length;
  detail::read_positive(object, "factor", rope.factor);
  if (rope.scaling == Rope::Scaling::yarn) {
    if (!(rope.base > 1))
      throw object.error("has a rope_theta that is not above 1, which yarn needs");
    detail::read_yarn(object, rope);
  }
  if (rope.scaling == Rope::Scaling::llama3) {
    rope.slow = object.at("low_freq_factor").number();
    rope.fast = object.at("high_freq_factor").number();
    if (!(rope.slow < rope.fast)) {
      throw object.at("high_freq_factor").error("is not above low_freq_factor");
    }
  }
  return rope;
}

/// Reads the rotary positions that all layers share: `rope_scaling` in old files, else
/// `rope_parameters`; `rope_theta` may be beside them.
[[nodiscard]] inline Rope rope_of_all_layers(const json::Value& root, double base,
                                             std::int64_t positions) {
  Rope rope{.base = base};
  detail::read_positive(root, "rope_theta", rope.base);
  detail::read_positive(root, "original_max_position_embeddings", rope.original_length);
  detail::read_positive(root, "partial_rotary_factor", rope.share);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const auto object = root.find(key);
    if (!object || object->members().empty()) continue;
    return rope_in(*object, rope, static_cast<double>(positions));
  }
  return rope;
}

}  // namespace seqtrain::model
