// error: find_learning_rate puts the weights back, but the model has no state_dict
#include <seqtrain/train/find_learning_rate.hpp>
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
  Model model;
  FakeLoader loader{{1, 2}, 1};
  (void)seqtrain::train::find_learning_rate(model, FakeSgd{0.1}, loader);
}
