#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/data/plan.hpp>

#include "support/lengths.hpp"

namespace seqtrain::bench {

/// The rows of an epoch, which do not fit into a core's caches.
struct Epoch {
  explicit Epoch(std::size_t batch_size) {
    random::Stream stream{2, random::Purpose::data};
    std::vector<std::int32_t> ids;
    for (const std::uint32_t length : pair_lengths(200'000)) {
      ids.resize(length);
      for (auto& id : ids) id = static_cast<std::int32_t>(stream.below(30'522));
      set.push_back(ids, length / 2, 0);
    }
    options.batch_size = batch_size;
    plan = data::make_plan(set.lengths(), options, 1, 0);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      data::Batch batch;
      data::collate(set, plan[i], options, batch);
      bytes += bytes_of(batch);
      tokens += static_cast<std::size_t>(batch.tokens());
    }
  }

  /// Returns the bytes of the batch's two matrices.
  static std::size_t bytes_of(const data::Batch& batch) {
    return 2 * sizeof(std::int32_t) * batch.input_ids.size();
  }

  data::EncodedSet set{30'522, 0};
  data::PlanOptions options;
  data::BatchPlan plan;
  std::size_t bytes = 0;
  std::size_t tokens = 0;
};

}  // namespace seqtrain::bench
