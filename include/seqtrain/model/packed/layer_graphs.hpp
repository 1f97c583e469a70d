#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/Device.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/packed/attention.hpp>
#include <seqtrain/model/packed/layers.hpp>
#include <seqtrain/tensor/device_graph.hpp>
#include <seqtrain/tensor/device_kernel.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::packed {

/// The beginning of one tensor for all who take it in turns. A larger tensor replaces it if one of
/// them needs more; the others keep the smaller one.
class SharedBuffer {
 public:
  /// Returns a view of this shape, whose numbers have no values yet. All calls need the same
  /// options.
  [[nodiscard]] at::Tensor take(at::IntArrayRef sizes, const at::TensorOptions& options) {
    const std::int64_t numbers = c10::multiply_integers(sizes);
    if (!all_.defined() || all_.numel() < numbers) {
      const auto rounded = std::bit_ceil(static_cast<std::uint64_t>(numbers));
      all_ = at::empty({static_cast<std::int64_t>(rounded)}, options);
    }
    return all_.narrow(0, 0, numbers).view(sizes);
  }

 private:
  at::Tensor all_;
};

/// The passes of `Layers` for batches of one size, as graphs: the host starts a pass by one call
/// instead of hundreds. The tensors that graphs read or write keep their memory.
class GraphsOfSize {
 public:
  /// Returns the result of `Layers::forward`, a new tensor.
  [[nodiscard]] at::Tensor forward() const {
    forward_->replay();
    return hidden_.clone();
  }

  /// Does what `Layers::backward` does after `forward`. The result lasts until the next batch.
  [[nodiscard]] at::Tensor backward(const at::Tensor& gradient) const {
    d_hidden_.copy_(gradient);
    backward_->replay();
    return d_embedded_;
  }

 private:
  friend class LayerGraphs;

  at::Tensor embedded_, starts_, positions_;  // the inputs
  at::Tensor hidden_, d_hidden_, d_embedded_;
  std::unique_ptr<const tensor::DeviceGraph> forward_;
  std::unique_ptr<const tensor::DeviceGraph> backward_;  // null in an evaluation
};

/// Keeps graphs of layers for the sizes of batches that come often. All share the memory of their
/// activations, so a batch's passes must end before those of the next one begin.
class LayerGraphs {
 public:
  static constexpr std::size_t most_graphs = 32;  ///< sizes of training, and as many of evaluations
  static constexpr int passes_before = 2;         ///< by operators, which also load their kernels
  static constexpr std::size_t most_sizes = 4'096;  ///< whose passes are counted

  /// Tells whether the environment asks for `graphs` and the device is no processor.
  [[nodiscard]] static bool available(c10::Device device) {
    return !device.is_cpu() && tensor::asks_for_kernel("graphs");
  }

  /// `parameters` are those of the layers, or more. Throws `Error` if the device has no graphs.
  LayerGraphs(Layers& layers, std::span<const tensor::Parameter> parameters, c10::Device device)
      : layers_{&layers}, maker_{device} {
    for (const tensor::Parameter& parameter : parameters) values_.push_back(parameter.value);
  }

  /// Returns the graphs of a batch, with the hidden states before the layers [tokens, hidden],
  /// fp32, as their input. Returns null if there are none: the size has not come often enough, or
  /// as many others have graphs. Throws `Error` if a capture fails, unless memory lacks: LibTorch
  /// may then not go on with the device.
  [[nodiscard]] const GraphsOfSize* find(const at::Tensor& embedded, const Rows& rows,
                                         bool training) {
    const at::NoGradGuard no_gradients;
    if (auto now = addresses(); now != addresses_) {
      sizes_.clear();  // graphs know parameters and gradients by address
      addresses_ = std::move(now);
    }
    const Size size{embedded.size(0), rows.starts.size(0), rows.longest, rows.windowed, training};
    if (!sizes_.contains(size) && sizes_.size() == most_sizes) return nullptr;
    Kept& kept = sizes_[size];
    if (!kept.graphs) {
      if (kept.passes++ < passes_before || count(training) == most_graphs) return nullptr;
      layers_->refresh();
      kept.graphs = capture(embedded, rows, training);
    }
    layers_->refresh();
    fill(*kept.graphs, embedded, rows);
    return kept.graphs.get();
  }

