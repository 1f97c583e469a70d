// error: optim::Any holds an optimizer that has state() and load_state(state, parameters)
#include <span>

#include <seqtrain/optim/any.hpp>

struct Still {
  using parameter_type = seqtrain::tensor::Parameter;
  void step(std::span<const parameter_type>, seqtrain::optim::Step) {}
  double learning_rate() const { return 0; }
#ifndef MISTAKE
  seqtrain::tensor::StateDict state() const {
    return {};
  }
  void load_state(std::span<const seqtrain::weights::TensorView>, std::span<const parameter_type>) {
  }
#endif
};

int main() {
  return seqtrain::optim::Any{Still{}}.learning_rate() > 0;
}
