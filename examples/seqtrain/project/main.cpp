// Fine-tunes a classifier with a loss of its own. Its flags are those of `seqtrain train`.
#include <utility>

#include <seqtrain/experiment.hpp>

#include "loss.hpp"

using namespace seqtrain;

int main(int argc, char** argv) {
  return experiment::run(argc, argv, {.name = "PROJECT"}, [](experiment::Run& run) {
    auto model = run.model();
    model.model().set_loss(Brier{});
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
}
