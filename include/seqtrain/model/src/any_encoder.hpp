#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/any_encoder.hpp>
#include <seqtrain/model/cpu/encoder.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/inference_encoder.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::cpu {

namespace detail {

/// Finds the parts among the model's parameters. When a layer's gradients are complete, so are
/// those of all parameters from the returned number on. The norm of what a layer's attention reads
/// is complete only with the layer before, though its number may be among the layer's own.
template <class T>
std::vector<std::size_t> first_of_layers(const EncoderParts<T>& parts,
                                         std::span<tensor::Parameter> parameters) {
  const auto number_of = [&](const at::Tensor& value) {
    const auto is = [&](const tensor::Parameter& parameter) {
      return parameter.value.is_same(value);
    };
    return static_cast<std::size_t>(std::ranges::find_if(parameters, is) - parameters.begin());
  };
  const auto end_of = [&](const NormTensors& norm) {
    if (norm.d_beta.defined()) return 1 + number_of(norm.beta);
    return norm.d_gamma.defined() ? 1 + number_of(norm.gamma) : std::size_t{0};
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
    const auto& first_norm = parts.embeddings.first_norm;
    std::size_t end_of_norm = first_norm ? end_of(*first_norm) : 0;
    if (i > 0) end_of_norm = end_of(parts.layers[i - 1].norm2);
    first_of_layer[i] = std::max(first, end_of_norm);
  }
  return first_of_layer;
}

/// An encoder that trains.
template <class T>
class TrainedEncoder : public AnyEncoder {
 public:
  TrainedEncoder(EncoderParts<T> parts, std::span<tensor::Parameter> parameters)
      : first_of_layer_{first_of_layers(parts, parameters)}, encoder_{std::move(parts)} {
    encoder_.offer_packing(parameters);
  }

  void keep_packed_only() override { encoder_.keep_packed_only(); }
  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream> dropout) override {
    return encoder_.forward(batch, dropout);
  }
  void backward(const at::Tensor& gradient,
                const std::function<void(std::size_t)>& ready) override {
    encoder_.backward(gradient, [&](std::size_t layer) {
      if (ready) ready(first_of_layer_[layer]);
    });
  }

 private:
  std::vector<std::size_t> first_of_layer_;
  Encoder<T> encoder_;
};

/// An encoder that only predicts.
class PredictingEncoder : public AnyEncoder {
 public:
  PredictingEncoder(EncoderParts<Bf16> parts, bool int8) : encoder_{std::move(parts), int8} {}

  std::size_t maps_in_bf16() override { return encoder_.maps_in_bf16(); }
  void keep_packed_only() override { encoder_.keep_packed_only(); }
  bool take_adapter(AnyEncoder& other) override {
    auto* const adapted = dynamic_cast<PredictingEncoder*>(&other);
    return adapted != nullptr && encoder_.take_adapter(adapted->encoder_);
  }
  at::Tensor forward(const data::Batch& batch, std::optional<random::Stream>) override {
    return encoder_.forward(batch);
  }

 private:
  InferenceEncoder encoder_;
};

}  // namespace detail

SEQTRAIN_SEPARATE std::unique_ptr<AnyEncoder> make_encoder(
    EncoderParts<float> parts, std::span<tensor::Parameter> parameters) {
  return std::make_unique<detail::TrainedEncoder<float>>(std::move(parts), parameters);
}

SEQTRAIN_SEPARATE std::unique_ptr<AnyEncoder> make_encoder(EncoderParts<Bf16> parts,
                                                           std::span<tensor::Parameter> parameters,
                                                           Precision precision,
                                                           bool only_predicts) {
  if (!only_predicts || !has_inference_encoder(parts)) {
    return std::make_unique<detail::TrainedEncoder<Bf16>>(std::move(parts), parameters);
  }
  return std::make_unique<detail::PredictingEncoder>(std::move(parts),
                                                     precision == Precision::int8);
}

}  // namespace seqtrain::model::cpu
