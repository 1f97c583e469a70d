// Carries packets between the two TAP devices of each host and delays each packet.
// hosts.py uses it if the kernel has no netem.
//
//     delay MICROSECONDS HOST...
//
// It creates `eth0` in the network namespace /run/netns/HOST and `port-HOST` in its own one, prints
// `ready` and forwards packets until it is killed. Then the devices vanish.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  std::perror(("delay: " + what).c_str());
  std::exit(1);
}

void enter(int network, const std::string& name) {
  if (network < 0 || setns(network, CLONE_NEWNET) != 0) fail(name);
}

int tap(const std::string& name) {
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) fail("TAP device " + name);
  // A packet passes whole with its header, as between the two ends of a veth device: the kernel
  // would take too long to cut it into frames.
  if (ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) fail(name);
  return device;
}

struct Packet {
  Clock::time_point due;
  std::vector<char> bytes;
};

/// Carries packets from one TAP device to the other.
class Way {
 public:
  Way(int from, int to, Clock::duration delay) : from_{from}, to_{to}, delay_{delay} {}

  /// Takes packets that have arrived, but only some at a time, so that due packets do not wait.
  void take() {
    std::array<char, 1 << 17> buffer;
    for (int n = 0; n != 64; ++n) {
      const ssize_t size = read(from_, buffer.data(), buffer.size());
      if (size <= 0) return;
      packets_.push_back({Clock::now() + delay_, {buffer.data(), buffer.data() + size}});
    }
  }

  /// Sends the packets that are due. A packet that the device does not accept is lost, as on a
  /// wire.
  void send() {
    for (; !packets_.empty() && packets_.front().due <= Clock::now(); packets_.pop_front()) {
      const auto& bytes = packets_.front().bytes;
      [[maybe_unused]] const ssize_t sent = write(to_, bytes.data(), bytes.size());
    }
  }

  [[nodiscard]] pollfd waiting() const { return {.fd = from_, .events = POLLIN, .revents = 0}; }

  [[nodiscard]] Clock::time_point due() const {
    return packets_.empty() ? Clock::now() + std::chrono::seconds{1} : packets_.front().due;
  }

 private:
  int from_;
  int to_;
  Clock::duration delay_;
  std::deque<Packet> packets_;
};

void forward(Way there, Way back) {
  prctl(PR_SET_TIMERSLACK, 1000);
  for (;;) {
    const auto wait =
        std::max(std::min(there.due(), back.due()) - Clock::now(), Clock::duration{0});
    const timespec until{.tv_sec = wait / std::chrono::seconds{1},
                         .tv_nsec = (wait % std::chrono::seconds{1}).count()};
    std::array<pollfd, 2> ends{there.waiting(), back.waiting()};
    ppoll(ends.data(), ends.size(), &until, nullptr);
    for (Way* way : {&there, &back}) {
      way->take();
      way->send();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::chrono::microseconds delay{std::atol(argv[1])};
  const int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  // Programs that keep all cores busy must not delay packets further.
  const sched_param priority{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_RR, &priority) != 0) setpriority(PRIO_PROCESS, 0, -20);
  std::vector<std::jthread> hosts;
  for (const std::string& host : std::vector<std::string>(argv + 2, argv + argc)) {
    const int there = open(("/run/netns/" + host).c_str(), O_RDONLY | O_CLOEXEC);
    enter(there, host);
    const int outer = tap("eth0");
    enter(here, "own network namespace");
    const int inner = tap("port-" + host);
    hosts.emplace_back(forward, Way{outer, inner, delay}, Way{inner, outer, delay});
  }
  std::puts("ready");
  std::fflush(stdout);
}
