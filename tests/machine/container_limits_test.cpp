#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/machine/container_limits.hpp>

#include "support/fake_root.hpp"

namespace seqtrain::machine {
namespace {

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
