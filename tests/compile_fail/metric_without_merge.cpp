// error: a metric has no merge(const Metric&), which adds what another object has counted
#include <cstdint>
#include <span>

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Count {
  const char* name = "count";
  void add(const seqtrain::metrics::Logits&, std::span<const std::int64_t> labels) {
    count += labels.size();
  }
#ifndef MISTAKE
  void merge(const Count& other) {
    count += other.count;
  }
#endif
  double value() const {
    return static_cast<double>(count);
  }
  std::size_t count = 0;
};

int main() {
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, FakeLoader{{1, 2}, 1}, Count{});
}
