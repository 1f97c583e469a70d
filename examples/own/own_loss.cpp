// A loss of your own: the squared distance between the probabilities and the label.
#include <utility>

#include <ATen/ops/one_hot.h>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct Brier {
  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    const at::Tensor label = at::one_hot(batch.labels.to(at::kLong), logits.size(1));
    return (logits.softmax(1) - label).square().sum(1);
  }
};

int main(int argc, char** argv) {
  return experiment::run(argc, argv, {.name = "own_loss"}, [](experiment::Run& run) {
    auto model = run.model();
    model.model().set_loss(Brier{});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
