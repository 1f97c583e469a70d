#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <support/dist_worlds.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/server.hpp>

namespace seqtrain::dist {
namespace {

using Instant = std::chrono::steady_clock;

std::string problem_of_waiting(const std::string& host, int port) {
  try {
    wait_for_server(host, port, Instant::now());
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(WaitForServer, EndsWhenOneListens) {
  const tests::Listener listener;
  wait_for_server("127.0.0.1", listener.port(), Instant::now());
}

TEST(WaitForServer, NamesTheAddressThatDoesNotAnswer) {
  const int port = tests::free_port();
  const auto problem = problem_of_waiting("127.0.0.1", port);
  EXPECT_TRUE(problem.starts_with("127.0.0.1:" + std::to_string(port) + ": nothing answers"))
      << problem;
}

TEST(WaitForServer, NamesTheHostThatDoesNotResolve) {
  const auto problem = problem_of_waiting("no-such-host.invalid", 1);
  EXPECT_TRUE(problem.starts_with("no-such-host.invalid: the name does not resolve")) << problem;
}

}  // namespace
}  // namespace seqtrain::dist
