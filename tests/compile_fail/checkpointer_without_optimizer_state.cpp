// error: a checkpointer saves checkpoints, but the model or the optimizer has no state_dict
#include <seqtrain/checkpoint.hpp>
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

#ifdef MISTAKE
struct Sgd : FakeSgd {
  using FakeSgd::FakeSgd;
  void state() const {}
};
#else
using Sgd = FakeSgd;
#endif

int main() {
  seqtrain::checkpoint::Checkpoints checkpoints{seqtrain::sink::Directory{"run"}, nullptr, {}};
  seqtrain::Trainer trainer{FakeModel{}, Sgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, checkpoints);
}
