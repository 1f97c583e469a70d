// error: the model's weight_of(batch) must be const and return a number
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Model : FakeModel {
#ifdef MISTAKE
  double weight_of(const FakeBatch& batch) {
    return static_cast<double>(batch.rows);
  }
#else
  double weight_of(const FakeBatch& batch) const {
    return static_cast<double>(batch.rows);
  }
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
