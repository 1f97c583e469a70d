#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/core/Device.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/cuda/adam_kernel.hpp>
#include <seqtrain/cuda/norm_kernel.hpp>
#include <seqtrain/cuda/squares_kernel.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/adam_moments.hpp>
#include <seqtrain/optim/adam_on_device.hpp>
#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/optim/gradients.hpp>
#include <seqtrain/tensor/device_kernel.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/state_dict.hpp>

namespace seqtrain::optim {

namespace detail {

/// The arguments of a step's kernels, with the tensors that these read and write.
struct AdamCall {
  cuda::AdamArguments arguments = {};
  std::vector<cuda::AdamChunk> parts = {};
  std::vector<at::Tensor> gradients = {}, steps = {}, writes = {};
  std::map<Rates, std::uint32_t> groups = {};

  std::uint32_t group_of(const Rates& rates, const AdamOptions& options) {
    const auto count = static_cast<std::uint32_t>(groups.size());
    const auto [found, is_new] = groups.emplace(rates, count);
    if (!is_new) return found->second;
    arguments.groups[count] = {.lr = rates.lr,
                               .beta1 = rates.momentum.value_or(options.beta1),
                               .weight_decay = rates.weight_decay};
    return count;
  }

  void add(const Trained<AdamMoments>& trained, const AdamOptions& options) {
    const auto numbers = [this](const at::Tensor& tensor) {
      writes.push_back(tensor);
      return tensor.mutable_data_ptr<float>();
    };
    const tensor::Parameter& parameter = *trained.parameter;
    cuda::AdamChunk part{.value = numbers(parameter.value),
                         .gradient = numbers(parameter.gradient),
                         .exp_avg = numbers(trained.state->exp_avg),
                         .exp_avg_sq = numbers(trained.state->exp_avg_sq),
                         .step = trained.state->step.const_data_ptr<float>(),
                         .count = static_cast<std::uint32_t>(parameter.value.numel()),
                         .group = group_of(trained.rates, options)};
    if (parameter.copy && parameter.copy->value.scalar_type() == at::kBFloat16) {
      writes.push_back(parameter.copy->value);
      part.copy = static_cast<std::uint16_t*>(parameter.copy->value.mutable_data_ptr());
    }
    gradients.push_back(parameter.gradient);
    steps.push_back(trained.state->step);
    parts.push_back(part);
  }

  /// Tells others that values and copies have changed.
  void note_changes(std::span<const Trained<AdamMoments>> trained) const {
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const tensor::Parameter& parameter = *trained[i].parameter;
      tensor::count_change(parameter.value);
      if (parts[i].copy != nullptr) {
        parameter.copy->changes = tensor::changes_of(parameter.value);
      }
      if (parameter.touched) tensor::forget_touched(parameter);
    }
  }
};

/// Arrays one after the other, each aligned for pointers.
class Bytes {
 public:
  /// Returns the place of the array's first byte.
  template <class T>
  std::size_t add(const std::vector<T>& array) {
    static_assert(sizeof(T) % alignof(void*) == 0);
    const std::size_t place = bytes_.size();
    const auto of_array = std::as_bytes(std::span{array});
    bytes_.insert(bytes_.end(), of_array.begin(), of_array.end());
    return place;
  }

