// A metric of your own: the share of examples whose label is one of the two likeliest.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include <seqtrain/experiment.hpp>

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

int main(int argc, char** argv) {
  return experiment::run(argc, argv, {.name = "own_metric"},
                         [](experiment::Run& run) { run.fit(run.trainer(), TopTwo{}); });
}
