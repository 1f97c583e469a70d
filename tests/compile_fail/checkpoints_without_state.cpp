// error: an observer saves checkpoints, but the model or the optimizer has no state_dict
#include <seqtrain/train/checkpoints.hpp>
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

#ifdef MISTAKE
struct Model : FakeModel {
  void state_dict() const {}
};
#else
using Model = FakeModel;
#endif

int main() {
  seqtrain::train::Checkpoints checkpoints{{.directory = "checkpoints"}};
  seqtrain::Trainer trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, checkpoints);
}
