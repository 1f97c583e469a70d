// error: the trainer's model must take data::Batch
#include <span>
#include <utility>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct Rows : data::Batch {};

#ifdef MISTAKE
using Taken = Rows;
#else
using Taken = data::Batch;
#endif

struct OwnModel {
  using batch_type = Taken;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = model::MeanLoss;
  model::MeanLoss accumulate(const Taken&, double) { return model::MeanLoss{at::Tensor{}}; }
  metrics::Logits logits(const Taken&) { return {}; }
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const { return {}; }
  [[nodiscard]] tensor::StateDict state_dict() const { return tensor::StateDict{parameters()}; }
  void load_state_dict(std::span<const weights::TensorView>) {}
};

struct OwnLoader {
  using batch_type = Taken;
  std::span<const Taken> epoch(std::int64_t) { return {}; }
  std::int64_t batches_in(std::int64_t) const { return 0; }
  std::int64_t examples() const { return 0; }
};

void use(experiment::Run& run) {
  auto model = run.replicate(OwnModel{});
  auto optimizer = run.optimizer(model);
  run.fit(Trainer{std::move(model), std::move(optimizer), OwnLoader{}, run.sink()});
}
