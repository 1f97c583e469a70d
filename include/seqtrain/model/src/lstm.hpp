#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/lstm_cell.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/lstm.hpp>
#include <seqtrain/model/cpu/lstm_backward.hpp>
#include <seqtrain/model/cpu/lstm_layout.hpp>
#include <seqtrain/model/cpu/packed_factor.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {
namespace detail {

/// A layer's forward pass.
template <class T>
class LstmForward {
 public:
  LstmForward(const LstmSizes& sizes, LstmKept<T>& kept, LstmWorkspace<T>& space)
      : sizes_{sizes}, kept_{kept}, space_{space} {
    kept.sizes = sizes;
  }

  /// Computes the hidden states y [rows, steps, hidden] and the last cells [rows, hidden] from
  /// x [rows, steps, in] and the state before the first step.
  void operator()(const LstmWeights<const float>& weights, const float* x, const float* h,
                  const float* c, float* y, float* last_cells) {
    const std::size_t panels = sizes_.panels(), words = sizes_.words();
    take_state(h, c);
    take_inputs(x);
    using For = typename PackedFactor<T>::For;
    pack_gates<T>(sizes_, weights.input, sizes_.in, For::forward, space_.input);
    pack_gates<T>(sizes_, weights.hidden, sizes_.hidden, For::forward, space_.hidden);
    T* const gates = kept_.gates.reserve(panels * words * panel);
    float* const sums = sums_memory();
    const std::vector<float> bias = biases(weights);
    tensor::for_each_task(panels, [&](std::size_t index, std::size_t) {
      const TileGuard tiles;
      multiply_panel(words, space_.input.depth(), kept_.inputs.data(), sizes_.ld_input(),
                     space_.input.forward(index), sums + index * words * panel, panel, false);
    });
    for (std::size_t step = 0; step < sizes_.steps; ++step) {
      tensor::for_each_task(panels, [&](std::size_t index, std::size_t) {
        const TileGuard tiles;
        const std::size_t block = (index * words + step * sizes_.rows) * panel;
        multiply_panel(sizes_.rows, space_.hidden.depth(), kept_.hidden_at(step),
                       sizes_.ld_hidden(), space_.hidden.forward(index), sums + block, panel, true);
        const std::size_t unit = index * kernels::lstm_units;
        kernels::lstm_forward<T>({.rows = sizes_.rows,
                                  .units = sizes_.existing(index),
                                  .sums = sums + block,
                                  .bias = bias.data() + index * panel,
                                  .cell_before = kept_.cells_at(step) + unit,
                                  .gates = gates + block,
                                  .cell = kept_.cells_at(step + 1) + unit,
                                  .ld_cell = sizes_.units(),
                                  .input = kept_.hidden_at(step + 1) + unit,
                                  .ld_input = sizes_.ld_hidden(),
                                  .hidden = y + step * sizes_.hidden + unit,
                                  .ld_hidden = sizes_.steps * sizes_.hidden});
      });
    }
    for (std::size_t row = 0; row < sizes_.rows; ++row) {
      std::copy_n(kept_.cells_at(sizes_.steps) + row * sizes_.units(), sizes_.hidden,
                  last_cells + row * sizes_.hidden);
    }
  }

 private:
  /// Returns the memory of the sums. In fp32 the gates use it too.
  float* sums_memory() {
    if constexpr (std::is_same_v<T, float>) return kept_.gates.data();
    return space_.sums.reserve(sizes_.panels() * sizes_.words() * panel);
  }

  void take_state(const float* h, const float* c) {
    const std::size_t ld = sizes_.ld_hidden();
    const std::size_t after = std::max(sizes_.words() + sizes_.rows, sizes_.padded());
    T* const hidden = kept_.hidden.reserve(after * ld);
    std::fill_n(hidden, after * ld, T{});
    float* const cells = kept_.cells.reserve((sizes_.steps + 1) * sizes_.rows * sizes_.units());
    for (std::size_t row = 0; row < sizes_.rows; ++row) {
      copy_padded(h + row * sizes_.hidden, sizes_.hidden, ld, hidden + row * ld);
      copy_padded(c + row * sizes_.hidden, sizes_.hidden, sizes_.units(),
                  cells + row * sizes_.units());
    }
  }

  void take_inputs(const float* x) {
    const std::size_t ld = sizes_.ld_input();
    T* const inputs = kept_.inputs.reserve(sizes_.padded() * ld);
    tensor::for_each_task(sizes_.steps, [&](std::size_t step, std::size_t) {
      for (std::size_t row = 0; row < sizes_.rows; ++row) {
        copy_padded(x + (row * sizes_.steps + step) * sizes_.in, sizes_.in, ld,
                    inputs + (step * sizes_.rows + row) * ld);
      }
    });
    std::fill_n(inputs + sizes_.words() * ld, (sizes_.padded() - sizes_.words()) * ld, T{});
  }

  [[nodiscard]] std::vector<float> biases(const LstmWeights<const float>& weights) const {
    std::vector<float> bias(sizes_.gates());
    for (std::size_t i = 0; i < bias.size(); ++i) {
      std::size_t row;
      if (!sizes_.row_of(i / panel, i % panel, row)) continue;
      bias[i] = weights.bias_input[row] + weights.bias_hidden[row];
    }
    return bias;
  }