 private:
  /// What the launches of a pass depend on.
  struct Size {
    std::int64_t tokens, starts, longest;
    bool windowed, training;
    friend auto operator<=>(const Size&, const Size&) = default;
  };
  struct Kept {
    int passes = 0;
    std::unique_ptr<GraphsOfSize> graphs = nullptr;
  };
  /// The memory of a value and its gradient, null if it has none.
  using Address = std::pair<const void*, const void*>;

  [[nodiscard]] std::vector<Address> addresses() const {
    std::vector<Address> all;
    for (const at::Tensor& value : values_) {
      const bool learns = value.requires_grad() && value.grad().defined();
      all.emplace_back(value.const_data_ptr(), learns ? value.grad().const_data_ptr() : nullptr);
    }
    return all;
  }

  static void fill(const GraphsOfSize& graphs, const at::Tensor& embedded, const Rows& rows) {
    graphs.embedded_.copy_(embedded);
    graphs.starts_.copy_(rows.starts);
    graphs.positions_.copy_(rows.positions);
  }

  /// Returns the number of sizes that have graphs, of training or of evaluations.
  [[nodiscard]] std::size_t count(bool training) const {
    return static_cast<std::size_t>(std::ranges::count_if(sizes_, [&](const auto& size) {
      return size.first.training == training && size.second.graphs != nullptr;
    }));
  }

  /// Captures both passes before either is computed.
  [[nodiscard]] std::unique_ptr<GraphsOfSize> capture(const at::Tensor& embedded, const Rows& rows,
                                                      bool training) try {
    auto made = std::make_unique<GraphsOfSize>();
    made->embedded_ = embedded_.take(embedded.sizes(), embedded.options());
    made->starts_ = at::empty_like(rows.starts);
    made->positions_ = at::empty_like(rows.positions);
    fill(*made, embedded, rows);
    const Rows fixed{.starts = made->starts_,
                     .positions = made->positions_,
                     .longest = rows.longest,
                     .windowed = rows.windowed,
                     .width = rows.width};
    made->forward_ = maker_.capture(
        [&] {
          const at::Tensor hidden = layers_->forward(made->embedded_, fixed, training);
          made->hidden_ = hidden_.take(hidden.sizes(), hidden.options());
          made->hidden_.copy_(hidden);
        },
        any());
    if (!training) return made;
    made->d_hidden_ = d_hidden_.take(made->hidden_.sizes(), made->hidden_.options());
    made->d_embedded_ = made->embedded_;  // the layers have read it by then
    made->backward_ = maker_.capture(
        [&] { made->d_embedded_.copy_(layers_->backward(made->d_hidden_, fixed, {})); },
        made->forward_.get());
    layers_->forget();
    return made;
  } catch (const c10::OutOfMemoryError&) {
    hidden_ = {};  // it may be in the failed graph's memory
    throw;
  } catch (const std::bad_alloc&) {
    hidden_ = {};
    throw;
  } catch (const std::exception& error) {
    throw Error{std::string{"graphs of the layers' passes cannot be captured: "} + error.what(),
                {.object = tensor::kernels_variable},
                "leave out `graphs`"};
  }

  /// Returns a graph, whose memory new ones share, or null.
  [[nodiscard]] const tensor::DeviceGraph* any() const {
    for (const auto& [size, kept] : sizes_) {
      if (kept.graphs) return kept.graphs->forward_.get();
    }
    return nullptr;
  }

  Layers* layers_;
  tensor::GraphMaker maker_;
  std::vector<at::Tensor> values_;
  std::vector<Address> addresses_ = {};
  SharedBuffer embedded_, hidden_, d_hidden_;
  std::map<Size, Kept> sizes_ = {};
};

}  // namespace seqtrain::model::packed
