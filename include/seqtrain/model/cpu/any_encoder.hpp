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
#include <seqtrain/model/nn/pooling.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::cpu {

/// The hand-written backend of an encoder: an `Encoder`, or the faster `InferenceEncoder` for
/// predictions in bf16 or int8.
class AnyEncoder {
 public:
  virtual ~AnyEncoder() = default;

  /// Returns how many linear layers of an encoder in int8 compute in bf16, because they read
  /// numbers that int8 cannot hold well.
  [[nodiscard]] virtual std::size_t maps_in_bf16() { return 0; }

  /// Frees the tensors of weights that were packed. The encoder's own parameters must not learn.
  virtual void keep_packed_only() = 0;

  /// Runs `InferenceEncoder::take_adapter` for a backend of the same kind, or returns false.
  virtual bool take_adapter(AnyEncoder&) { return false; }

  /// Runs the encoder's `forward`. Call it for a backend that only predicts after
  /// `keep_packed_only`.
  virtual at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> dropout) = 0;

  /// Runs `Encoder::backward`. Calls `ready(i)` when the gradients of the parameters from number i
  /// on are complete.
  virtual void backward(const at::Tensor&, const std::function<void(std::size_t)>&) {}
};

/// Makes the backend of an encoder. `parameters` are all parameters of the model; embeddings among
/// them get a record of the gradient's rows that the backend writes to.
SEQTRAIN_SEPARATE std::unique_ptr<AnyEncoder> make_encoder(EncoderParts<float> parts,
                                                           std::span<tensor::Parameter> parameters);
/// Makes the backend of an encoder whose products take bfloat16 or int8 factors.
SEQTRAIN_SEPARATE std::unique_ptr<AnyEncoder> make_encoder(EncoderParts<kernels::Bf16> parts,
                                                           std::span<tensor::Parameter> parameters,
                                                           Precision precision, bool only_predicts);

/// Makes the backend of an encoder from its `cpu_parts`, or null if it has none for its shape. If
/// `keeps_tokens`, the encoder returns the states of all tokens.
template <class E>
std::unique_ptr<AnyEncoder> passes_of(const E& encoder, std::span<tensor::Parameter> parameters,
                                      Precision precision, bool only_predicts, bool keeps_tokens) {
  if (precision == Precision::fp32) {
    auto parts = encoder.template cpu_parts<float>();
    if (!parts || parts->convolution) return nullptr;
    if (keeps_tokens) parts->pooling = Pooling::none;
    return make_encoder(*std::move(parts), parameters);
  }
  auto parts = encoder.template cpu_parts<kernels::Bf16>();
  if (!parts || (parts->convolution && !only_predicts)) return nullptr;
  if (precision == Precision::int8 && !has_inference_encoder(*parts)) return nullptr;
  if (keeps_tokens) parts->pooling = Pooling::none;
  return make_encoder(*std::move(parts), parameters, precision, only_predicts);
}

}  // namespace seqtrain::model::cpu

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/model/src/any_encoder.hpp>
#endif
