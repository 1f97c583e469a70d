#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/prometheus.hpp>

namespace seqtrain::serve {
namespace {

TEST(Histogram, CountsUpToEachBound) {
  Histogram sizes{1, 2, 3};
  for (const double size : {1.0, 2.0, 3.0, 4.0, 100.0}) sizes.add(size);
  std::string text;
  sizes.write(text, "sizes");
  EXPECT_EQ(text,
            "# TYPE sizes histogram\n"
            "sizes_bucket{le=\"1\"} 1\n"
            "sizes_bucket{le=\"2\"} 2\n"
            "sizes_bucket{le=\"4\"} 4\n"
            "sizes_bucket{le=\"+Inf\"} 5\n"
            "sizes_sum 110\n"
            "sizes_count 5\n");
}

TEST(Counters, CountByLabel) {
  Counters calls{"method"};
  calls.add("single");
  calls.add("batch");
  calls.add("single");
  std::string text;
  calls.write(text, "calls");
  EXPECT_EQ(text,
            "# TYPE calls counter\n"
            "calls{method=\"batch\"} 1\n"
            "calls{method=\"single\"} 2\n");
  EXPECT_EQ(calls.count("single"), 2u);
  EXPECT_EQ(calls.count("none"), 0u);
}

TEST(PrometheusMetrics, LoseNothingAmongThreads) {
  PrometheusMetrics metrics;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) {
        metrics.requests.add("single");
        metrics.duration.add(1.0);
      }
    });
  }
  threads.clear();
  const std::string text = metrics.text();
  for (const char* line : {"te_request_count{method=\"single\"} 4000\n",
                           "te_request_duration_sum 4000\n", "te_request_duration_count 4000\n",
                           "te_queue_size 0\n", "# TYPE te_batch_next_tokens histogram\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace seqtrain::serve
