#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/Device.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/cuda/layer_norm_kernel.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/packed/seeded_dropout.hpp>
#include <seqtrain/tensor/device_kernel.hpp>

namespace seqtrain::model::packed {

/// Dropout, the sum with the residual and a layer normalization on a GPU by kernels of our own: one
/// for the forward pass, one for the backward pass, and one that adds the gradients of weight and
/// bias. They do not wait for the device.
class NormOnDevice {
 public:
  /// What the backward pass needs of a forward pass.
  struct Pass {
    at::Tensor sum = {};      ///< [rows, size], fp32: the sum that was normalized
    at::Tensor moments = {};  ///< [rows, 2], fp32: its means and inverse standard deviations
    SeededDropout dropout = {};
    at::ScalarType type = at::kFloat;  ///< the type of products
  };

  /// Tells whether the environment asks for the kernel `layer_norm` and the device is no processor.
  [[nodiscard]] static bool available(c10::Device device) {
    return !device.is_cpu() && tensor::asks_for_kernel("layer_norm");
  }

  /// Loads the kernels. Throws `Error` if the device cannot run them. `say` gets a sentence if they
  /// cannot be kept for the next process.
  explicit NormOnDevice(c10::Device device, const std::function<void(const std::string&)>& say = {})
      : device_{device},
        forward_{tensor::load_kernel(cuda::layer_norm_kernel, device, say)},
        backward_{tensor::load_kernel(cuda::layer_norm_backward_kernel, device, say)},
        gradients_{tensor::load_kernel(cuda::layer_norm_gradients_kernel, device, say)} {}

  /// Returns the object if it is available, the kernels can be loaded and the passes of a few
  /// numbers have the right results, else null. `say` gets a sentence if it is available.
  [[nodiscard]] static std::shared_ptr<const NormOnDevice> make(
      c10::Device device, const std::function<void(const std::string&)>& say) {
    if (!available(device)) return nullptr;
    try {
      auto made = std::make_shared<const NormOnDevice>(device, say);
      for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) made->try_out(type);
      return made;
    } catch (const std::exception& error) {
      if (say) say(std::string{"torch's operators compute layer norms: "} + error.what());
      return nullptr;
    }
  }

  /// Tells whether the kernels compute a norm.
  [[nodiscard]] bool takes(const LayerNorm& norm) const {
    constexpr std::int64_t most = 4'096;  // four for each of a block's threads
    const auto fits = [this](const at::Tensor& t) {
      return t.device() == device_ && t.scalar_type() == at::kFloat && t.is_contiguous();
    };
    return norm.kind == LayerNorm::Kind::mean_and_variance && fits(norm.weight) &&
           norm.weight.numel() <= most && (!norm.bias.defined() || fits(norm.bias));
  }

  /// Returns the normalized sum of the residual [rows, size] and of x [rows, size] after dropout,
  /// in fp32 and in the type of x. The residual of the result is the sum if norms come before their
  /// parts, else the normalized one. Writes what `backward` needs to `pass` if it is not null.
  [[nodiscard]] Hidden forward(const LayerNorm& norm, bool pre_norm, const at::Tensor& residual,
                               const at::Tensor& x, const SeededDropout& dropout,
                               Pass* pass) const {
    const at::Tensor from = x.contiguous(), wide = residual.contiguous();
    const at::Tensor normal = at::empty_like(wide);
    const bool is_wide = from.scalar_type() == at::kFloat;
    const at::Tensor narrow = is_wide ? normal : at::empty_like(from);
    const at::Tensor sum = pass != nullptr || pre_norm ? at::empty_like(wide) : at::Tensor{};
    const at::Tensor moments =
        pass != nullptr ? at::empty({wide.size(0), 2}, wide.options()) : at::Tensor{};
    cuda::LayerNormArguments arguments{.x = from.const_data_ptr(),
                                       .residual = numbers(wide),
                                       .weight = numbers(norm.weight),
                                       .bias = numbers(norm.bias),
                                       .sum = written(sum),
                                       .normal = written(normal),
                                       .narrow = is_wide ? nullptr : narrow.mutable_data_ptr(),
                                       .moments = written(moments),
                                       .dropout = dropout.argument(),
                                       .size = size_of(norm),
                                       .type = type_of(from),
                                       .eps = static_cast<float>(norm.eps)};
    const auto reads = defined({from, wide, norm.weight, norm.bias, dropout.seed});
    forward_->call({static_cast<unsigned>(wide.size(0)), threads_for(norm), &arguments, reads,
                    defined({sum, normal, narrow, moments})});
    if (pass != nullptr) *pass = {sum, moments, dropout, from.scalar_type()};
    return {pre_norm ? sum : normal, normal, narrow};
  }

  /// The gradients before a norm.
  struct Gradients {
    at::Tensor sum;  ///< the gradient of the residual, fp32
    at::Tensor x;    ///< the gradient of x, in the type of products; may be the same tensor
  };

