#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoints.hpp>

#include "support/checkpoint_history.hpp"
#include "support/cloud_bucket.hpp"
#include "support/fake_s3.hpp"
#include "support/history_runner.hpp"

namespace seqtrain::tests {
namespace {

/// Histories as those of `CheckpointSimulation`, whose processes reach a bucket by a cloud's
/// client.
template <class Cloud>
class CloudHistories : public testing::Test {};
using SimulatedClouds = testing::Types<SimulatedGoogle, SimulatedS3>;
TYPED_TEST_SUITE(CloudHistories, SimulatedClouds);

TYPED_TEST(CloudHistories, EndWell) {
  using Runner = BasicHistoryRunner<CloudBucket<TypeParam>>;
  const char* const wanted = std::getenv("SEQTRAIN_SIMULATED_HISTORIES");
  const std::uint64_t count = wanted == nullptr ? 500 : std::strtoull(wanted, nullptr, 10);
  for (std::uint64_t i = 1; i <= count; ++i) {
    const History history = make_history(i);
    const std::string problem = Runner::run(history);
    if (problem.empty()) continue;
    const History small =
        shrink(history, [](const History& one) { return !Runner::run(one).empty(); });
    FAIL() << "history " << i << ": " << problem << "\nshrunk: " << Runner::run(small) << "\n"
           << describe(small);
  }
}

/// A service that says it has written an object and has not, now and then.
struct ForgetfulS3 : FakeS3 {
  http::Response handle(const ServerRequest& request) {
    const auto name = SimulatedS3::object(request);
    const bool forgets = request.method == "PUT" && ++writes_ % 7 == 0;
    const auto before = forgets ? read(name) : std::nullopt;
    auto answer = FakeS3::handle(request);
    if (forgets && before) write(name, *before);
    if (forgets && !before) FakeS3::handle({"DELETE", request.target, request.headers, {}});
    return answer;
  }

 private:
  int writes_ = 0;
};
struct SimulatedForgetfulS3 : SimulatedS3 {
  using Service = ForgetfulS3;
};

TEST(CloudHistory, FindsAServiceThatForgetsWhatItConfirms) {
  int found = 0;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    const auto history = make_history(i);
    found += BasicHistoryRunner<CloudBucket<SimulatedForgetfulS3>>::run(history).empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace seqtrain::tests