  /// Copies the arrays to a device. It does not wait for the device.
  [[nodiscard]] at::Tensor sent(c10::Device device) const {
    const auto options = at::TensorOptions{at::kByte};
    const at::Tensor host = at::empty({std::ssize(bytes_)}, options.pinned_memory(true));
    std::memcpy(host.mutable_data_ptr(), bytes_.data(), bytes_.size());
    const at::Tensor sent = at::empty({std::ssize(bytes_)}, options.device(device));
    return sent.copy_(host, /*non_blocking=*/true);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Splits a parameter's part into chunks.
inline void add_chunks(const cuda::AdamChunk& part, std::vector<cuda::AdamChunk>& chunks) {
  constexpr std::uint32_t most = 8'192;
  for (std::uint32_t begin = 0; begin < part.count; begin += most) {
    cuda::AdamChunk chunk = part;
    for (float** from : {&chunk.value, &chunk.gradient, &chunk.exp_avg, &chunk.exp_avg_sq}) {
      *from += begin;
    }
    if (chunk.copy != nullptr) chunk.copy += begin;
    chunk.count = std::min(most, part.count - begin);
    chunks.push_back(chunk);
  }
}

}  // namespace detail

SEQTRAIN_SEPARATE std::shared_ptr<AdamOnDevice> AdamOnDevice::make(
    c10::Device device, const std::function<void(const std::string&)>& say) {
  if (!available(device)) return nullptr;
  try {
    auto made = std::make_shared<AdamOnDevice>(device, say);
    made->try_out();
    if (say) say("Adam's steps are kernels of our own on " + device.str());
    return made;
  } catch (const std::exception& error) {
    if (say) say(std::string{"torch's operators compute Adam: "} + error.what());
    return nullptr;
  }
}

SEQTRAIN_SEPARATE void AdamOnDevice::try_out() {
  // Several chunks, the last of which is no whole one. The gradient's norm is 300.
  const auto floats = at::TensorOptions{at::kFloat}.device(device_);
  const tensor::Parameter parameter{.name = "trial",
                                    .value = at::full({10'000}, 1, floats),
                                    .gradient = at::full({10'000}, 3, floats)};
  AdamMoments moments = AdamMoments::fresh(parameter, false);
  const Trained<AdamMoments> trained{&parameter, &moments, {.lr = 0.25}};
  (void)(*this)({&trained, 1}, {&parameter, 1}, {}, /*max_grad_norm=*/1);
  const auto is = [](const at::Tensor& tensor, double number, double tolerance) {
    return tensor.cpu().sub(number).abs().max().item<double>() <= tolerance;
  };
  // The first step of Adam is the learning rate, whatever the gradient, which is 0.01 if it is
  // clipped. The moments are a tenth and a thousandth of it and of its square.
  if (is(parameter.value, 0.75, 1e-5) && is(parameter.gradient, 0, 0) &&
      is(moments.exp_avg, 1e-3, 1e-7) && is(moments.exp_avg_sq, 1e-7, 1e-11)) {
    return;
  }
  throw Error{"the kernels of Adam compute wrong numbers", {.object = device_.str()}};
}

SEQTRAIN_SEPARATE bool AdamOnDevice::takes(std::span<const tensor::Parameter> parameters,
                                           const AdamOptions& options) const {
  std::set<double> factors{1};
  for (const auto& [name, factor] : options.lr_factors) factors.insert(factor);
  // Each with and without weight decay.
  if (2 * factors.size() > cuda::AdamArguments::most_groups) return false;
  const auto fits = [this](const at::Tensor& t) {
    return t.device() == device_ && t.scalar_type() == at::kFloat && t.is_contiguous() &&
           t.numel() <= std::int64_t{1} << 31;
  };
  return std::ranges::all_of(parameters, [&](const tensor::Parameter& parameter) {
    return !parameter.gradient.defined() || (fits(parameter.value) && fits(parameter.gradient));
  });
}

SEQTRAIN_SEPARATE void AdamOnDevice::lay_out(const std::vector<cuda::AdamChunk>& parts,
                                             const std::vector<at::Tensor>& steps) {
  if (parts == tables_.parts) return;
  std::vector<cuda::AdamChunk> chunks;
  std::vector<cuda::NormPart> ends;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    detail::add_chunks(parts[i], chunks);
    ends.push_back({steps[i].mutable_data_ptr<float>(), static_cast<std::uint32_t>(chunks.size())});
  }
  std::vector<cuda::SquaresChunk> squares;
  for (const cuda::AdamChunk& chunk : chunks) squares.push_back({chunk.gradient, chunk.count});
  detail::Bytes bytes;
  const std::size_t at_adam = bytes.add(chunks), at_squares = bytes.add(squares);
  const std::size_t at_norm = bytes.add(ends);
  tables_.bytes = bytes.sent(device_);
  const auto* const begin = static_cast<const std::byte*>(tables_.bytes.const_data_ptr());
  tables_.adam = reinterpret_cast<const cuda::AdamChunk*>(begin + at_adam);
  tables_.squares = reinterpret_cast<const cuda::SquaresChunk*>(begin + at_squares);
  tables_.norm = reinterpret_cast<const cuda::NormPart*>(begin + at_norm);
  tables_.chunks = std::ssize(chunks);
  tables_.sums = at::empty({tables_.chunks}, at::TensorOptions{at::kDouble}.device(device_));
  tables_.parts = parts;
}

SEQTRAIN_SEPARATE Outcome AdamOnDevice::operator()(std::span<const Trained<AdamMoments>> trained,
                                                   std::span<const tensor::Parameter> parameters,
                                                   const AdamOptions& options,
                                                   double max_grad_norm) {
  if (trained.empty()) return {};
  detail::AdamCall call;
  for (const auto& each : trained) call.add(each, options);
  lay_out(call.parts, call.steps);
  const auto& scale = parameters.front().loss_scale;
  const auto blocks = static_cast<unsigned>(tables_.chunks);
  const auto floats = at::TensorOptions{at::kFloat}.device(device_);
  const at::Tensor found_inf = at::empty({}, floats), clip = at::empty({}, floats);
  const at::Tensor norms =
      at::empty({std::ssize(trained) + (scale ? 1 : 0)}, tables_.sums.options());
  if (blocks > 0) {
    cuda::SquaresArguments squares{tables_.squares, tables_.sums.mutable_data_ptr<double>()};
    call.gradients.push_back(tables_.bytes);
    squares_->call({blocks, 256, &squares, call.gradients, {&tables_.sums, 1}});
  }
  cuda::NormArguments norm{.sums = tables_.sums.const_data_ptr<double>(),
                           .parts = tables_.norm,
                           .scale = scale ? scale->value.const_data_ptr<float>() : nullptr,
                           .norms = norms.mutable_data_ptr<double>(),
                           .found_inf = found_inf.mutable_data_ptr<float>(),
                           .clip = clip.mutable_data_ptr<float>(),
                           .max_norm = max_grad_norm,
                           .gradients = static_cast<std::uint32_t>(trained.size())};
  std::vector<at::Tensor> reads{tables_.sums, tables_.bytes}, writes{norms, found_inf, clip};
  if (scale) reads.push_back(scale->value);
  writes.insert(writes.end(), call.steps.begin(), call.steps.end());
  norm_->call({1, 1024, &norm, reads, writes});
  if (blocks > 0) {
    auto& arguments = call.arguments;
    arguments.chunks = tables_.adam;
    arguments.found_inf = norm.found_inf;
    arguments.clip = norm.clip;
    arguments.beta2 = options.beta2;
    arguments.eps = options.eps;
    arguments.decoupled = options.decoupled_weight_decay ? 1 : 0;
    reads = call.steps;
    reads.insert(reads.end(), {tables_.bytes, found_inf, clip});
    adam_->call({blocks, 256, &arguments, reads, call.writes});
  }
  call.note_changes(trained);
  if (scale) scale->update(found_inf);
  std::vector<std::string> names;
  for (const auto& each : trained) names.push_back(each.parameter->name);
  return outcome_of(std::make_shared<tensor::Arriving>(norms), names, scale != nullptr);
}

}  // namespace seqtrain::optim
