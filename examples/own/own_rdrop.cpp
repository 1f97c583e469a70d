// R-Drop (Liang et al. 2021): a step reads each text twice with different dropout, and the loss
// draws the two answers together.
#include <utility>

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

/// Cross-entropy, plus alpha times the symmetric KL divergence of a row's two answers.
struct RDropLoss {
  double alpha;

  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    at::Tensor losses =
        at::cross_entropy_loss(logits, batch.labels.to(at::kLong), {}, at::Reduction::None);
    if (!logits.requires_grad()) return losses;  // an evaluation reads a text once
    const auto answers = logits.log_softmax(1).chunk(2);
    const at::Tensor &a = answers[0], &b = answers[1];
    const at::Tensor divergence = ((a.exp() - b.exp()) * (a - b)).sum(1) / 2;
    return losses + alpha * divergence.repeat(2);
  }
};

class RDrop : public model::AnyClassifier {
 public:
  RDrop(model::AnyClassifier model, double alpha) : model::AnyClassifier{std::move(model)} {
    set_loss(RDropLoss{alpha});
  }

  model::MeanLoss accumulate(data::Batch batch, double weight) {
    const auto repeat = [](auto& numbers) {
      const auto once = numbers;
      numbers.insert(numbers.end(), once.begin(), once.end());
    };
    batch.rows *= 2;
    repeat(batch.input_ids), repeat(batch.token_type_ids), repeat(batch.lengths);
    repeat(batch.labels), repeat(batch.targets), repeat(batch.row_ids);
    return model::AnyClassifier::accumulate(batch, weight);
  }
};

int main(int argc, char** argv) {
  double alpha = 1;
  const experiment::ProgramOptions options{.name = "own_rdrop", .add_flags = [&](auto& flags) {
                                             flags.add("alpha", alpha, "weight of the divergence");
                                           }};
  return experiment::run(argc, argv, options, [&](experiment::Run& run) {
    auto model = run.replicate(RDrop{run.take_model(), alpha});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
