#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <unistd.h>

#include <seqtrain/machine/host_use.hpp>

#include "support/fake_clock.hpp"
#include "support/fake_root.hpp"

namespace seqtrain::machine {
namespace {

using namespace std::chrono_literals;
using tests::FakeClock;

struct HostMeterTest : testing::Test {
  /// Writes the processor time of this process in seconds. The kernel counts in ticks.
  void process(long user, long system, std::string_view name = "mnli") {
    const long second = ::sysconf(_SC_CLK_TCK);
    root.write("proc/self/stat", "17 (" + std::string{name} + ") R 1 1 1 0 -1 4194304 9 0 0 0 " +
                                     std::to_string(user * second) + " " +
                                     std::to_string(system * second) + " 0 0 20 0 3 0 55\n");
  }
  void machine(const std::string& ticks) {
    root.write("proc/stat", "cpu  " + ticks + "\ncpu0 1 2 3 4\ncpu1 1 2 3 4\nintr 7\n");
  }
  [[nodiscard]] HostMeter<FakeClock> meter() const { return HostMeter<FakeClock>{root.path()}; }

  /// Returns the figures of ten seconds between two contents of a file.
  HostUse between(const std::string& file, const std::string& first, const std::string& second) {
    root.write(file, first);
    auto host = meter();
    host.sample();
    root.write(file, second);
    FakeClock::pass(10s);
    return host.sample();
  }

