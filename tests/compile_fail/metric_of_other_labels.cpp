// error: a metric has no add(const metrics::Logits&, std::span<const std::int64_t> labels)
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/trainer.hpp>

#include "../support/fakes.hpp"

using namespace seqtrain::tests;

struct Count {
  const char* name = "count";
#ifdef MISTAKE
  void add(const seqtrain::metrics::Logits&, const std::vector<int>& labels) {
#else
  void add(const seqtrain::metrics::Logits&, std::span<const std::int64_t> labels) {
#endif
    count += labels.size();
  }
  void merge(const Count& other) {
    count += other.count;
  }
  double value() const {
    return static_cast<double>(count);
  }
  std::size_t count = 0;
};

int main() {
  seqtrain::Trainer trainer{FakeModel{}, FakeSgd{0.1}, FakeLoader{{1, 2}, 1}, FakeSink{}};
  trainer.fit({.epochs = 1}, FakeLoader{{1, 2}, 1}, Count{});
}