  LstmSizes sizes_;
  LstmKept<T>& kept_;
  LstmWorkspace<T>& space_;
};

/// Memory of LSTM layers, for one batch after the other.
template <class T>
class LstmMemory {
 public:
  /// Returns memory for a stretch of text. No other stretch that waits for its backward pass uses
  /// it.
  std::shared_ptr<LstmKept<T>> take() {
    for (const auto& stretch : stretches_) {
      if (stretch.use_count() == 1) return stretch;
    }
    return stretches_.emplace_back(std::make_shared<LstmKept<T>>());
  }

  LstmWorkspace<T> space;

 private:
  std::vector<std::shared_ptr<LstmKept<T>>> stretches_;
};

template <class T>
struct PassHolder : torch::CustomClassHolder {
  std::shared_ptr<LstmMemory<T>> memory;
  std::shared_ptr<LstmKept<T>> pass;
};

[[nodiscard]] inline LstmWeights<const float> weights_of(const at::Tensor& input,
                                                         const at::Tensor& hidden,
                                                         const at::Tensor& bias_input,
                                                         const at::Tensor& bias_hidden) {
  return {input.const_data_ptr<float>(), hidden.const_data_ptr<float>(),
          bias_input.const_data_ptr<float>(), bias_hidden.const_data_ptr<float>()};
}

template <class T>
struct LstmFunction : torch::autograd::Function<LstmFunction<T>> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static Tensors forward(Context* context, const at::Tensor& x, const at::Tensor& input,
                         const at::Tensor& hidden, const at::Tensor& bias_input,
                         const at::Tensor& bias_hidden, const at::Tensor& h, const at::Tensor& c,
                         const std::shared_ptr<LstmMemory<T>>& memory) {
    const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    const LstmSizes sizes{size(x.size(0)), size(x.size(1)), size(x.size(2)), size(h.size(1))};
    const at::Tensor y = at::empty({x.size(0), x.size(1), h.size(1)}, h.options());
    const at::Tensor last = at::empty(h.sizes(), h.options());
    auto kept = c10::make_intrusive<PassHolder<T>>();
    kept->memory = memory;
    kept->pass = memory->take();
    const at::Tensor values = x.contiguous(), whole = hidden.contiguous();
    LstmForward<T>{sizes, *kept->pass, memory->space}(
        weights_of(input, whole, bias_input, bias_hidden), values.const_data_ptr<float>(),
        h.const_data_ptr<float>(), c.const_data_ptr<float>(), y.mutable_data_ptr<float>(),
        last.mutable_data_ptr<float>());
    context->saved_data["pass"] = c10::IValue::make_capsule(std::move(kept));
    context->save_for_backward({input, whole, bias_input, bias_hidden});
    context->mark_non_differentiable({last});
    return {y, last};
  }

  static Tensors backward(Context* context, const Tensors& gradients) {
    const auto capsule = context->saved_data["pass"].toCapsule();
    const auto& kept = static_cast<const PassHolder<T>&>(*capsule);
    const Tensors saved = context->get_saved_variables();
    const auto [rows, steps, in, hidden] = kept.pass->sizes;
    const auto size = [](std::size_t value) { return static_cast<std::int64_t>(value); };
    const auto options = saved[0].options().requires_grad(false);
    Tensors results(8);
    if (context->needs_input_grad(0)) {
      results[0] = at::empty({size(rows), size(steps), size(in)}, options);
    }
    bool learns = false;
    for (std::size_t i = 1; i <= 4; ++i) learns = learns || context->needs_input_grad(i);
    for (std::size_t i = 1; learns && i <= 4; ++i) {
      results[i] = at::empty(saved[i - 1].sizes(), options);
    }
    const auto numbers = [](const at::Tensor& tensor) {
      return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr;
    };
    const at::Tensor d_y = gradients[0].contiguous();
    LstmBackward<T>{*kept.pass, kept.memory->space}(
        weights_of(saved[0], saved[1], saved[2], saved[3]), d_y.const_data_ptr<float>(),
        numbers(results[0]),
        {numbers(results[1]), numbers(results[2]), numbers(results[3]), numbers(results[4])});
    return results;
  }
};

/// Products take factors of the type T.
template <class T>
class LstmOf : public Lstm {
 public:
  at::Tensor operator()(const at::Tensor& x, const LstmTensors& weights, at::Tensor& h,
                        at::Tensor& c) override {
    const auto result =
        LstmFunction<T>::apply(x, weights.input, weights.hidden, weights.bias_input,
                               weights.bias_hidden, h.contiguous(), c.contiguous(), memory_);
    h = result[0].select(1, -1).detach().clone();
    c = result[1].detach();
    return result[0];
  }

 private:
  std::shared_ptr<LstmMemory<T>> memory_ = std::make_shared<LstmMemory<T>>();
};

}  // namespace detail

SEQTRAIN_SEPARATE std::shared_ptr<Lstm> make_lstm(Precision precision) {
  if (precision == Precision::bf16) return std::make_shared<detail::LstmOf<Bf16>>();
  return std::make_shared<detail::LstmOf<float>>();
}

}  // namespace seqtrain::model::cpu
