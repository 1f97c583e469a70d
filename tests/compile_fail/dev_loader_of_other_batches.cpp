// error: the dev loader yields another batch_type than the model takes
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct OtherBatch {
  std::int64_t rows = 0;
  [[nodiscard]] std::int64_t tokens() const { return 0; }
};

#ifdef MISTAKE
using DevBatch = OtherBatch;
#else
using DevBatch = FakeBatch;
#endif

struct DevLoader {
  using batch_type = DevBatch;
  std::span<const DevBatch> epoch(std::int64_t) const { return {}; }
  std::int64_t batches_in(std::int64_t) const { return 0; }
  std::int64_t examples() const { return 0; }
};

int main() {
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, DevLoader{});
}
