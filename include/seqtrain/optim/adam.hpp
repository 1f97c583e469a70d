#pragma once

#include <memory>
#include <span>
#include <utility>

#include <ATen/core/Tensor.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/optim/adam_moments.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

class AdamOnDevice;

/// Options of `Adam` and `AdamW`. Names and defaults are torch's, but `weight_decay` is 0 by
/// default with AdamW too.
struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  /// If false, weight_decay · value is added to every gradient, as torch's `Adam` does. If true,
  /// the value shrinks by lr · weight_decay, apart from the gradient, as torch's `AdamW` does
  /// (Loshchilov and Hutter 2019); biases and layer normalizations do not decay.
  bool decoupled_weight_decay = false;
  /// If true, the moments of large parameters take one byte each: see `AdamMoments::fresh`. The
  /// gradients must be in fp32 on the processor.
  bool eight_bit = false;
  LrFactors lr_factors = {};  ///< 1 for parameters that are not named
  /// Takes the steps on its device. Null leaves them to torch's fused update.
  std::shared_ptr<AdamOnDevice> on_device = nullptr;

  void validate() const;
};

struct AdamItem;

/// The rule of Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", with bias
/// correction. With the gradient g and the moments m and v, which begin at 0, step t is
///   m = beta1 · m + (1 - beta1) · g
///   v = beta2 · v + (1 - beta2) · g²
///   value -= lr · m / (1 - beta1^t) / (√(v / (1 - beta2^t)) + eps)
/// On the processor hand-written kernels compute it, and elsewhere torch's fused update, or kernels
/// of our own if `AdamOptions::on_device` is given.
class AdamRule {
 public:
  using Options = AdamOptions;

  Options options;

  [[nodiscard]] AdamMoments fresh(const tensor::Parameter& parameter) const {
    return AdamMoments::fresh(parameter, options.eight_bit);
  }

  /// Weight decay that is added to the gradient applies to all parameters.
  [[nodiscard]] bool decays(const tensor::Parameter& parameter) const {
    return !options.decoupled_weight_decay || optim::decays(parameter);
  }

  /// Throws `InputError` if the kernels are needed and do not fit.
  [[nodiscard]] bool takes_kernels(std::span<const tensor::Parameter> parameters,
                                   bool is_scaled) const;

  [[nodiscard]] Outcome step_by_kernels(std::span<const Trained<AdamMoments>> trained,
                                        std::span<const tensor::Parameter> parameters,
                                        double max_grad_norm) const;

  /// Counts and takes the step, unless `found_inf` is 1.
  void update(const Group<AdamMoments>& group, const Rates& rates,
              const at::Tensor& found_inf) const;

 private:
  [[nodiscard]] bool runs_on_device(std::span<const tensor::Parameter> parameters) const;

  static AdamItem item_of(const Trained<AdamMoments>& trained);

  /// Counts the step and sets its factors.
  void set_factors(AdamItem& item, double clip, const Rates& rates) const;
};

/// Adam, whose state is the moments `exp_avg` and `exp_avg_sq` of each parameter (or the root
/// `exp_avg_sq_root`, if moments are of bytes) and its number of steps `step`.
using Adam = ByRule<AdamRule>;

#ifdef SEQTRAIN_SEPARATE_COMPILATION
extern template Outcome ByRule<AdamRule>::step(std::span<const tensor::Parameter>, Step);
extern template tensor::StateDict ByRule<AdamRule>::state() const;
extern template void ByRule<AdamRule>::load_state(std::span<const weights::TensorView>,
                                                  std::span<const tensor::Parameter>);
#endif

/// `Adam` with decoupled weight decay.
class AdamW : public Adam {
 public:
  explicit AdamW(AdamOptions options = {}) : Adam{decoupled(std::move(options))} {}

 private:
  static AdamOptions decoupled(AdamOptions options) {
    options.decoupled_weight_decay = true;
    return options;
  }
};

}  // namespace seqtrain::optim

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/optim/src/adam.hpp>
#endif
