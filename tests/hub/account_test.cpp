#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/account.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::hub {
namespace {

using namespace tests;

class HubAccount : public HubFixture {
 protected:
  std::string problem(const std::string& name, const std::string& token = "hf_write") {
    const auto client = make_client(token);
    auto problem = problem_of([&] { check_may_push(client, hub::Name::parse(name)); });
    requests_ = transport_->seen().size();
    return problem;
  }

  std::size_t requests_ = 0;  // requests of the last check
};

TEST_F(HubAccount, IsThatOfTheToken) {
  const auto account = account_of(make_client("hf_write"), name_);
  EXPECT_EQ(account.name, "me");
  EXPECT_EQ(account.organizations, std::vector<std::string>{"org"});
  EXPECT_EQ(account.role, "write");
  EXPECT_TRUE(account.owns("ME") && account.owns("org"));
  EXPECT_FALSE(account.owns("other"));
}

TEST_F(HubAccount, MayPushToItsOwnAndItsOrganizations) {
  EXPECT_EQ(problem("org/m"), "nothing was thrown");
  EXPECT_EQ(problem("me/m"), "nothing was thrown");
  EXPECT_EQ(requests_, 1U);
}

TEST_F(HubAccount, IsToldWhatItMayNot) {
  EXPECT_EQ(
      problem("other/m"),
      "other/m: the account me is not a member of other; push to me/m, or set HF_TOKEN to the "
      "token of a member");
  EXPECT_NE(problem("m").find("write org/name"), std::string::npos);
  EXPECT_NE(problem("org/m@v1").find("write org/name"), std::string::npos);
  EXPECT_NE(problem("org/m", "").find("set HF_TOKEN"), std::string::npos);
  EXPECT_NE(problem("org/m", "hf_old").find("does not accept the token"), std::string::npos);
  hub_.role = "read";
  EXPECT_NE(problem("org/m").find("the token of me may only read"), std::string::npos);
  const auto client = make_offline_client();
  EXPECT_NE(problem_of([&] { check_may_push(client, name_); }).find("unset HF_HUB_OFFLINE"),
            std::string::npos);
}

TEST_F(HubAccount, IsLeftToTheHubIfTheTokenIsFineGrained) {
  hub_.role = "fineGrained";
  EXPECT_EQ(problem("other/m"), "nothing was thrown");
}

TEST_F(HubAccount, IsAskedForAgain) {
  int failures = 2;
  const auto client = make_client(
      [&](const FakeTransport::Seen& seen) {
        if (failures == 2 && failures--) throw http::Unreachable{"no route"};
        return failures-- > 0 ? http::Response{503} : answer(seen);
      },
      "hf_write");
  EXPECT_EQ(account_of(client, name_).name, "me");
  EXPECT_EQ(time_.sleeps().size(), 2U);
}

}  // namespace
}  // namespace seqtrain::hub
