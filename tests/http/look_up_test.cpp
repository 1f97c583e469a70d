#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

#include <seqtrain/http/look_up.hpp>

namespace seqtrain::http {
namespace {

class LookUp : public testing::Test {
 protected:
  Endpoints look_up_by(const Resolve& resolve) {
    const auto end = Clock::now() + std::chrono::seconds{60};
    return look_up(resolve, "127.0.0.1", "80", end, std::stop_token{}, error_);
  }

  boost::system::error_code error_;
};

TEST_F(LookUp, AsksTheSystem) {
  const auto found = look_up_by(&resolve_by_system);
  EXPECT_FALSE(error_) << error_.message();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().address().to_string(), "127.0.0.1");
  EXPECT_EQ(found.front().port(), 80);
}

TEST_F(LookUp, PassesOnWhatFails) {
  const auto fails = [](const std::string&, const std::string&, auto& error) {
    error = boost::asio::error::host_not_found;
    return Endpoints{};
  };
  EXPECT_TRUE(look_up_by(fails).empty());
  EXPECT_EQ(error_, boost::asio::error::host_not_found);
}

TEST_F(LookUp, AnExceptionIsAFailure) {
  const auto throws = [](const std::string&, const std::string&, auto&) -> Endpoints {
    throw std::runtime_error{"no memory"};
  };
  EXPECT_TRUE(look_up_by(throws).empty());
  EXPECT_TRUE(error_);
}

}  // namespace
}  // namespace seqtrain::http
