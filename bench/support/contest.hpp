#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/loopback_storage.hpp"

namespace seqtrain::bench {

struct Competitor {
  std::string name;
  std::function<void()> run;  ///< throws if its result is wrong
};

/// Runs a storage service in a separate process while this object exists.
class ServerProcess {
 public:
  explicit ServerProcess(const Content& content) {
    LoopbackStorage storage{content};
    port_ = storage.port();
    child_ = ::fork();
    if (child_ == 0) storage.run();
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  [[nodiscard]] const std::string& port() const { return port_; }

  /// Returns the processor time of the process so far.
  [[nodiscard]] double seconds() const {
    clockid_t clock{};
    timespec time{};
    ::clock_getcpuclockid(child_, &clock);
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }

 private:
  std::string port_;
  pid_t child_ = -1;
};

/// Runs each competitor several times in a separate process, and prints the round with the median
/// time: GB/s, seconds, processor seconds of the competitor and of the server, and resident memory
/// above that of a process that does nothing.
class Contest {
 public:
  Contest(std::uint64_t bytes, int rounds, const ServerProcess& server)
      : bytes_{bytes}, rounds_{rounds}, server_{server} {
    idle_ = run_once({"", [] {}}).memory;
  }

  void measure(const Competitor& competitor) const {
    std::vector<Round> rounds;
    for (int i = 0; i < rounds_; ++i) rounds.push_back(run_once(competitor));
    std::sort(rounds.begin(), rounds.end(),
              [](const Round& a, const Round& b) { return a.seconds < b.seconds; });
    const auto& median = rounds[rounds.size() / 2];
    const auto rate = static_cast<double>(bytes_) / median.seconds / 1e9;
    std::printf(
        "%-24s %6.2f GB/s   %5.2f s   processor: %5.2f s, the server's %5.2f s   +%ld MiB\n",
        competitor.name.c_str(), rate, median.seconds, median.processor, median.server,
        std::max(0L, median.memory - idle_) / 1024);
    std::fflush(stdout);
  }

 private:
  struct Round {
    double seconds = 0;
    double processor = 0;
    double server = 0;
    long memory = 0;  ///< in KiB
  };

  static double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }

  [[nodiscard]] Round run_once(const Competitor& competitor) const {
    const double server = server_.seconds();
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        competitor.run();
        ::_exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", competitor.name.c_str(), error.what());
        ::_exit(1);
      }
    }
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    if (status != 0) std::exit(1);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return {time.count(), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
            server_.seconds() - server, usage.ru_maxrss};
  }

  std::uint64_t bytes_;
  int rounds_;
  const ServerProcess& server_;
  long idle_ = 0;
};

}  // namespace seqtrain::bench
