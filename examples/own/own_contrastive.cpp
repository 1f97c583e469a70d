// A loss of your own that compares texts: an encoder of sentences learns that the two texts of a
// pair are alike. A batch's other second texts are the negatives (sentence-transformers'
// MultipleNegativesRankingLoss). Of pairs with labels only entailments are read.
#include <utility>

#include <ATen/core/Reduction.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linalg_vector_norm.h>

#include <seqtrain/experiment.hpp>
#include <seqtrain/model/loss_alone.hpp>

using namespace seqtrain;

/// Rows 2 i and 2 i + 1 are a pair, and share its loss.
struct InBatchNegatives {
  double scale;

  at::Tensor operator()(const at::Tensor& states, const tensor::Batch&) const {
    const at::Tensor unit = states / at::linalg_vector_norm(states, 2, 1, true).clamp_min(1e-12);
    const at::Tensor scores = scale * unit.slice(0, 0, {}, 2).matmul(unit.slice(0, 1, {}, 2).t());
    const at::Tensor own = at::arange(scores.size(0), scores.options().dtype(at::kLong));
    return at::cross_entropy_loss(scores, own, {}, at::Reduction::None).repeat_interleave(2);
  }
};

int main(int argc, char** argv) {
  double scale = 20;
  const experiment::ProgramOptions options{
      .name = "own_contrastive",
      .purpose = "trains an encoder of sentences on pairs",
      .head = model::no_head(model::Pooling::mean),
      .add_flags = [&](auto& flags) { flags.add("scale", scale, "factor of the cosines"); },
      .scored_by_loss = true,
      .texts_apart = true,
      .reads = [](const auto& pair) { return pair.label.value_or("entailment") == "entailment"; }};
  return experiment::run(argc, argv, options, [&](experiment::Run& run) {
    auto model = run.replicate(model::LossAlone{run.take_model(), InBatchNegatives{scale}});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
