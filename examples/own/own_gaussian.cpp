// Regression with a variance: the head gives a mean and the logarithm of a variance, which learn by
// the negative log-likelihood of a normal distribution (Nix and Weigend 1994).
#include <cstdint>
#include <utility>

#include <torch/nn/modules/linear.h>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct Gaussian : torch::nn::Module {
  Gaussian(std::int64_t hidden_size, std::int64_t)
      : out{register_module("out", torch::nn::Linear(hidden_size, 2))} {}

  /// An evaluation gets the means, which are the values of a regression.
  at::Tensor forward(const at::Tensor& pooled) {
    return is_training() ? out(pooled) : out(pooled).narrow(1, 0, 1);
  }

  torch::nn::Linear out;
};

/// The negative log-likelihood without its constant; in an evaluation the squared error.
struct NegativeLogLikelihood {
  at::Tensor operator()(const at::Tensor& outputs, const tensor::Batch& batch) const {
    const at::Tensor error = (outputs.select(1, 0) - batch.targets.select(1, 0)).square();
    if (outputs.size(1) == 1) return error;
    const at::Tensor log_variance = outputs.select(1, 1);
    return 0.5 * (log_variance + error * log_variance.neg().exp());
  }
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
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