  tests::FakeRoot root;
};

TEST_F(HostMeterTest, MeasuresThisProcessSinceTheLastSample) {
  process(100, 20);
  auto host = meter();
  EXPECT_EQ(host.sample().processor_percent, std::nullopt);
  process(112, 26);
  FakeClock::pass(10s);
  EXPECT_DOUBLE_EQ(host.sample().processor_percent.value(), 180);
  process(112, 31);
  FakeClock::pass(20s);
  EXPECT_DOUBLE_EQ(host.sample().processor_percent.value(), 25);
}

TEST_F(HostMeterTest, ReadsProcessesOfAnyName) {
  process(1, 1, "a) R 9 (b");
  auto host = meter();
  host.sample();
  process(2, 1, "a) R 9 (b");
  FakeClock::pass(10s);
  EXPECT_DOUBLE_EQ(host.sample().processor_percent.value(), 10);
}

TEST_F(HostMeterTest, HasNoPercentageWhereNoTimePassed) {
  process(1, 1);
  auto host = meter();
  host.sample();
  process(2, 1);
  EXPECT_EQ(host.sample().processor_percent, std::nullopt);
}

TEST_F(HostMeterTest, MeasuresTheMachine) {
  const auto percent = [&](const std::string& first, const std::string& second) {
    return between("proc/stat", first, second).machine_percent;
  };
  // user nice system idle iowait irq softirq steal guest guest_nice
  EXPECT_EQ(percent("cpu  100 0 50 800 50 0 0 0 7 7\n", "cpu  150 10 50 810 70 0 10 0 99 99\n"),
            70);
  EXPECT_EQ(percent("cpu 0 0 0 0 0\n", "cpu 0 0 0 5 0\n"), 0);
  EXPECT_EQ(percent("cpu 0 0 0 0 0\n", "cpu 5 0 0 0 0\n"), 100);
}

TEST_F(HostMeterTest, LeavesTheMachineOutWhereItsTimesMakeNoSense) {
  for (const std::string second :
       {"", "\n", "cpu\n", "cpu 1 2 3 4\n", "cpu0 9 9 9 9 9\n", "cpu 9 9 x 9 9\n",
        "cpu 9 -9 9 9 9\n", "cpu 99999999999999999999 9 9 9 9\n", "cpu 1 1 1 1 1\n",
        "cpu 9 9 9 1 0\n"}) {
    EXPECT_EQ(between("proc/stat", "cpu 1 1 1 1 1\n", second).machine_percent, std::nullopt)
        << second;
    EXPECT_EQ(between("proc/stat", second, "cpu 1 1 1 1 1\n").machine_percent, std::nullopt)
        << second;
  }
}

TEST_F(HostMeterTest, LeavesTheProcessOutWhereItsTimesMakeNoSense) {
  const std::string good = "17 (a) R 1 1 1 0 -1 4194304 9 0 0 0 100 100 0 0";
  ASSERT_TRUE(between("proc/self/stat", good, good).processor_percent);
  for (const std::string bad :
       {"", "17", "17 (a", "17 (a)", "17 (a) R 1 1 1 0 -1 4194304 9 0 0 0 100",
        "17 (a) R 1 1 1 0 -1 4194304 9 0 0 0 -100 100 0 0",
        "17 (a) R 1 1 1 0 -1 4194304 9 0 0 0 100 99999999999999999999 0 0"}) {
    EXPECT_EQ(between("proc/self/stat", good, bad).processor_percent, std::nullopt) << bad;
    EXPECT_EQ(between("proc/self/stat", bad, good).processor_percent, std::nullopt) << bad;
  }
  const std::string earlier = "17 (a) R 1 1 1 0 -1 4194304 9 0 0 0 99 100 0 0";
  EXPECT_EQ(between("proc/self/stat", good, earlier).processor_percent, std::nullopt);
}

TEST_F(HostMeterTest, ReadsResidentMemory) {
  root.write("proc/self/statm", "99999 512 300 1 0 5000 0\n");
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  EXPECT_DOUBLE_EQ(meter().sample().memory_mib.value(), 512 * page / (1 << 20));
  for (const auto text : {"", "1", "1 -1", "1 x", "1 99999999999999999999"}) {
    root.write("proc/self/statm", text);
    EXPECT_EQ(meter().sample().memory_mib, std::nullopt) << text;
  }
}

TEST_F(HostMeterTest, KnowsTheMemoryOfTheMachineAndOfTheContainer) {
  EXPECT_EQ(meter().sample().memory_limit_mib, std::nullopt);
  root.write("proc/meminfo", "MemTotal:        2048 kB\nMemFree:  1 kB\n");
  EXPECT_EQ(meter().sample().memory_limit_mib, 2);
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "1048576\n");
  EXPECT_EQ(meter().sample().memory_limit_mib, 1);
  root.write("sys/fs/cgroup/memory.max", "9223372036854771712\n");  // no limit, in version 1
  EXPECT_EQ(meter().sample().memory_limit_mib, 2);
}

TEST_F(HostMeterTest, CountsTheProcessorsThatMayBeUsed) {
  EXPECT_EQ(meter().sample().processors, std::nullopt);
  machine("1 1 1 1 1");
  EXPECT_EQ(meter().sample().processors, 2);
  root.write("proc/self/status", "Name:\tmnli\nCpus_allowed:\tff,ffffffff\n");
  EXPECT_EQ(meter().sample().processors, 2);
  root.write("proc/self/status", "Cpus_allowed:\t00,00000010\nCpus_allowed_list:\t4\n");
  EXPECT_EQ(meter().sample().processors, 1);
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(meter().sample().processors, 0.5);
  root.write("proc/self/status", "Cpus_allowed:\t\n");
  root.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(meter().sample().processors, 2);
}

TEST(HostMeter, ReadsThisMachine) {
  if (!std::filesystem::exists("/proc/self/statm")) GTEST_SKIP() << "no /proc here";
  const auto use = HostMeter<>{}.sample();
  EXPECT_GT(use.memory_mib.value(), 1);
  EXPECT_GT(use.memory_limit_mib.value(), 1);
  EXPECT_GT(use.processors.value(), 0);
}

struct ContainerLimitsTest : testing::Test {
  void group(const std::string& file, const std::string& text) {
    root.write("sys/fs/cgroup/" + file, text);
  }
  [[nodiscard]] ContainerLimits limits() const { return container_limits(root.path()); }

