#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/http/renewed.hpp>

#include "support/sleepless_time.hpp"

namespace seqtrain::tests {
namespace {

/// A secret that is numbered by how often it was fetched.
class Renewed : public testing::Test {
 protected:
  SleeplessTime time_;
  http::Timing timing_ = time_.timing();
  std::string said_;
  http::Log log_ = [this](std::string_view line) { said_ += line; };
  int fetched_ = 0;
  bool failing_ = false;
  std::optional<http::Seconds> lifetime_{3600};
  http::Renewed<int> secret_{"the secret",
                             [this]() -> http::Fresh<int> {
                               if (failing_) throw InputError{"refused"};
                               return {++fetched_, lifetime_};
                             },
                             timing_, log_};
};

TEST_F(Renewed, IsFetchedAgainInItsLastMinutes) {
  EXPECT_EQ(secret_.get(), 1);
  time_.sleep(http::Seconds{3600 - 300});
  EXPECT_EQ(secret_.get(), 1);
  time_.sleep(http::Seconds{240});
  EXPECT_EQ(secret_.get(), 2);
}

TEST_F(Renewed, IsKeptWhileARenewalFailsAndItIsValid) {
  EXPECT_EQ(secret_.get(), 1);
  failing_ = true;
  time_.sleep(http::Seconds{3600 - 100});
  EXPECT_EQ(secret_.get(), 1);
  EXPECT_EQ(said_, "renewing the secret failed; what was fetched before is still valid");
  time_.sleep(http::Seconds{100});
  EXPECT_THROW((void)secret_.get(), InputError);
}

TEST_F(Renewed, IsFetchedAgainWhenItIsRefused) {
  EXPECT_EQ(secret_.get(), 1);
  secret_.refuse(7);
  EXPECT_EQ(secret_.get(), 1);
  secret_.refuse(1);
  EXPECT_EQ(secret_.get(), 2);
}

TEST_F(Renewed, WithoutAnEndIsFetchedOnce) {
  lifetime_ = {};
  EXPECT_EQ(secret_.get(), 1);
  time_.sleep(http::Seconds{1e6});
  secret_.refuse(1);
  EXPECT_EQ(secret_.get(), 1);
}

}  // namespace
}  // namespace seqtrain::tests
