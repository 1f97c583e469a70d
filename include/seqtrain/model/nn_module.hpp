#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full_like.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/model/logits.hpp>
#include <seqtrain/model/loss.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model {

/// A `seqtrain::Model` of any torch::nn::Module whose forward takes a `tensor::Batch` and gives
/// logits [rows, labels]; trained by cross-entropy. Parameters keep the module's names; those that
/// do not require gradients are frozen. Dropout follows torch's global generator, so a run repeats
/// only as far as the program seeds that.
template <class Module>
class NnModule {
 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = Loss;

  explicit NnModule(std::shared_ptr<Module> module, c10::Device device = c10::kCPU)
      : module_{std::move(module)}, device_{device} {
    module_->to(device_);
    for (auto& item : module_->named_parameters()) {
      const at::Tensor& value = item.value();
      parameters_.push_back(
          {item.key(), value,
           value.requires_grad() ? tensor::require_gradient(value) : at::Tensor{}});
    }
  }

  Loss accumulate(const data::Batch& batch, double weight) {
    module_->train();
    const auto input = tensor::to_device(batch, device_);
    const at::Tensor loss =
        at::cross_entropy_loss(module_->forward(input), input.labels.to(at::kLong));
    loss.backward(at::full_like(loss, weight));
    return Loss{loss.detach()};
  }

  metrics::Logits logits(const data::Batch& batch) {
    module_->eval();
    const at::NoGradGuard no_gradients;
    return to_host(module_->forward(tensor::to_device(batch, device_)));
  }

  [[nodiscard]] std::span<const tensor::Parameter> parameters() const { return parameters_; }
  [[nodiscard]] Module& module() { return *module_; }

 private:
  std::shared_ptr<Module> module_;
  c10::Device device_;
  std::vector<tensor::Parameter> parameters_;
};

}  // namespace seqtrain::model
