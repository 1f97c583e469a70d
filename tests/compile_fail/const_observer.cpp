// error: an observer is const, but its on(event) is not
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Observer {
#ifdef MISTAKE
  void on(const seqtrain::train::StepEnd&) {}
#else
  void on(const seqtrain::train::StepEnd&) const {}
#endif
};

int main() {
  const Observer observer;
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, observer);
}
