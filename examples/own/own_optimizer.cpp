// An optimizer of your own: it follows the sign of each gradient's mean over the last steps.
#include <utility>

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_sign.h>

#include <seqtrain/experiment.hpp>
#include <seqtrain/optim/by_rule.hpp>

using namespace seqtrain;

/// Signum, of Bernstein et al. 2018. `optim::ByRule` clips the gradients, skips steps whose
/// gradients are not finite, and saves and loads the means.
struct SignumRule {
  using Options = optim::RuleOptions;
  Options options;

  optim::StateTensors fresh(const tensor::Parameter& parameter) const {
    return {{"mean", optim::zeros_for(parameter)}};
  }

  void update(const optim::Group<>& group, const optim::Rates& rates) const {
    const auto means = group.state(0);
    at::_foreach_lerp_(means, group.gradients, 1 - rates.momentum.value_or(0.9));
    group.decay(rates);
    at::_foreach_add_(group.values, at::_foreach_sign(means), -rates.lr);
  }
};
using Signum = optim::ByRule<SignumRule>;

int main(int argc, char** argv) {
  cli::TrainFlags defaults;
  defaults.learning_rate = 1e-4;
  const experiment::ProgramOptions options{.name = "own_optimizer", .defaults = defaults};
  return experiment::run(argc, argv, options, [](experiment::Run& run) {
    optim::Averaged optimizer{optim::Any{Signum{{.lr = run.flags().learning_rate}}, "signum"},
                              run.flags().ema_decay};
    run.fit(Trainer{run.model(), std::move(optimizer), run.batches(), run.sink()});
  });
}
