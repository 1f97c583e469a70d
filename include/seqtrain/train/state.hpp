#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

/// The progress of a fit. An epoch counts as done only after its evaluation.
struct Position {
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t batch = 0;  ///< batches of the current epoch that are done
  std::int64_t step = 0;   ///< optimizer steps done

  friend bool operator==(const Position&, const Position&) = default;
};

/// Returns `epoch 1, step 37`, with epochs counted from 1.
inline std::string describe(const Position& position) {
  return "epoch " + std::to_string(position.epoch + 1) + ", step " + std::to_string(position.step);
}

/// The state of a fit without tensors. The order of the data and the dropout masks follow from the
/// seed and the position, so it holds no state of a random generator.
struct State {
  Position position = {};
  std::int64_t skipped_steps = 0;  ///< steps skipped because a gradient was not finite
  std::vector<metrics::ClassificationReport> dev = {};  ///< dev figures after each epoch
};

/// A function that takes the tensors of one owner: "model", "optimizer" or "best_model".
using VisitTensors =
    std::function<void(std::string_view owner, std::span<const weights::TensorView> tensors)>;

}  // namespace seqtrain::train
