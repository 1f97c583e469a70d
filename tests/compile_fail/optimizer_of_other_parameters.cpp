// error: the optimizer steps another parameter_type than the model has
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

#ifdef MISTAKE
struct OtherParameter {};
#else
using OtherParameter = FakeParameter;
#endif

struct Sgd {
  using parameter_type = OtherParameter;
  void step(std::span<const OtherParameter>, seqtrain::optim::Step) {}
  double learning_rate() const { return 0.1; }
};

auto trainer = seqtrain::Trainer{FakeModel{}, Sgd{}, FakeLoader{{1, 2}, 1}, FakeSink{}};
