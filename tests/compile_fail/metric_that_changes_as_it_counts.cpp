// error: a metric's counts(ProblemType) must be const and return a bool
#include <cstdint>
#include <span>

#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Count {
  const char* name = "count";
  void add(const seqtrain::metrics::Logits&, std::span<const std::int64_t> labels) {
    count += labels.size();
  }
  void merge(const Count& other) { count += other.count; }
  double value() const { return static_cast<double>(count); }
  bool counts(seqtrain::ProblemType)
#ifndef MISTAKE
      const
#endif
  {
    return true;
  }
  std::size_t count = 0;
};

int main() {
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, FakeLoader{{1, 2}, 1}, Count{});
}
