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

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/cpu/fixed_encoder.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::cpu {

/// Holds the hand-written passes of an encoder in fp32, bf16 or int8, or nothing if there are no
/// kernels for its shape. For predictions in bf16 or int8 it holds the faster `FixedEncoder` where
/// that supports the parts.
class AnyEncoder {
 public:
  AnyEncoder() = default;

  /// Makes the passes of an encoder from its `cpu_parts`, if there are any. `parameters` are all
  /// parameters of the model; embeddings among them get a record of the gradient's rows that the
  /// passes write to.
  template <class E>
  AnyEncoder(const E& encoder, std::span<tensor::Parameter> parameters, Precision precision,
             bool only_predicts) {
    if (precision == Precision::fp32) {
      auto parts = found(encoder.template cpu_parts<float>(), parameters);
      if (parts) encoder_.emplace<Encoder<float>>(*std::move(parts));
    } else if (auto parts = found(encoder.template cpu_parts<Bf16>(), parameters)) {
      if (only_predicts && FixedEncoder::supports(*parts)) {
        encoder_.emplace<FixedEncoder>(*std::move(parts), precision == Precision::int8);
      } else if (precision == Precision::bf16) {
        encoder_.emplace<Encoder<Bf16>>(*std::move(parts));
      }
    }
  }

  [[nodiscard]] explicit operator bool() const { return encoder_.index() != 0; }

  /// Returns how many linear maps of an encoder in int8 compute in bf16, because they read numbers
  /// that int8 cannot hold well.
  [[nodiscard]] std::size_t maps_in_bf16() const {
    const auto* const fixed = std::get_if<FixedEncoder>(&encoder_);
    return fixed ? fixed->maps_in_bf16() : 0;
  }

  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> dropout) {
    return visit([&]<class E>(E& encoder) {
      if constexpr (std::is_same_v<E, FixedEncoder>) {
        return encoder.forward(batch);
      } else {
        return encoder.forward(batch, dropout);
      }
    });
  }

  /// Does `Encoder::backward`. Calls `ready(i)` when the gradients of the parameters from number i
  /// on are complete.
  void backward(const at::Tensor& gradient, const std::function<void(std::size_t)>& ready) {
    visit([&]<class E>(E& encoder) {
      if constexpr (!std::is_same_v<E, FixedEncoder>) {
        encoder.backward(gradient, [&](std::size_t layer) { ready(first_of_layer_[layer]); });
      }
      return at::Tensor{};
    });
  }

 private:
  /// Finds the parts among the model's parameters.
  template <class T>
  std::optional<EncoderParts<T>> found(std::optional<EncoderParts<T>> parts,
                                       std::span<tensor::Parameter> parameters) {
    if (!parts) return parts;
    const auto number_of = [&](const at::Tensor& value) {
      const auto is = [&](const tensor::Parameter& parameter) {
        return parameter.value.is_same(value);
      };
      return static_cast<std::size_t>(std::ranges::find_if(parameters, is) - parameters.begin());
    };
    for (const Table* const table : parts->embeddings.tables()) {
      parameters[number_of(table->rows)].touched = table->touched;
    }
    for (const Layer<T>& layer : parts->layers) {
      first_of_layer_.push_back(number_of(layer.qkv.first_weight()));
    }
    return parts;
  }

  template <class Use>
  at::Tensor visit(const Use& use) {
    return std::visit(
        [&]<class E>(E& encoder) -> at::Tensor {
          if constexpr (std::is_same_v<E, std::monostate>) {
            throw Error{"there are no kernels for this encoder"};
          } else {
            return use(encoder);
          }
        },
        encoder_);
  }

  std::variant<std::monostate, Encoder<float>, Encoder<Bf16>, FixedEncoder> encoder_;
  std::vector<std::size_t> first_of_layer_;  // the number of a layer's first parameter
};

}  // namespace seqtrain::model::cpu
