#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/handles.hpp>
#include <seqtrain/dist/server.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {

/// The clock of deadlines.
using Clock = std::chrono::steady_clock;

namespace detail {

inline std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Returns the time left until `deadline`, but at least one millisecond: c10d takes 0 for "no
/// limit".
inline std::chrono::milliseconds until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return std::max(left, std::chrono::milliseconds{1});
}

inline std::string master_of(const World& world) {
  return world.master_host + ":" + std::to_string(world.master_port);
}

/// Makes a store on a thread that is abandoned at the deadline: c10d waits without limit for the
/// first answer of a server that accepts connections and sends nothing.
inline StorePtr make_store(const std::string& host, const ::c10d::TCPStoreOptions& options,
                           Clock::time_point deadline) {
  const auto promise = std::make_shared<std::promise<StorePtr>>();
  auto store = promise->get_future();
  std::thread{[=] {
    try {
      promise->set_value(c10::make_intrusive<::c10d::TCPStore>(host, options));
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  }}.detach();
  // c10d's own timeout fires at the deadline, and its message says more.
  if (store.wait_until(deadline + std::chrono::seconds{5}) == std::future_status::ready) {
    return store.get();
  }
  C10_THROW_ERROR(DistStoreError, "the server accepts connections but sends nothing");
}

}  // namespace detail

/// Connects to the store through which the processes of a world find each other. The launcher or
/// rank 0 serves it. Throws `InputError` with the address if the port is in use or nothing answers
/// before `deadline`.
inline StorePtr open_store(const World& world, Clock::time_point deadline) {
  const bool serves = world.rank == 0 && !world.agent_store;
  // This comes before c10d, which prints a stack trace for every attempt.
  if (!serves) wait_for_server(world.master_host, world.master_port, deadline);
  ::c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(world.master_port);
  options.isServer = serves;
  options.waitWorkers = false;
  options.timeout = detail::until(deadline);
  try {
    return detail::make_store(serves ? "localhost" : world.master_host, options, deadline);
  } catch (const c10::Error& error) {
    const std::string reason = detail::first_line(error.what_without_backtrace());
    throw InputError{
        (serves ? "rank 0 cannot serve the store there: " : "no store answers there: ") + reason,
        {.object = detail::master_of(world)},
        serves ? "choose a port that is free on this host, in MASTER_PORT or the launcher's flags"
               : "check that rank 0 runs and that this host reaches its address and port"};
  }
}

/// Lets the processes of one start agree on a name for it, so that values of an earlier start in
/// the launcher's store are not mistaken for theirs. Rank 0 makes the name and gives it to each
/// rank that asks. It continues when every rank has confirmed this name.
class Rendezvous {
 public:
  Rendezvous(const World& world, StorePtr store, Clock::time_point deadline)
      : world_{world}, store_{std::move(store)}, deadline_{deadline} {}

  /// Returns the name of this start. Throws `Error` if not all ranks join before the deadline, or
  /// if a rank has another world size.
  [[nodiscard]] std::string join() { return world_.rank == 0 ? gather() : ask(); }

 private:
  [[nodiscard]] std::string gather() {
    const auto round = random_token();
    std::set<std::string> answered;
    std::set<int> missing;
    for (int rank = 1; rank < world_.size; ++rank) missing.insert(rank);
    while (!missing.empty()) {
      std::erase_if(missing, [&](int rank) { return confirmed(round, rank, answered); });
      if (missing.empty()) break;
      if (Clock::now() > deadline_) throw absent(missing);
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return round;
  }

  // Tells whether a rank has confirmed. Answers the rank if it asked again.
  bool confirmed(const std::string& round, int rank, std::set<std::string>& answered) {
    if (store_->check({"ack/" + round + "/" + std::to_string(rank)})) return true;
    const auto hello = "hello/" + std::to_string(rank);
    if (!store_->check({hello})) return false;
    const auto name = store_->get_to_str(hello);
    if (answered.insert(name).second) {
      store_->set("welcome/" + name, round + " " + std::to_string(world_.size));
    }
    return false;
  }

  [[nodiscard]] InputError absent(const std::set<int>& missing) const {
    std::string ranks;
    for (const int rank : missing) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    return InputError{
        "some of the " + std::to_string(world_.size) + " ranks did not join: " + ranks,
        {.object = detail::master_of(world_)},
        "check that they run and that their hosts reach this address"};
  }

  [[nodiscard]] std::string ask() {
    const auto name = random_token();
    store_->set("hello/" + std::to_string(world_.rank), name);
    const auto answer = "welcome/" + name;
    try {
      store_->wait({answer}, detail::until(deadline_));
    } catch (const c10::Error&) {
      throw InputError{
          "rank 0 does not answer rank " + std::to_string(world_.rank) + " through the store",
          {.object = detail::master_of(world_)},
          "check that rank 0 runs"};
    }
    const auto welcome = store_->get_to_str(answer);
    const auto space = welcome.find(' ');
    const auto round = welcome.substr(0, space);
    if (welcome.substr(space + 1) != std::to_string(world_.size)) {
      throw InputError{"rank 0 is in a world of " + welcome.substr(space + 1) +
                           " processes and rank " + std::to_string(world_.rank) + " in one of " +
                           std::to_string(world_.size),
                       {.object = "WORLD_SIZE"},
                       "start all processes with the same number"};
    }
    store_->set("ack/" + round + "/" + std::to_string(world_.rank), name);
    return round;
  }

  World world_;
  StorePtr store_;
  Clock::time_point deadline_;
};

}  // namespace seqtrain::dist
