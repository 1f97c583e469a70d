#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/cpu/fixed_encoder.hpp>
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model::cpu {

/// The encoder with its passes written out, in fp32, bf16 or int8, or none where there are no
/// kernels for its shape. For predictions alone, in bf16 or int8, it is the one that is faster at
/// them.
class AnyEncoder {
 public:
  AnyEncoder() = default;
  AnyEncoder(std::span<tensor::Parameter> parameters, std::string_view prefix,
             const weights::ModelConfig& config, bool positions_behind_padding, Precision precision,
             bool only_predicts) {
    const auto make = [&]<class T>(T) {
      const PartFinder<T> finder{parameters, prefix, config};
      encoder_.emplace<Encoder<T>>(finder.find(positions_behind_padding));
    };
    if (!supports(config)) return;
    if (only_predicts && precision != Precision::fp32) {
      const PartFinder<Bf16> finder{parameters, prefix, config};
      encoder_.emplace<FixedEncoder>(finder.find(positions_behind_padding),
                                     precision == Precision::int8);
    } else if (precision == Precision::bf16) {
      make(Bf16{});
    } else {
      make(0.0F);
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

  /// See `Encoder::backward`.
  template <class LayerDone>
  void backward(const at::Tensor& gradient, const LayerDone& layer_done) {
    visit([&]<class E>(E& encoder) {
      if constexpr (!std::is_same_v<E, FixedEncoder>) encoder.backward(gradient, layer_done);
      return at::Tensor{};
    });
  }

 private:
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
};

}  // namespace seqtrain::model::cpu
