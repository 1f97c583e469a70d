// error: an observer hears nothing: it needs on(const train::StepEnd&) or the like
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Observer {
#ifdef MISTAKE
  void on(int) {}
#else
  void on(const seqtrain::train::EvalEnd&) {}
#endif
};

int main() {
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.evaluate(FakeLoader{{1, 2}, 1}, {.split = "test"}, Observer{});
}
