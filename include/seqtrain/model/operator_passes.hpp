#pragma once

#include <optional>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Device.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/passes.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/autocast.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Computes the passes by ATen's operators and autograd, on any device. In bf16 and fp16 it uses
/// torch's autocast.
class OperatorPasses : public Passes {
 public:
  OperatorPasses(const Network& network, c10::Device device, Precision precision,
                 bool encoder_frozen)
      : network_{&network},
        device_{device},
        precision_{precision},
        encoder_frozen_{encoder_frozen} {}

  at::Tensor accumulate(const StepInputs& step) override {
    Dropout dropout{step.stream.at(0), device_};
    const auto input = tensor::to_device(step.batch, device_);
    return loss_and_backward(step, head(states(input, dropout), dropout), input);
  }

  at::Tensor logits(const data::Batch& batch) override {
    Dropout off;
    return head(states(tensor::to_device(batch, device_), off), off);
  }

 protected:
  /// Returns logits [rows, labels] in fp32.
  [[nodiscard]] at::Tensor head(const at::Tensor& states, Dropout& dropout) const {
    const auto narrow = autocast();
    return network_->head(states, dropout).to(at::kFloat);
  }

  [[nodiscard]] std::optional<tensor::Autocast> autocast() const {
    const c10::ScalarType type = type_of_products(precision_);
    if (type == at::kFloat) return {};
    return std::optional<tensor::Autocast>{std::in_place, device_.type(), type};
  }

  const Network* network_;
  c10::Device device_;
  Precision precision_;
  bool encoder_frozen_;

 private:
  /// Returns the pooled hidden states of a batch, [rows, hidden].
  [[nodiscard]] at::Tensor states(const tensor::Batch& batch, Dropout& dropout) const {
    const auto narrow = autocast();
    if (!encoder_frozen_) return network_->encode(batch, dropout);
    const at::NoGradGuard no_gradients;
    Dropout off;
    return network_->encode(batch, off);
  }
};

}  // namespace seqtrain::model
