#pragma once

#include <chrono>
#include <cmath>
#include <string>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::train {

SEQTRAIN_SEPARATE std::string make_run_id() {
  return "run_" + dated(std::chrono::system_clock::now()) + "_" + random_token().substr(0, 8);
}

SEQTRAIN_SEPARATE void CheckpointOptions::validate() const {
  const Demand demand{"checkpoint"};
  demand(every >= 0, "every", "must not be negative");
  demand(std::isfinite(minutes) && minutes >= 0, "minutes", "must be a number, not negative");
  demand(keep >= 1, "keep", "must be at least 1");
  demand(!resume.empty(), "resume", "must be auto, never or a checkpoint's directory");
}

}  // namespace seqtrain::train
