#pragma once

#include <cstddef>
#include <limits>
#include <memory>

#include <seqtrain/experiment/run_observers.hpp>
#include <seqtrain/experiment/watch.hpp>
#include <seqtrain/report/logged_loss.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::experiment {

struct Watch::State {
  run::KeptPredictions predictions;
  RunObservers observers = {};
  report::MeanLoss steps = {};
  std::size_t evaluated_epoch = 0;
  double training_loss = std::numeric_limits<double>::quiet_NaN();

  /// The observers may ask for the predictions, which get each event before them.
  template <class Event>
  void tell(const Event& event) {
    train::notify(event, predictions, observers);
  }
};

SEQTRAIN_SEPARATE Watch::Watch(bool keeps_predictions)
    : state_{
          std::make_unique<State>(State{.predictions = run::KeptPredictions{keeps_predictions}})} {}
SEQTRAIN_SEPARATE Watch::~Watch() = default;

SEQTRAIN_SEPARATE void Watch::on(const train::FitBegin& event) {
  state_->tell(event);
}
SEQTRAIN_SEPARATE void Watch::on(const train::StepEnd& event) {
  state_->tell(event);
  state_->steps.add(event.loss);
}
SEQTRAIN_SEPARATE void Watch::on(const train::StepSkipped& event) {
  state_->tell(event);
}
SEQTRAIN_SEPARATE void Watch::on(const train::Notice& event) {
  state_->tell(event);
}
SEQTRAIN_SEPARATE void Watch::on(const train::EvalBegin& event) {
  state_->tell(event);
}
SEQTRAIN_SEPARATE void Watch::on(const train::EvalStep& event) {
  state_->tell(event);
}
SEQTRAIN_SEPARATE void Watch::on(const train::EvalPredictions& event) {
  state_->tell(event);
}
SEQTRAIN_SEPARATE void Watch::on(const train::EvalEnd& event) {
  state_->tell(event);
  if (event.split != "dev") return;
  state_->evaluated_epoch = static_cast<std::size_t>(event.epoch);
  state_->training_loss = state_->steps.take();
}
SEQTRAIN_SEPARATE void Watch::on(const train::EpochEnd& event) {
  state_->tell(event);
}
SEQTRAIN_SEPARATE void Watch::on(const train::FitEnd& event) {
  state_->tell(event);
}

SEQTRAIN_SEPARATE run::KeptPredictions& Watch::predictions() {
  return state_->predictions;
}
SEQTRAIN_SEPARATE RunObservers& Watch::observers() {
  return state_->observers;
}
SEQTRAIN_SEPARATE std::size_t Watch::evaluated_epoch() const {
  return state_->evaluated_epoch;
}
SEQTRAIN_SEPARATE double Watch::training_loss() const {
  return state_->training_loss;
}

}  // namespace seqtrain::experiment
