#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/core/random.hpp>
#include <seqtrain/data/loader.hpp>

#include "shape.hpp"
#include "support/lengths.hpp"

namespace seqtrain::bench {

/// Returns batches of random ids, as the loader makes them, with rows of `length_of_all` tokens or,
/// if that is 0, as long as MultiNLI's pairs.
inline std::vector<data::Batch> make_batches(std::size_t batch_size, const Shape& shape,
                                             std::uint32_t length_of_all) {
  const auto vocab_size = static_cast<std::size_t>(shape.vocab_size);
  random::Stream stream{2, random::Purpose::data};
  data::EncodedSet set{vocab_size, 0};
  for (std::uint32_t length : pair_lengths(4'000)) {
    if (length_of_all > 0) length = length_of_all;
    std::vector<std::int32_t> ids(length);
    for (auto& id : ids) id = 1 + static_cast<std::int32_t>(stream.below(vocab_size - 1));
    set.push_back(
        ids, length,
        static_cast<std::int32_t>(stream.below(static_cast<std::uint64_t>(shape.labels))));
  }
  data::BucketLoader loader{std::move(set), {.plan = {.batch_size = batch_size}, .seed = 1}};
  std::vector<data::Batch> batches;
  for (const data::Batch& batch : loader.epoch(0)) batches.push_back(batch);
  return batches;
}

}  // namespace seqtrain::bench
