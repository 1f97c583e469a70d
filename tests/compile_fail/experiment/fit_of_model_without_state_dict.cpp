// error: a model of run.fit needs state_dict() and load_state_dict(tensors)
#include <span>
#include <utility>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct OwnModel {
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = model::MeanLoss;
  model::MeanLoss accumulate(const data::Batch&, double) { return model::MeanLoss{at::Tensor{}}; }
  metrics::Logits logits(const data::Batch&) { return {}; }
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const { return {}; }
#ifndef MISTAKE
  [[nodiscard]] tensor::StateDict state_dict() const {
    return tensor::StateDict{parameters()};
  }
  void load_state_dict(std::span<const weights::TensorView>) {}
#endif
};

void use(experiment::Run& run) {
  auto model = run.replicate(OwnModel{});
  auto optimizer = run.optimizer(model);
  run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
}
