// error: run.fit takes a seqtrain::Trainer
#include <seqtrain/experiment.hpp>

using namespace seqtrain;

void use(experiment::Run& run) {
#ifdef MISTAKE
  run.fit(run.model());
#else
  run.fit(run.trainer());
#endif
}
