#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::cpu {

/// Holds the hand-written passes of an encoder in fp32, bf16 or int8, or nothing if there are no
/// kernels for its shape. For predictions in bf16 or int8 it holds the faster `FixedEncoder`.
class AnyEncoder {
 public:
  AnyEncoder();

  /// Makes the passes of an encoder from its `cpu_parts`, if there are any. `parameters` are all
  /// parameters of the model; embeddings among them get a record of the gradient's rows that the
  /// passes write to.
  template <class E>
  AnyEncoder(const E& encoder, std::span<tensor::Parameter> parameters, Precision precision,
             bool only_predicts)
      : AnyEncoder{} {
    if (precision == Precision::fp32) {
      if (auto parts = encoder.template cpu_parts<float>()) hold(*std::move(parts), parameters);
    } else if (auto parts = encoder.template cpu_parts<kernels::Bf16>()) {
      hold(*std::move(parts), parameters, precision, only_predicts);
    }
  }

  AnyEncoder(AnyEncoder&&) noexcept;
  AnyEncoder& operator=(AnyEncoder&&) noexcept;
  ~AnyEncoder();

  [[nodiscard]] explicit operator bool() const { return held_ != nullptr; }

  /// Returns how many linear maps of an encoder in int8 compute in bf16, because they read numbers
  /// that int8 cannot hold well.
  [[nodiscard]] std::size_t maps_in_bf16() const;

  /// Runs `Encoder::keep_packed_only` or `FixedEncoder::keep_packed_only`. Call it only if there
  /// are passes and the encoder's own parameters do not learn.
  void keep_packed_only();

  /// Runs `FixedEncoder::take_adapter` for passes of the same kind. Returns false if there are none
  /// or the passes take no adapters.
  bool take_adapter(AnyEncoder other);

  /// Runs `Encoder::forward` or `FixedEncoder::forward`. Call it only if there are passes, and for
  /// passes that only predict after `keep_packed_only`.
  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> dropout);

  /// Runs `Encoder::backward`. Calls `ready(i)` when the gradients of the parameters from number i
  /// on are complete.
  void backward(const at::Tensor& gradient, const std::function<void(std::size_t)>& ready);

 private:
  struct Held;

  void hold(EncoderParts<float> parts, std::span<tensor::Parameter> parameters);
  void hold(EncoderParts<kernels::Bf16> parts, std::span<tensor::Parameter> parameters,
            Precision precision, bool only_predicts);

  std::unique_ptr<Held> held_;
};

}  // namespace seqtrain::model::cpu

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/any_encoder.hpp>
#endif
