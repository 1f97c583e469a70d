// error: run.replicate takes a model that has accumulate and parameters, and logits or losses of
// data::Batch
#include <span>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct OwnModel {
  using batch_type = data::Batch;
  using parameter_type = tensor::Parameter;
  using output_type = metrics::Logits;
  using loss_type = model::MeanLoss;
  model::MeanLoss accumulate(const data::Batch&, double) { return model::MeanLoss{at::Tensor{}}; }
#ifndef MISTAKE
  metrics::Logits logits(const data::Batch&) {
    return {};
  }
#endif
  [[nodiscard]] std::span<const tensor::Parameter> parameters() const {
    return {};
  }
};

void use(experiment::Run& run) {
  static_cast<void>(run.replicate(OwnModel{}));
}
