// An observer of your own: it logs the step with the largest loss of each epoch.
#include <cstdint>
#include <string>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

class Worst {
 public:
  explicit Worst(const log::Log& log) : log_{&log} {}

  void on(const train::StepEnd& event) {
    const double loss = event.loss();
    if (loss > loss_) step_ = event.step, loss_ = loss;
  }
  void on(const train::EpochEnd&) {
    log_->info("Worst step: " + std::to_string(step_) + ", loss " + std::to_string(loss_));
    loss_ = 0;
  }

 private:
  const log::Log* log_;
  std::int64_t step_ = 0;
  double loss_ = 0;
};

int main(int argc, char** argv) {
  return experiment::run(argc, argv, {.name = "own_observer"},
                         [](experiment::Run& run) { run.fit(run.trainer(), Worst{run.log()}); });
}
