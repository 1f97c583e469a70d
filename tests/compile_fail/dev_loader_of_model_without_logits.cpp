// error: the model cannot be evaluated: it needs logits(batch) and an output_type, or
// losses(batch) that returns metrics::RowLosses, or evaluate(batch)
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

class Model : public FakeModel {
#ifdef MISTAKE
 private:
  using FakeModel::logits;
#endif
};

int main() {
  seqtrain::Trainer trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, FakeLoader{{1, 2}, 1});
}
