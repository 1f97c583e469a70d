// error: the model's losses(batch) must return metrics::RowLosses
#include <vector>

#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct OwnLosses {
  std::vector<double> losses, weights;
};

struct Model : FakeModel {
#ifdef MISTAKE
  static OwnLosses losses(const FakeBatch&) {
    return {};
  }
#else
  static seqtrain::metrics::RowLosses losses(const FakeBatch&) {
    return {};
  }
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
