// error: a metric counts targets, but the model has no problem_type(), so its examples have labels
#include <span>

#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Count {
  const char* name = "count";
  void add(const seqtrain::metrics::Logits&, std::span<const float> targets) {
    count += targets.size();
  }
  void merge(const Count& other) { count += other.count; }
  double value() const { return static_cast<double>(count); }
  std::size_t count = 0;
};

struct Model : FakeModel {
#ifndef MISTAKE
  seqtrain::ProblemType problem_type() const {
    return seqtrain::ProblemType::regression;
  }
#endif
};

int main() {
  seqtrain::Trainer trainer{Model{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, FakeLoader{{1, 2}, 1}, Count{});
}
