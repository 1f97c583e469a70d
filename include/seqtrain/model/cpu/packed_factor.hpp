#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// The rows of a packed factor's source are padded to a multiple of this.
inline constexpr std::size_t padded_to = 32;

/// Copies a row and fills it with zeros up to `padded`.
template <class T>
void copy_padded(const float* from, std::size_t count, std::size_t padded, T* to) {
  const std::size_t whole = count / kernels::lanes * kernels::lanes;
  kernels::convert(from, whole, to, whole, 1, whole);
  for (std::size_t i = whole; i < count; ++i) to[i] = kernels::from_float<T>(from[i]);
  std::fill_n(to + count, padded - count, T{});
}

/// The panels of a row of `width` numbers. A panel has 64 columns; the last one may have 16, 32 or
/// 48.
struct ColumnPanels {
  std::size_t width;

  [[nodiscard]] std::size_t count() const { return (width + panel - 1) / panel; }
  /// Returns the columns of a panel, padding included.
  [[nodiscard]] std::size_t columns(std::size_t index) const {
    return std::min(panel, round_up(width, kernels::lanes) - index * panel);
  }
  /// Returns how many columns of a panel exist.
  [[nodiscard]] std::size_t existing(std::size_t index) const {
    return std::min(panel, width - index * panel);
  }
};

/// A weight matrix of any size, packed for the products of a forward or a backward pass. The caller
/// chooses the 64 outputs of each panel.
template <class T>
class PackedFactor {
 public:
  /// The passes whose products need the factor.
  enum class For { forward, backward, both };

  /// Packs rows(index, i), which is output i of panel `index`: `in` numbers, or null for zeros.
  template <class Rows>
  void pack(std::size_t panels, std::size_t in, For passes, const Rows& rows) {
    panels_ = panels;
    in_ = {in};
    padded_ = round_up(in, padded_to);
    const bool ahead = passes != For::backward, back = passes != For::forward;
    if (ahead) forward_.reserve(panels * panel * padded_);
    if (back) backward_.reserve(panels * panel * padded_);
    scratch_.resize(tensor::workers());
    tensor::for_each_task(panels, [&](std::size_t index, std::size_t worker) {
      float* const source = scratch_[worker].reserve(panel * padded_);
      for (std::size_t i = 0; i < panel; ++i) {
        const float* const row = rows(index, i);
        copy_padded(row, row == nullptr ? 0 : in, padded_, source + i * padded_);
      }
      if (ahead) pack_forward(index, source);
      if (back) pack_backward(index, source);
    });
  }

  /// Returns how many numbers of an input row a product reads.
  [[nodiscard]] std::size_t depth() const { return in_.width + in_.width % 2; }
  /// Returns the panels of inputs, which are the columns of the backward pass's factor.
  [[nodiscard]] const ColumnPanels& inputs() const { return in_; }

  /// Returns the factor [in, 64] of the forward pass.
  [[nodiscard]] const T* forward(std::size_t index) const {
    return forward_.data() + index * panel * padded_;
  }
  /// Returns the factor [panels · 64, inputs().columns(index)] of the backward pass.
  [[nodiscard]] const T* backward(std::size_t index) const {
    return backward_.data() + index * panel * panels_ * panel;
  }

 private:
  void pack_forward(std::size_t index, const float* source) {
    kernels::pack_transposed_panel(source, padded_, padded_, panel,
                                   forward_.data() + index * panel * padded_);
  }

  void pack_backward(std::size_t index, const float* source) {
    for (std::size_t i = 0; i < in_.count(); ++i) {
      const std::size_t columns = in_.columns(i);
      kernels::pack_panel(source + i * panel, padded_, panel, columns,
                          backward_.data() + i * panel * panels_ * panel + index * panel * columns);
    }
  }

  std::size_t panels_ = 0;
  ColumnPanels in_{0};
  std::size_t padded_ = 0;
  Buffer<T> forward_;
  Buffer<T> backward_;
  std::vector<Buffer<float>> scratch_;
};

/// Inputs of a linear layer, packed for the gradients of its weights.
template <class T>
class PackedInputs {
 public:
  /// Packs x [rows, in], rows `ld` apart; rows is a multiple of 32.
  void pack(const T* x, std::size_t ld, std::size_t rows, std::size_t in) {
    rows_ = rows;
    in_ = {in};
    T* const packed = packed_.reserve(rows * round_up(in, kernels::lanes));
    tensor::for_each_task(rows / padded_to, [&](std::size_t index, std::size_t) {
      const std::size_t row = index * padded_to;
      for (std::size_t i = 0; i < in_.count(); ++i) {
        const std::size_t columns = in_.columns(i);
        kernels::pack_panel(x + row * ld + i * panel, ld, padded_to, columns,
                            packed + i * panel * rows + row * columns);
      }
    });
  }

  [[nodiscard]] const ColumnPanels& inputs() const { return in_; }

  /// Transposes the gradients [rows, 64] of some outputs, rows `ld` apart, for `multiply`. Adds
  /// their sums to `sums` [64].
  void transpose(const T* gradient, std::size_t ld, T* transposed, float* sums) const {
    for_each_block([&](std::size_t row, std::size_t size) {
      kernels::transpose_and_sum(gradient + row * ld, ld, size, panel, transposed + row * panel,
                                 sums);
    });
  }

  /// Writes the gradients of 64 outputs' weights for the inputs of panel `index` to `to` [64, 64].
  void multiply(const T* transposed, std::size_t index, float* to) const {
    const std::size_t columns = in_.columns(index);
    const T* const factor = packed_.data() + index * panel * rows_;
    for_each_block([&](std::size_t row, std::size_t size) {
      multiply_panel(panel, size, transposed + row * panel, size, factor + row * columns, to, panel,
                     row > 0, columns);
    });
  }

 private:
  template <class Use>
  void for_each_block(const Use& use) const {
    constexpr std::size_t most = 512;
    for (std::size_t row = 0; row < rows_; row += most) use(row, std::min(most, rows_ - row));
  }

  std::size_t rows_ = 0;
  ColumnPanels in_{0};
  Buffer<T> packed_;
};

}  // namespace seqtrain::model::cpu
