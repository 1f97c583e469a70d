#pragma once

#include <cstddef>
#include <memory>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::run {
class KeptPredictions;
}  // namespace seqtrain::run

namespace seqtrain::experiment {

class RunObservers;

/// The observer of a run's fit. It keeps predictions and tells all that the first process writes
/// about the run. Its functions are compiled once for all programs.
class Watch {
 public:
  /// Only the first process keeps predictions.
  explicit Watch(bool keeps_predictions);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  void on(const train::FitBegin& event);
  void on(const train::StepEnd& event);
  void on(const train::StepSkipped& event);
  void on(const train::Notice& event);
  void on(const train::EvalBegin& event);
  void on(const train::EvalStep& event);
  void on(const train::EvalPredictions& event);
  void on(const train::EvalEnd& event);
  void on(const train::EpochEnd& event);
  void on(const train::FitEnd& event);

  [[nodiscard]] run::KeptPredictions& predictions();
  /// Returns the observers that write to the run's directory. Those of other processes do nothing.
  [[nodiscard]] RunObservers& observers();
  /// Returns the number of epochs done before the last evaluation on dev.
  [[nodiscard]] std::size_t evaluated_epoch() const;
  /// Returns the mean loss of the steps of that epoch that this process has taken, or NaN if it
  /// took none.
  [[nodiscard]] double training_loss() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace seqtrain::experiment

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/experiment/src/watch.hpp>
#endif
