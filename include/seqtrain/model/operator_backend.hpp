#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Device.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/backend.hpp>
#include <seqtrain/model/network.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/tensor/autocast.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::model {

/// Computes a classifier by ATen's operators and autograd, on any device. In bf16 and fp16 it uses
/// torch's autocast. A device keeps the states of a frozen encoder for later epochs. Their last
/// bits depend on the batch in which a row came first; deterministic operators keep none.
class OperatorBackend : public Backend {
 public:
  /// If `keeps_tokens`, the head takes the states of all tokens.
  OperatorBackend(const Network& network, std::span<const tensor::Parameter> parameters,
                  c10::Device device, Precision precision, bool encoder_frozen,
                  bool keeps_tokens = false)
      : network_{&network},
        device_{device},
        precision_{precision},
        encoder_frozen_{encoder_frozen},
        keeps_tokens_{keeps_tokens},
        frozen_states_{parameters} {
    for (const auto& parameter : parameters) {
      if (parameter.touched) words_ = parameter.touched;
    }
    if (words_) fixed_ids_ = network.fixed_ids();
  }

  at::Tensor accumulate(const StepInputs& step) override {
    Dropout dropout{step.stream.at(0), device_};
    touch_words(step.batch);
    const auto input = to_device(step.batch);
    return loss_and_backward(step, head(states(step.batch, input, dropout), dropout), input);
  }

  at::Tensor logits(const data::Batch& batch) override {
    Dropout off;
    return head(states(batch, to_device(batch), off), off);
  }

  at::Tensor hidden(const data::Batch& batch) override {
    Dropout off;
    return states(batch, to_device(batch), off).to(at::kFloat);
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

  /// Notes the rows of the table of words that get a gradient.
  void touch_words(const data::Batch& batch) const {
    if (!words_) return;
    const auto touch = [this](std::int64_t id) {
      const auto row = static_cast<std::size_t>(id);
      if (row < words_->rows()) words_->insert(row);  // the operator refuses other ids
    };
    std::ranges::for_each(batch.input_ids, touch);
    std::ranges::for_each(fixed_ids_, touch);
  }

  /// Returns the states of a frozen encoder: kept ones, or the result of compute().
  template <class Compute>
  at::Tensor frozen_states(const data::Batch& batch, const Compute& compute) {
    const at::NoGradGuard no_gradients;
    return operators_keep_states(device_) && !keeps_tokens_ ? frozen_states_(batch, compute)
                                                            : compute();
  }

  const Network* network_;
  c10::Device device_;
  Precision precision_;
  bool encoder_frozen_;
  bool keeps_tokens_;

 private:
  [[nodiscard]] tensor::Batch to_device(const data::Batch& batch) const {
    auto input = tensor::to_device(batch, device_);
    input.keeps_tokens = keeps_tokens_;
    return input;
  }

  /// Returns the hidden states of a batch that the head takes.
  [[nodiscard]] at::Tensor states(const data::Batch& batch, const tensor::Batch& input,
                                  Dropout& dropout) {
    const auto encode = [&](Dropout& by) {
      const auto narrow = autocast();
      return network_->encode(input, by);
    };
    Dropout off;
    return encoder_frozen_ ? frozen_states(batch, [&] { return encode(off); }) : encode(dropout);
  }

  FrozenStates frozen_states_;
  std::shared_ptr<tensor::RowSet> words_;  ///< `touched` of the table of words on a device
  std::vector<std::int64_t> fixed_ids_ = {};
};

}  // namespace seqtrain::model
