// A training step of your own, with two passes: after the first one the embeddings are moved along
// their gradient, and the model learns from both (FGM: Miyato et al. 2017).
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

class Fgm : public model::AnyClassifier {
 public:
  Fgm(model::AnyClassifier model, double epsilon)
      : model::AnyClassifier{std::move(model)}, epsilon_{epsilon} {}

  model::MeanLoss accumulate(const data::Batch& batch, double weight) {
    auto loss = model::AnyClassifier::accumulate(batch, weight);
    const at::NoGradGuard no_gradients;
    std::vector<std::pair<at::Tensor, at::Tensor>> before;
    for (const auto& parameter : parameters()) {
      if (parameter.role != tensor::Role::words || !parameter.gradient.defined()) continue;
      const at::Tensor norm = parameter.gradient.norm();
      if (norm.item<float>() == 0) continue;
      before.emplace_back(parameter.value, parameter.value.clone());
      parameter.value.add_(parameter.gradient / norm, epsilon_);
    }
    (void)model::AnyClassifier::accumulate(batch, weight);
    for (const auto& [value, old] : before) value.copy_(old);
    return loss;
  }

 private:
  double epsilon_;
};

int main(int argc, char** argv) {
  double epsilon = 0.5;
  const experiment::ProgramOptions options{
      .name = "own_step", .add_flags = [&](cli::Flags& flags) {
        flags.add("epsilon", epsilon, "length of the step along the gradient of the embeddings");
      }};
  return experiment::run(argc, argv, options, [&](experiment::Run& run) {
    auto model = run.replicate(Fgm{run.take_model(), epsilon});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
