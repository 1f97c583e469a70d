// error: BestModel keeps the best parameters, but the model has no state_dict
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

class Model : public FakeModel {
#ifdef MISTAKE
 private:
  using FakeModel::load_state_dict;
  using FakeModel::state_dict;
#endif
};

int main() {
  seqtrain::Trainer trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, FakeLoader{{1, 2}, 1}, seqtrain::train::BestModel{});
}
