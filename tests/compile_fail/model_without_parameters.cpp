// error: the model has no parameters() that returns a span of its parameter_type
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

class Model : public FakeModel {
#ifdef MISTAKE
 private:
  using FakeModel::parameters;
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