  /// Returns the gradients of the residual and of x, given that of the normalized sum in fp32.
  /// `d_residual`, if it is defined, is added to them. Adds the gradients of weight and bias to
  /// those of the parameters, unless they are frozen.
  [[nodiscard]] Gradients backward(const LayerNorm& norm, const at::Tensor& d_normal,
                                   const at::Tensor& d_residual, const Pass& pass) const {
    const at::Tensor d = d_normal.contiguous(), d_sum = at::empty_like(pass.sum);
    const bool is_same = pass.type == at::kFloat && !pass.dropout.seed.defined();
    const at::Tensor d_x =
        is_same ? d_sum : at::empty(d_sum.sizes(), d_sum.options().dtype(pass.type));
    const bool learns = norm.weight.requires_grad();
    const std::int64_t rows = d.size(0), blocks = std::min(rows, most_blocks);
    const at::Tensor partial =
        learns ? at::empty({blocks, 2, d.size(1)}, d_sum.options()) : at::Tensor{};
    cuda::LayerNormBackwardArguments arguments{.d_normal = numbers(d),
                                               .d_residual = numbers(d_residual),
                                               .sum = numbers(pass.sum),
                                               .moments = numbers(pass.moments),
                                               .weight = numbers(norm.weight),
                                               .d_sum = written(d_sum),
                                               .d_x = is_same ? nullptr : d_x.mutable_data_ptr(),
                                               .partial = written(partial),
                                               .dropout = pass.dropout.argument(),
                                               .rows = static_cast<std::uint32_t>(rows),
                                               .size = size_of(norm),
                                               .type = type_of(d_x)};
    const auto reads =
        defined({d, d_residual, pass.sum, pass.moments, norm.weight, pass.dropout.seed});
    backward_->call({static_cast<unsigned>(blocks), threads_for(norm), &arguments, reads,
                     defined({d_sum, d_x, partial})});
    if (learns) add_gradients(norm, partial);
    return {d_sum, d_x};
  }

 private:
  static constexpr std::int64_t most_blocks = 512;  ///< of the backward pass

  static std::vector<at::Tensor> defined(std::vector<at::Tensor> tensors) {
    std::erase_if(tensors, [](const at::Tensor& tensor) { return !tensor.defined(); });
    return tensors;
  }
  static const float* numbers(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
  }
  static float* written(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr;
  }
  static std::uint32_t size_of(const LayerNorm& norm) {
    return static_cast<std::uint32_t>(norm.weight.numel());
  }
  static unsigned threads_for(const LayerNorm& norm) { return (size_of(norm) + 127) / 128 * 32; }
  static cuda::LayerNormType type_of(const at::Tensor& tensor) {
    if (tensor.scalar_type() == at::kHalf) return cuda::LayerNormType::fp16;
    return tensor.scalar_type() == at::kFloat ? cuda::LayerNormType::fp32
                                              : cuda::LayerNormType::bf16;
  }

  void add_gradients(const LayerNorm& norm, const at::Tensor& partial) const {
    const at::Tensor d_weight = norm.weight.grad();
    const at::Tensor d_bias = norm.bias.defined() ? norm.bias.grad() : at::Tensor{};
    cuda::LayerNormGradientsArguments arguments{
        .partial = numbers(partial),
        .d_weight = written(d_weight),
        .d_bias = written(d_bias),
        .parts = static_cast<std::uint32_t>(partial.size(0)),
        .size = size_of(norm)};
    gradients_->call({(2 * size_of(norm) + 31) / 32,
                      512,
                      &arguments,
                      {&partial, 1},
                      defined({d_weight, d_bias})});
  }

  /// Computes a few numbers with products of a type. Throws `Error` if the results are wrong.
  void try_out(at::ScalarType type) const {
    const at::NoGradGuard no_gradients;
    const auto options = at::TensorOptions{at::kFloat}.device(device_);
    const std::int64_t rows = 3, size = 130;  // more than a warp has, and no whole fours
    const at::Tensor a = at::arange(rows * size, options).sin().view({rows, size});
    const at::Tensor b = a.mul(2).cos().to(type);
    LayerNorm norm = LayerNorm::none();
    norm.kind = LayerNorm::Kind::mean_and_variance;
    norm.weight = a[0].add(2).set_requires_grad(true);
    norm.bias = a[1].clone().set_requires_grad(true);
    for (at::Tensor* parameter : {&norm.weight, &norm.bias}) {
      parameter->mutable_grad() = at::ones_like(*parameter);
    }
    // The expected numbers come first, so that no memory that the kernels get held them before.
    const at::Tensor sum = a.add(b);
    const auto [y, mean, rstd] =
        at::native_layer_norm(sum, {size}, norm.weight, norm.bias, norm.eps);
    const auto [d_sum, d_weight, d_bias] = at::native_layer_norm_backward(
        a, sum, {size}, mean, rstd, norm.weight, norm.bias, {true, true, true});
    Pass pass;
    const Hidden made = forward(norm, false, a, b, {}, &pass);
    const Gradients d = backward(norm, a, {}, pass);
    const bool adds = near(norm.weight.grad(), d_weight.add(1), 1e-4) &&
                      near(norm.bias.grad(), d_bias.add(1), 1e-4);
    const double of_type = type == at::kFloat ? 1e-5 : 0.03;
    const SeededDropout half{.seed = at::full({1}, 7, options.dtype(at::kLong)), .rate = 0.5};
    const at::Tensor one = at::ones_like(b);
    (void)forward(norm, false, at::zeros_like(a), one, half, &pass);
    const Gradients dropped = backward(norm, a, {}, pass);
    const double kept = pass.sum.mean().item<double>();  // 0 or 2, about as often
    if (adds && near(made.normal, y, 1e-5) && near(made.narrow, y, of_type) &&
        near(d.sum, d_sum, 1e-5) && near(d.x, d_sum, of_type) && kept > 0.5 && kept < 1.5 &&
        near(dropped.x, dropped.sum.mul(pass.sum), of_type)) {
      return;
    }
    throw Error{"the kernels of layer norms compute wrong numbers", {.object = device_.str()}};
  }

  static bool near(const at::Tensor& a, const at::Tensor& b, double tolerance) {
    return a.sub(b).abs().max().item<double>() <= tolerance;
  }

  c10::Device device_;
  std::unique_ptr<const tensor::DeviceKernel> forward_, backward_, gradients_;
};

}  // namespace seqtrain::model::packed
