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
#include <seqtrain/model/precision.hpp>

namespace seqtrain::model::cpu {

/// The encoder with both passes written out, in fp32 or bf16, or none where there are no kernels
/// for its shape.
class AnyEncoder {
 public:
  AnyEncoder() = default;
  AnyEncoder(std::span<tensor::Parameter> parameters, std::string_view prefix,
             const weights::ModelConfig& config, bool positions_behind_padding,
             Precision precision) {
    const auto make = [&]<class T>(T) {
      const PartFinder<T> finder{parameters, prefix, config};
      encoder_.emplace<Encoder<T>>(finder.find(positions_behind_padding));
    };
    if (!supports(config)) return;
    if (precision == Precision::bf16) {
      make(Bf16{});
    } else {
      make(0.0F);
    }
  }

  [[nodiscard]] explicit operator bool() const { return encoder_.index() != 0; }

  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> dropout) {
    return visit([&](auto& encoder) { return encoder.forward(batch, dropout); });
  }

  /// See `Encoder::backward`.
  template <class LayerDone>
  void backward(const at::Tensor& gradient, const LayerDone& layer_done) {
    visit([&](auto& encoder) {
      encoder.backward(gradient, layer_done);
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

  std::variant<std::monostate, Encoder<float>, Encoder<Bf16>> encoder_;
};

}  // namespace seqtrain::model::cpu
