// error: the loader has no epoch(number) that gives batches
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Loader {
  using batch_type = FakeBatch;
#ifndef MISTAKE
  std::span<const FakeBatch> epoch(std::int64_t) const {
    return {};
  }
#endif
  std::int64_t batches_in(std::int64_t) const {
    return 0;
  }
  std::int64_t examples() const {
    return 0;
  }
};

auto trainer = seqtrain::Trainer{FakeModel{}, FakeSgd{0.1}, Loader{}, FakeSink{}};
