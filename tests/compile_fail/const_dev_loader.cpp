// error: the dev loader must not be const
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

int main() {
#ifdef MISTAKE
  const FakeLoader dev{{1, 2}, 1};
#else
  FakeLoader dev{{1, 2}, 1};
#endif
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, dev);
}
