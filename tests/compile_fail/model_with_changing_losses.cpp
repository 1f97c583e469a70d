// error: the model's losses(logits, batch) must be const and return metrics::RowLosses
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;
using seqtrain::metrics::Logits;
using seqtrain::metrics::RowLosses;

struct Model : FakeModel {
#ifdef MISTAKE
  RowLosses losses(const Logits&, const FakeBatch&) {
    return {};
  }
#else
  RowLosses losses(const Logits&, const FakeBatch&) const {
    return {};
  }
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
