#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/train/state.hpp>

namespace seqtrain::train {

/// Training is about to start.
struct FitBegin {
  std::int64_t epochs = 0;
  std::int64_t steps = 0;     ///< optimizer steps of the whole run
  std::int64_t examples = 0;  ///< of one epoch
  Position position = {};     ///< how far the run is already
};

/// An optimizer step has been taken.
struct StepEnd {
  std::int64_t step = 0;      ///< counted from 1 over the whole run
  std::int64_t steps = 0;     ///< of the whole run
  std::int64_t epoch = 0;     ///< counted from 1
  std::int64_t batch = 0;     ///< batches of this epoch that are done, counted from 1
  std::int64_t batches = 0;   ///< batches of this epoch
  std::int64_t examples = 0;  ///< of this step
  std::int64_t tokens = 0;    ///< of this step, without padding
  double learning_rate = 0;
  /// The mean loss over this step's examples. It may lie on a device: asking for it waits.
  const std::function<double()>& loss;
};

/// A step was skipped because its gradients were not finite: the parameters are unchanged.
struct StepSkipped {
  std::int64_t step = 0;     ///< counted from 1 over the whole run
  std::int64_t skipped = 0;  ///< of the run so far
  std::string_view problem;
};

/// Something that people should know: a checkpoint that failed, what was resumed.
struct Notice {
  std::string_view text;
};

/// A part of an evaluation has been done.
struct EvalStep {
  std::string_view split;  ///< "dev", "test"
  std::int64_t batch = 0;
  std::int64_t batches = 0;
  std::int64_t examples = 0;  ///< of this batch
  std::int64_t tokens = 0;
};

struct EvalEnd {
  std::string_view split;
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t step = 0;   ///< optimizer steps done
  double seconds = 0;
  const metrics::ClassificationReport& report;
};

struct EpochEnd {
  std::int64_t epoch = 0;
  std::int64_t epochs = 0;
};

struct FitEnd {
  std::int64_t step = 0;
  double seconds = 0;
};

}  // namespace seqtrain::train
