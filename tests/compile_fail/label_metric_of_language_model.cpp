// error: a metric counts labels or targets, but the model is evaluated by its loss
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

#ifdef MISTAKE
using Model = WordModel;
#else
using Model = FakeModel;
#endif

int main() {
  seqtrain::Trainer trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, FakeLoader{{1, 2}, 1}, seqtrain::metrics::Matthews{});
}
