#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <gtest/gtest.h>

#include <seqtrain/http/timed_socket.hpp>

namespace seqtrain::http::detail {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

/// Listens but does not accept connections; the system accepts them.
class TimedSocketTest : public testing::Test {
 protected:
  [[nodiscard]] std::array<tcp::endpoint, 1> here() const { return {listener_.local_endpoint()}; }

  asio::io_context io_;
  tcp::acceptor listener_{io_, {asio::ip::address_v4::loopback(), 0}};
  TimedSocket socket_{io_};
  TimedSocket::ErrorCode error_;
  std::array<char, 8> bytes_{};
};

TEST_F(TimedSocketTest, CarriesBytesBothWays) {
  socket_.connect(here(), error_);
  ASSERT_FALSE(error_) << error_.message();
  tcp::socket far_end = listener_.accept();
  EXPECT_EQ(socket_.write_some(asio::buffer("abc", 3), error_), 3U);
  EXPECT_EQ(far_end.read_some(asio::buffer(bytes_)), 3U);
  far_end.write_some(asio::buffer("de", 2));
  EXPECT_EQ(socket_.read_some(asio::buffer(bytes_), error_), 2U);
  EXPECT_EQ((std::string{bytes_.data(), 2}), "de");
  far_end.close();
  EXPECT_EQ(socket_.read_some(asio::buffer(bytes_), error_), 0U);
  EXPECT_EQ(error_, asio::error::eof);
}

TEST_F(TimedSocketTest, EndsAReadThatNobodyAnswers) {
  socket_.connect(here(), error_);
  socket_.expires_at(Clock::now() + 20ms);
  EXPECT_EQ(socket_.read_some(asio::buffer(bytes_), error_), 0U);
  EXPECT_EQ(error_, beast::error::timeout);
  EXPECT_THROW(socket_.read_some(asio::buffer(bytes_)), beast::system_error);
}

TEST_F(TimedSocketTest, EndsAReadWhenItIsStopped) {
  std::stop_source stop;
  socket_.stop_at(stop.get_token());
  socket_.connect(here(), error_);
  socket_.expires_at(Clock::now() + 10min);
  std::thread stopping{[&stop] {
    std::this_thread::sleep_for(20ms);
    stop.request_stop();
  }};
  const auto begin = Clock::now();
  EXPECT_EQ(socket_.read_some(asio::buffer(bytes_), error_), 0U);
  EXPECT_EQ(error_, asio::error::operation_aborted);
  EXPECT_LT(Clock::now() - begin, 20s);
  stopping.join();
  EXPECT_EQ(socket_.write_some(asio::buffer("abc", 3), error_), 0U);
  EXPECT_EQ(error_, asio::error::operation_aborted);
}

TEST_F(TimedSocketTest, EndsAWriteThatNobodyTakes) {
  socket_.connect(here(), error_);
  socket_.expires_at(Clock::now() + 50ms);
  const std::string much(std::size_t{1} << 20, 'x');
  while (!error_) socket_.write_some(asio::buffer(much), error_);
  EXPECT_EQ(error_, beast::error::timeout);
}

TEST_F(TimedSocketTest, ReadsNothingMoreBehindTheDeadline) {
  socket_.connect(here(), error_);
  tcp::socket far_end = listener_.accept();
  far_end.write_some(asio::buffer("abc", 3));
  socket_.expires_at(Clock::now());
  EXPECT_EQ(socket_.read_some(asio::buffer(bytes_), error_), 0U);
  EXPECT_EQ(error_, beast::error::timeout);
}

TEST_F(TimedSocketTest, GoesOnToTheAddressThatAnswers) {
  tcp::acceptor closed{io_, {asio::ip::address_v4::loopback(), 0}};
  const tcp::endpoint dead{closed.local_endpoint()};
  closed.close();
  socket_.connect(std::array{dead}, error_);
  EXPECT_EQ(error_, asio::error::connection_refused);
  socket_.connect(std::array{dead, here()[0]}, error_);
  EXPECT_FALSE(error_) << error_.message();
  socket_.connect(std::array<tcp::endpoint, 0>{}, error_);
  EXPECT_EQ(error_, asio::error::host_not_found);
}

}  // namespace
}  // namespace seqtrain::http::detail

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
