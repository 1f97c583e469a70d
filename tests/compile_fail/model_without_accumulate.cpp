// error: the model has no accumulate(batch, weight) that returns its loss_type
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

class Model : public FakeModel {
#ifdef MISTAKE
 private:
  using FakeModel::accumulate;
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