  tests::FakeRoot root;
};

TEST_F(ContainerLimitsTest, AreAbsentWithoutGroups) {
  EXPECT_EQ(limits().processors, std::nullopt);
  EXPECT_EQ(limits().memory_mib, std::nullopt);
}

TEST_F(ContainerLimitsTest, OfVersion2) {
  root.write("proc/self/cgroup", "0::/\n");
  group("cpu.max", "150000 100000\n");
  group("memory.max", "2147483648\n");
  EXPECT_EQ(limits().processors, 1.5);
  EXPECT_EQ(limits().memory_mib, 2048);
}

TEST_F(ContainerLimitsTest, OfVersion2MayBeAbsent) {
  root.write("proc/self/cgroup", "0::/\n");
  group("cpu.max", "max 100000\n");
  group("memory.max", "max\n");
  EXPECT_EQ(limits().processors, std::nullopt);
  EXPECT_EQ(limits().memory_mib, std::nullopt);
}

TEST_F(ContainerLimitsTest, OfTheGroupsAroundAGroupCountToo) {
  root.write("proc/self/cgroup", "0::/pod/job\n");
  group("pod/job/cpu.max", "400000 100000\n");
  group("pod/job/memory.max", "1048576\n");
  group("pod/cpu.max", "200000 100000\n");
  group("pod/memory.max", "2097152\n");
  group("other/cpu.max", "100000 100000\n");
  EXPECT_EQ(limits().processors, 2);
  EXPECT_EQ(limits().memory_mib, 1);
}

TEST_F(ContainerLimitsTest, OfVersion1) {
  root.write("proc/self/cgroup",
             "12:cpuacct,cpu:/docker/a\n11:memory:/docker/b\n1:name=systemd:/\n0::/\n");
  group("cpu/docker/a/cpu.cfs_quota_us", "50000\n");
  group("cpu/docker/a/cpu.cfs_period_us", "100000\n");
  group("memory/docker/b/memory.limit_in_bytes", "3145728\n");
  EXPECT_EQ(limits().processors, 0.5);
  EXPECT_EQ(limits().memory_mib, 3);
}

TEST_F(ContainerLimitsTest, OfVersion1WhereTheContainerSeesItsGroupAsTheOutermost) {
  root.write("proc/self/cgroup", "2:cpu,cpuacct:/docker/a\n1:memory:/docker/a\n");
  group("cpu/cpu.cfs_quota_us", "300000\n");
  group("cpu/cpu.cfs_period_us", "100000\n");
  group("memory/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(limits().processors, 3);
  EXPECT_EQ(limits().memory_mib, 1);
}

TEST_F(ContainerLimitsTest, OfVersion1MayBeAbsent) {
  root.write("proc/self/cgroup", "2:cpu:/\n");
  group("cpu/cpu.cfs_quota_us", "-1\n");
  group("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limits().processors, std::nullopt);
}

TEST_F(ContainerLimitsTest, StayInTheDirectoryOfGroups) {
  root.write("proc/self/cgroup", "0::/../../../outside\n");
  root.write("outside/cpu.max", "100000 100000\n");
  group("cpu.max", "200000 100000\n");
  EXPECT_EQ(limits().processors, 2);
}

TEST_F(ContainerLimitsTest, LeaveOutWhatCannotBeRead) {
  root.write("proc/self/cgroup", "no colon\n:\n0:\n::\n0::/\n");
  for (const auto text : {"", "\n", "0 100000", "1 0", "-5 100000", "1", "1 2 3", "x y",
                          "99999999999999999999999 100000"}) {
    group("cpu.max", text);
    EXPECT_EQ(limits().processors, std::nullopt) << text;
  }
  for (const auto text : {"", "-1", "1 2", "9999999999999999999999", "many"}) {
    group("memory.max", text);
    EXPECT_EQ(limits().memory_mib, std::nullopt) << text;
  }
}

}  // namespace
}  // namespace seqtrain::machine
