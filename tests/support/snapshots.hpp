#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <seqtrain/checkpoint/checkpoint.hpp>

#include "support/run_events.hpp"

namespace seqtrain::tests {

/// Writes a copy of a fit as a checkpoint into the folder `folder` of a store.
template <class Directory>
void write_snapshot(Directory& store, const std::string& folder,
                    const checkpoint::Snapshot& snapshot, const checkpoint::RunDescription& run) {
  snapshot.view(
      [&](const train::FitView& fit) { checkpoint::write_checkpoint(store, folder, fit, run); });
}

/// Returns a fit after this many steps, with a model of three numbers.
inline checkpoint::Snapshot some_snapshot(std::int64_t step) {
  const std::array<float, 3> numbers{0.5F, -1.0F, static_cast<float>(step)};
  const weights::TensorView tensor{
      "weight", weights::DType::f32, {3}, std::as_bytes(std::span{numbers})};
  checkpoint::Snapshot snapshot;
  snapshot.state = {.position = {.epoch = 1, .batch = 2, .step = step},
                    .skipped_steps = 1,
                    .dev = {some_report()}};
  snapshot.tensors["model"].assign({&tensor, 1});
  snapshot.tensors["optimizer"].assign({&tensor, 1});
  return snapshot;
}

}  // namespace seqtrain::tests
