#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/row_losses.hpp>
#include <seqtrain/model/logits.hpp>
#include <seqtrain/model/loss/cross_entropy.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/finite.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::model {

namespace detail {

/// Fails to compile, with one plain sentence, unless `NnModule` can train the module.
template <class Module>
consteval void check_module() {
  static_assert(
      requires(Module & module, c10::Device device) {
        module.to(device);
        module.train();
        module.eval();
        module.named_parameters();
        module.named_buffers();
      },
      "the module is not derived from torch::nn::Module");
  static_assert(
      requires(Module & module, const tensor::Batch& batch) {
        { module.forward(batch) } -> std::convertible_to<at::Tensor>;
      },
      "the module has no forward(const tensor::Batch&) that returns logits, an at::Tensor");
}

}  // namespace detail

/// Makes a `seqtrain::Model` of any torch::nn::Module whose forward takes a `tensor::Batch` and
/// returns logits [rows, labels], and a `Loss`. Parameters keep the module's names;
/// those that do not require gradients are frozen, and a parameter that several layers share has
/// its first name. The module's buffers, such as the running statistics of batch normalization, are
/// in the state_dict. They keep their values if a batch would make them infinite or NaN. Dropout
/// uses torch's global generator, which no checkpoint holds, so a run can be repeated only if the
/// program seeds it.
template <class Module>
class NnModule {
  static_assert((detail::check_module<Module>(), true));

 public:
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = MeanLoss;

  explicit NnModule(std::shared_ptr<Module> module, AnyLoss loss = CrossEntropy{},
                    c10::Device device = c10::kCPU)
      : module_{std::move(module)}, loss_{std::move(loss)}, device_{device} {
    module_->to(device_);
    for (auto& item : module_->named_parameters()) {
      const at::Tensor& value = item.value();
      const auto is_shared = [&](const auto& other) { return other.value.is_same(value); };
      if (std::ranges::any_of(parameters_, is_shared)) continue;
      parameters_.push_back(
          {item.key(), value,
           value.requires_grad() ? tensor::require_gradient(value) : at::Tensor{}});
    }
  }

  MeanLoss accumulate(const data::Batch& batch, double weight) {
    module_->train();
    const auto input = tensor::to_device(batch, device_);
    return MeanLoss{tensor::keep_finite(module_->buffers(), [&] {
      const at::Tensor loss = loss_.mean(module_->forward(input), input);
      loss.backward(at::full_like(loss, weight));
      return loss.detach();
    })};
  }

  metrics::Logits logits(const data::Batch& batch) {
    module_->eval();
    const at::NoGradGuard no_gradients;
    return to_host(module_->forward(tensor::to_device(batch, device_)));
  }

  [[nodiscard]] double weight_of(const data::Batch& batch) const { return loss_.weight_of(batch); }

  /// Returns the training loss of each row of a batch with these logits [rows, labels].
  [[nodiscard]] metrics::RowLosses losses(const metrics::Logits& logits,
                                          const data::Batch& batch) const {
    return loss_.rows(logits, batch);
  }

  [[nodiscard]] std::span<const tensor::Parameter> parameters() const& { return parameters_; }
  /// A temporary model would take its parameters with it.
  void parameters() const&& = delete;
  [[nodiscard]] Module& module() { return *module_; }

  /// Returns the parameters and then the buffers.
  [[nodiscard]] tensor::StateDict state_dict() const {
    tensor::StateDict state{parameters_};
    for (const auto& item : module_->named_buffers()) state.add(item.key(), item.value());
    return state;
  }

  /// Copies the values of `state_dict().views()`. Throws `InputError` if names, shapes or types do
  /// not fit; some values may then have changed.
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    tensor::SavedTensors saved{tensors};
    for (const auto& parameter : parameters_) saved.take(parameter.name, parameter.value);
    for (const auto& item : module_->named_buffers()) saved.take(item.key(), item.value());
    saved.check_all_taken();
  }

 private:
  std::shared_ptr<Module> module_;
  AnyLoss loss_;
  c10::Device device_;
  std::vector<tensor::Parameter> parameters_;
};

}  // namespace seqtrain::model
