#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/ask.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

using HubAsk = HubFixture;

TEST_F(HubAsk, RepeatsWhatAnotherAttemptMayChange) {
  std::vector<int> statuses{429, 500, 0, 404};
  const auto client = make_client([&](const auto&) {
    const int status = statuses.front();
    statuses.erase(statuses.begin());
    if (status == 0) throw http::TransportError{"broken off"};
    return http::Response{status, {{"Retry-After", "7"}}, {}};
  });
  const std::string body = "{}";
  const auto answer = hub::ask(client, hub::post_json(client, "/api/x", body), {.object = "x"});
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(time_.sleeps(), (std::vector{7.0, 7.0, 4.0}));
  for (const auto& seen : transport_->seen()) EXPECT_EQ(seen.body, "{}");
}

TEST_F(HubAsk, ReturnsTheLastAnswerOrSaysThatThereIsNone) {
  const auto busy = make_client([](const auto&) { return http::Response{503}; });
  EXPECT_EQ(hub::ask(busy, {}, {.object = "x"}).status, 503);
  const auto alone = make_client_alone();
  EXPECT_EQ(problem_of([&] { (void)hub::ask(alone, {}, {.object = "x", .field = "y"}); }),
            "x: y: the hub cannot be reached: no route");
}

}  // namespace
}  // namespace seqtrain::tests
