// Regression with a variance: the head gives a mean and the logarithm of a variance, which learn by
// the negative log-likelihood of a normal distribution (Nix and Weigend 1994).
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <torch/nn/modules/linear.h>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct Gaussian : torch::nn::Module {
  Gaussian(std::int64_t hidden_size, std::int64_t)
      : out{register_module("out", torch::nn::Linear(hidden_size, 2))} {}
  /// The first output of a row is the value of a regression; metrics take both.
  at::Tensor forward(const at::Tensor& pooled) { return out(pooled); }
  torch::nn::Linear out;
};

/// The negative log-likelihood without its constant.
struct NegativeLogLikelihood {
  at::Tensor operator()(const at::Tensor& outputs, const tensor::Batch& batch) const {
    const at::Tensor error = (outputs.select(1, 0) - batch.targets.select(1, 0)).square();
    const at::Tensor log_variance = outputs.select(1, 1);
    return 0.5 * (log_variance + error * log_variance.neg().exp());
  }
};

/// The share of targets within the central interval that should have 90 % of them.
struct Coverage {
  static constexpr std::string_view name = "coverage";
  void add(const metrics::Logits& outputs, std::span<const float> targets) {
    for (Eigen::Index row = 0; row < outputs.rows(); ++row) {
      const float error = outputs(row, 0) - targets[static_cast<std::size_t>(row)];
      within += std::abs(error) < 1.645F * std::exp(outputs(row, 1) / 2);
      ++all;
    }
  }
  void merge(const Coverage& other) { within += other.within, all += other.all; }
  double value() const { return static_cast<double>(within) / static_cast<double>(all); }
  std::int64_t within = 0, all = 0;
};

int main(int argc, char** argv) {
  cli::TrainFlags defaults;
  defaults.problem_type = "regression";
  const experiment::ProgramOptions options{.name = "own_gaussian",
                                           .defaults = defaults,
                                           .head = model::own_head<Gaussian>(model::Pooling::mean)};
  return experiment::run(argc, argv, options, [](experiment::Run& run) {
    auto model = run.model();
    model.model().set_loss(NegativeLogLikelihood{});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()}, Coverage{});
  });
}
