// A metric of your own: the share of examples whose label is one of the two likeliest.
#include <cstdint>
#include <iostream>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/metrics.hpp>

using namespace seqtrain;

struct TopTwo {
  void add(const metrics::Logits& logits, std::span<const std::int64_t> labels) {
    for (Eigen::Index row = 0; row < logits.rows(); ++row) {
      const float truth = logits(row, labels[static_cast<std::size_t>(row)]);
      hits += (logits.row(row).array() > truth).count() < 2;
    }
    all += logits.rows();
  }
  void merge(const TopTwo& other) { hits += other.hits, all += other.all; }
  double value() const { return static_cast<double>(hits) / static_cast<double>(all); }

  static constexpr std::string_view name = "top_2_accuracy";
  std::int64_t hits = 0, all = 0;
};

static_assert(metrics::Metric<TopTwo>);

int main() {
  metrics::Logits logits(2, 3);
  logits << 0.5F, 2.0F, 1.0F,  //
      0.5F, 2.0F, 1.0F;
  TopTwo metric;
  metric.add(logits, std::vector<std::int64_t>{2, 0});
  std::cout << metric.name << ": " << metric.value() << '\n';
}
