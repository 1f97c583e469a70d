#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/fixed_encoder.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::cpu {

struct AnyEncoder::Held {
  std::variant<Encoder<float>, Encoder<Bf16>, FixedEncoder> encoder;
  /// When a layer's gradients are complete, so are those of all parameters from this number on.
  std::vector<std::size_t> first_of_layer = {};

  /// Finds the parts among the model's parameters.
  template <class T>
  static std::vector<std::size_t> find(const EncoderParts<T>& parts,
                                       std::span<tensor::Parameter> parameters) {
    const auto number_of = [&](const at::Tensor& value) {
      const auto is = [&](const tensor::Parameter& parameter) {
        return parameter.value.is_same(value);
      };
      return static_cast<std::size_t>(std::ranges::find_if(parameters, is) - parameters.begin());
    };
    for (const Table* const table : parts.embeddings.tables()) {
      if (table->touched) parameters[number_of(table->rows)].touched = table->touched;
    }
    std::vector<std::size_t> first_of_layer(parts.layers.size());
    std::size_t first = parameters.size();
    for (std::size_t i = parts.layers.size(); i-- > 0;) {
      const Layer<T>& layer = parts.layers[i];
      if (layer.qkv.learns()) first = number_of(layer.qkv.first_weight());
      for (const auto* map :
           {&layer.qkv, &layer.attention_output, &layer.intermediate, &layer.output}) {
        for (const auto& adapter : map->low_rank().maps())
          first = std::min(first, number_of(adapter.low.a));
      }
      first_of_layer[i] = first;
    }
    return first_of_layer;
  }
};

SEQTRAIN_SEPARATE AnyEncoder::AnyEncoder() = default;
SEQTRAIN_SEPARATE AnyEncoder::AnyEncoder(AnyEncoder&&) noexcept = default;
SEQTRAIN_SEPARATE AnyEncoder& AnyEncoder::operator=(AnyEncoder&&) noexcept = default;
SEQTRAIN_SEPARATE AnyEncoder::~AnyEncoder() = default;

SEQTRAIN_SEPARATE std::size_t AnyEncoder::maps_in_bf16() const {
  auto* const fixed = held_ ? std::get_if<FixedEncoder>(&held_->encoder) : nullptr;
  return fixed ? fixed->maps_in_bf16() : 0;
}

SEQTRAIN_SEPARATE void AnyEncoder::keep_packed_only() {
  std::visit([](auto& encoder) { encoder.keep_packed_only(); }, held_->encoder);
}

SEQTRAIN_SEPARATE bool AnyEncoder::take_adapter(AnyEncoder other) {
  auto* const own = held_ ? std::get_if<FixedEncoder>(&held_->encoder) : nullptr;
  auto* const adapted = other.held_ ? std::get_if<FixedEncoder>(&other.held_->encoder) : nullptr;
  return own && adapted && own->take_adapter(*adapted);
}

SEQTRAIN_SEPARATE at::Tensor AnyEncoder::forward(const data::Batch& batch,
                                                 std::optional<random::Stream> dropout) {
  return std::visit(
      [&]<class E>(E& encoder) {
        if constexpr (std::is_same_v<E, FixedEncoder>) {
          return encoder.forward(batch);
        } else {
          return encoder.forward(batch, dropout);
        }
      },
      held_->encoder);
}

SEQTRAIN_SEPARATE void AnyEncoder::backward(const at::Tensor& gradient,
                                            const std::function<void(std::size_t)>& ready) {
  std::visit(
      [&]<class E>(E& encoder) {
        if constexpr (!std::is_same_v<E, FixedEncoder>) {
          encoder.backward(gradient,
                           [&](std::size_t layer) { ready(held_->first_of_layer[layer]); });
        }
      },
      held_->encoder);
}

SEQTRAIN_SEPARATE void AnyEncoder::hold(EncoderParts<float> parts,
                                        std::span<tensor::Parameter> parameters) {
  auto first_of_layer = Held::find(parts, parameters);
  held_.reset(new Held{Encoder<float>{std::move(parts)}, std::move(first_of_layer)});
}

SEQTRAIN_SEPARATE void AnyEncoder::hold(EncoderParts<Bf16> parts,
                                        std::span<tensor::Parameter> parameters,
                                        Precision precision, bool only_predicts) {
  auto first_of_layer = Held::find(parts, parameters);
  if (only_predicts) {
    const bool int8 = precision == Precision::int8;
    held_.reset(new Held{FixedEncoder{std::move(parts), int8}, std::move(first_of_layer)});
  } else {
    held_.reset(new Held{Encoder<Bf16>{std::move(parts)}, std::move(first_of_layer)});
  }
}

}  // namespace seqtrain::model::cpu
