// Two heads on one encoder: one gives the label, and the other helps it to learn by telling whether
// the label is the first one.
#include <cstdint>
#include <utility>

#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <torch/nn/modules/linear.h>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct TwoHeads : torch::nn::Module {
  TwoHeads(std::int64_t hidden_size, std::int64_t labels)
      : label{register_module("label", torch::nn::Linear(hidden_size, labels))},
        is_first{register_module("is_first", torch::nn::Linear(hidden_size, 1))} {}

  at::Tensor forward(const at::Tensor& pooled) {
    if (!is_training()) return label(pooled);
    return at::cat({label(pooled), is_first(pooled)}, 1);
  }

  torch::nn::Linear label, is_first;
};

struct TwoLosses {
  std::int64_t labels;
  double weight;  ///< of the second head's loss

  at::Tensor operator()(const at::Tensor& outputs, const tensor::Batch& batch) const {
    const at::Tensor label = batch.labels.to(at::kLong), logits = outputs.narrow(1, 0, labels);
    const at::Tensor losses = at::cross_entropy_loss(logits, label, {}, at::Reduction::None);
    if (outputs.size(1) == labels) return losses;  // an evaluation
    return losses + weight * at::binary_cross_entropy_with_logits(
                                 outputs.select(1, labels), label.eq(0).to(outputs.scalar_type()),
                                 {}, {}, at::Reduction::None);
  }
};

int main(int argc, char** argv) {
  double weight = 0.5;
  const experiment::ProgramOptions options{
      .name = "own_two_heads",
      .head = model::own_head<TwoHeads>(model::Pooling::mean),
      .add_flags = [&](auto& flags) { flags.add("weight", weight, "weight of the second loss"); }};
  return experiment::run(argc, argv, options, [&](experiment::Run& run) {
    auto model = run.model();
    model.model().set_loss(TwoLosses{static_cast<std::int64_t>(run.labels().size()), weight});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
