// error: an observer's should_stop() must be const and return a bool
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Observer {
  void on(const seqtrain::train::StepEnd&) {}
#ifdef MISTAKE
  bool should_stop() {
    return false;
  }
#else
  bool should_stop() const {
    return false;
  }
#endif
};

int main() {
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, Observer{});
}
