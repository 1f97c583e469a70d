#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/fresh_parameters.hpp>
#include <seqtrain/tensor/finite.hpp>

namespace seqtrain::model {

/// Returns the last, the greatest and the mean hidden state of each row's `lengths` [rows] tokens,
/// side by side: [rows, 3 · size] for hidden states [rows, width, size] (Howard and Ruder 2018,
/// section 3.3).
[[nodiscard]] inline at::Tensor concat_pooling(const at::Tensor& hidden,
                                               const at::Tensor& lengths) {
  const at::Tensor ends = lengths.to(at::kLong).view({-1, 1, 1});
  const at::Tensor columns = at::arange(hidden.size(1), ends.options()).view({1, -1, 1});
  const at::Tensor padding = columns.ge(ends);
  const at::Tensor last = hidden.gather(1, ends.sub(1).expand({-1, 1, hidden.size(2)})).squeeze(1);
  const auto lowest = -std::numeric_limits<float>::infinity();
  const at::Tensor greatest = std::get<0>(at::max(hidden.masked_fill(padding, lowest), 1));
  const at::Tensor mean =
      hidden.masked_fill(padding, 0).sum(1).div(lengths.to(hidden.scalar_type()).unsqueeze(1));
  return at::cat({last, greatest, mean}, 1);
}

/// The head of fastai's text classifiers: two linear layers with batch normalization and dropout
/// before each and ReLU between them. Parameters have fastai's names; those of the normalizations
/// do not decay.
class PoolingHead {
 public:
  /// The sizes and the dropout of a head.
  struct Options {
    std::int64_t in = 0;
    std::int64_t hidden = 50;
    std::int64_t labels = 0;
    double dropout_in = 0;
    double dropout_hidden = 0.1;
  };

  PoolingHead(FreshParameters& make, const Options& options, c10::Device device)
      : first_{make, "1.layers.0.", options.in, options.hidden, options.dropout_in, device},
        second_{make,           "1.layers.1.",          options.hidden,
                options.labels, options.dropout_hidden, device} {}

  /// Returns logits [rows, labels] for [rows, in]. With `training` and at least two rows, the
  /// batch's means and variances are used, and the running ones move if they stay finite.
  at::Tensor operator()(const at::Tensor& pooled, bool training, Dropout& dropout) {
    return second_(at::relu(first_(pooled, training, dropout)), training, dropout);
  }

  /// Returns the running means and variances by name. They are a part of the state but have no
  /// gradients.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> buffers() const {
    return {{first_.name + "0.running_mean", first_.mean},
            {first_.name + "0.running_var", first_.variance},
            {second_.name + "0.running_mean", second_.mean},
            {second_.name + "0.running_var", second_.variance}};
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& block : {first_.name, second_.name}) {
      for (const auto* part : {"0.weight", "0.bias", "2.weight"}) names.push_back(block + part);
    }
    return names;
  }

 private:
  struct Block {
    Block(FreshParameters& make, std::string prefix, std::int64_t in, std::int64_t out,
          double dropout_rate, c10::Device device)
        : name{std::move(prefix)},
          scale{make.without_decay(name + "0.weight", {in}, 1)},
          shift{make.without_decay(name + "0.bias", {in}, 0)},
          weight{
              make.uniform(name + "2.weight", {out, in}, 1 / std::sqrt(static_cast<double>(in)))},
          mean{at::zeros({in}, at::TensorOptions{at::kFloat}.device(device))},
          variance{at::ones({in}, at::TensorOptions{at::kFloat}.device(device))},
          rate{dropout_rate} {}

    at::Tensor operator()(const at::Tensor& x, bool training, Dropout& dropout) {
      const at::Tensor normal = training && x.size(0) > 1
                                    ? normalise_and_move(x)
                                    : normalise(x, mean, variance, /*by_batch=*/false);
      return at::linear(dropout(normal, rate), weight);
    }

    at::Tensor normalise(const at::Tensor& x, const at::Tensor& running_mean,
                         const at::Tensor& running_variance, bool by_batch) const {
      return at::batch_norm(x, scale, shift, running_mean, running_variance, by_batch,
                            /*momentum=*/0.1, /*eps=*/1e-5, /*cudnn_enabled=*/true);
    }

    /// Normalizes by the batch's mean and variance. The running ones move unless they would not be
    /// finite.
    at::Tensor normalise_and_move(const at::Tensor& x) const {
      const at::Tensor moved_mean = mean.clone();
      const at::Tensor moved_variance = variance.clone();
      const at::Tensor normal = normalise(x, moved_mean, moved_variance, /*by_batch=*/true);
      const at::Tensor good = tensor::stays_finite({mean, variance}, {moved_mean, moved_variance});
      mean.copy_(at::where(good, moved_mean, mean));
      variance.copy_(at::where(good, moved_variance, variance));
      return normal;
    }

    std::string name;
    at::Tensor scale, shift;    ///< [in]
    at::Tensor weight;          ///< [out, in]
    at::Tensor mean, variance;  ///< [in]
    double rate;
  };

  Block first_, second_;
};

}  // namespace seqtrain::model
