// error: the trainer's model must come from run.model() or run.replicate(model)
#include <utility>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

void use(experiment::Run& run) {
#ifdef MISTAKE
  auto model = run.take_model();
#else
  auto model = run.model();
#endif
  auto optimizer = run.optimizer(model);
  run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
}
