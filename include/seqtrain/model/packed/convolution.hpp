#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/stack.h>

#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/packed/attention.hpp>

namespace seqtrain::model::packed {

/// The convolution beside the first layer on packed rows, and its numbers of one forward pass. Each
/// token's neighbours are copied beside it, so that the convolution is one product, whose gradients
/// are added in a fixed order. Autograd computes the backward pass, and the weights' gradients in
/// the type of the product.
class Convolution {
 public:
  explicit Convolution(ConvolutionParts parts) : parts_{std::move(parts)} {}

  /// Returns the output of the first layer with the convolution of `embedded` [tokens, hidden]
  /// added. The output is [tokens, hidden], or [rows, hidden] of first tokens. The product is
  /// computed in `type`.
  at::Tensor forward(const at::Tensor& embedded, const at::Tensor& output, const Rows& rows,
                     at::ScalarType type, bool training) {
    const at::AutoGradMode enabled{training};
    embedded_ = embedded.detach().set_requires_grad(training);
    output_ = output.detach().set_requires_grad(training);
    at::Tensor near = neighbours(embedded_.to(type), rows.positions.flatten(1));
    if (output.size(0) < near.size(0)) near = near.index_select(0, rows.first_tokens());
    at::Tensor mixed = at::linear(near, parts_.weight.flatten(1).to(type), parts_.bias.to(type));
    if (training && parts_.dropout > 0) {
      mixed = std::get<0>(at::native_dropout(mixed, parts_.dropout, true));
    }
    result_ = parts_.norm(output_.add(parts_.activation(mixed)));
    const at::Tensor result = result_.detach();
    if (!training) forget();
    return result;
  }

  /// Adds the gradients of the parameters. Returns that of the first layer's output, given that of
  /// the result.
  at::Tensor backward(const at::Tensor& gradient) {
    std::exchange(result_, {}).backward(gradient);
    return std::exchange(output_, {}).grad();
  }

  /// Returns the gradient of `embedded`. Call it once, after `backward`.
  at::Tensor d_embedded() { return std::exchange(embedded_, {}).grad(); }

  /// Frees the saved activations.
  void forget() { embedded_ = output_ = result_ = at::Tensor{}; }

 private:
  /// Returns the neighbours of each token and the token itself, [tokens, hidden · kernel]. They are
  /// zeros beyond the ends of the token's row. `position` is [tokens, 1].
  [[nodiscard]] at::Tensor neighbours(const at::Tensor& x, const at::Tensor& position) const {
    std::vector<at::Tensor> result;
    const std::int64_t reach = parts_.weight.size(2) / 2;
    for (std::int64_t before = reach; before >= -reach; --before) {
      if (before == 0) {
        result.push_back(x);
        continue;
      }
      // A token `before` places away is in the same row exactly if its position is less by that.
      const at::Tensor is_other = position.roll(before, 0).add(before).ne(position);
      result.push_back(x.roll(before, 0).masked_fill(is_other, 0));
    }
    return at::stack(result, 2).flatten(1);
  }

  ConvolutionParts parts_;
  at::Tensor embedded_, output_, result_;
};

}  // namespace seqtrain::model::packed
