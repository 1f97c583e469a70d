// error: the model needs both state_dict(), whose views() are tensors, and load_state_dict(tensors)
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

class Model : public FakeModel {
#ifdef MISTAKE
 private:
  using FakeModel::load_state_dict;
#endif
};

auto trainer = seqtrain::Trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
