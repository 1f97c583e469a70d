// error: the loader yields another batch_type than the model takes
#include <seqtrain/data/batch.hpp>
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

#ifdef MISTAKE
using OtherBatch = seqtrain::data::Batch;
#else
using OtherBatch = FakeBatch;
#endif

struct Loader {
  using batch_type = OtherBatch;
  std::span<const OtherBatch> epoch(std::int64_t) const { return {}; }
  std::int64_t batches_in(std::int64_t) const { return 0; }
  std::int64_t examples() const { return 0; }
};

auto trainer = seqtrain::Trainer{FakeModel{}, FakeSgd{0.1}, Loader{}, FakeSink{}};
