// error: the model's losses(logits, batch) must be const and return metrics::RowLosses
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain;
using namespace seqtrain::tests;

struct Model : FakeModel {
#ifdef MISTAKE
  metrics::RowLosses losses(const metrics::Logits&, const FakeBatch&) {
    return {};
  }
#else
  metrics::RowLosses losses(const metrics::Logits&, const FakeBatch&) const {
    return {};
  }
#endif
};

auto trainer = Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
