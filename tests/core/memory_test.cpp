#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/memory.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

class AvailableMemory : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    tests::write_file(root_ / file, text);
  }

  tests::TemporaryDirectory root_;
};

TEST_F(AvailableMemory, IsWhatTheMachineHasLeft) {
  EXPECT_FALSE(available_memory(root_.path()));
  write("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:   2000 kB\n");
  EXPECT_EQ(available_memory(root_.path()), 2'048'000U);
  EXPECT_GT(available_memory().value_or(0), 0U);
}

TEST_F(AvailableMemory, IsWhatTheContainerLeavesIfThatIsLess) {
  write("proc/meminfo", "MemAvailable: 2000 kB\n");
  write("proc/self/cgroup", "1:memory:/\n0::/\n");
  write("sys/fs/cgroup/memory.max", "max\n");
  write("sys/fs/cgroup/memory.current", "500000\n");
  EXPECT_EQ(available_memory(root_.path()), 2'048'000U);
  write("sys/fs/cgroup/memory.max", "1500000\n");
  EXPECT_EQ(available_memory(root_.path()), 1'000'000U);
  write("sys/fs/cgroup/memory.stat", "anon 1\nfile 400000\ninactive_file 300000\n");
  EXPECT_EQ(available_memory(root_.path()), 1'300'000U) << "the kernel drops pages of files";
  write("sys/fs/cgroup/memory.stat", "inactive_file 600000\n");
  EXPECT_EQ(available_memory(root_.path()), 1'500'000U);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "900\n");
  write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 30\n");
  EXPECT_EQ(available_memory(root_.path()), 130U);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "700\n");
  EXPECT_EQ(available_memory(root_.path()), 0U);
}

TEST_F(AvailableMemory, IsWhatAnInnerControlGroupLeaves) {
  write("proc/meminfo", "MemAvailable: 2000 kB\n");
  write("proc/self/cgroup", "0::/system.slice/job/step\n");
  write("sys/fs/cgroup/system.slice/job/memory.max", "1000000\n");
  write("sys/fs/cgroup/system.slice/job/memory.current", "400000\n");
  EXPECT_EQ(available_memory(root_.path()), 600'000U);
  write("sys/fs/cgroup/system.slice/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/system.slice/job/step/memory.current", "300000\n");
  EXPECT_EQ(available_memory(root_.path()), 600'000U);
  write("sys/fs/cgroup/memory.max", "500000\n");
  write("sys/fs/cgroup/memory.current", "450000\n");
  EXPECT_EQ(available_memory(root_.path()), 50'000U);
}

TEST_F(AvailableMemory, IsWhatAJobOfVersion1Leaves) {
  write("proc/self/cgroup", "4:memory:/slurm/uid_1/job_2\n3:cpu,cpuacct:/slurm\n");
  write("sys/fs/cgroup/memory/slurm/uid_1/job_2/memory.limit_in_bytes", "5000\n");
  write("sys/fs/cgroup/memory/slurm/uid_1/job_2/memory.usage_in_bytes", "2000\n");
  EXPECT_EQ(available_memory(root_.path()), 3000U);
}

TEST(PeakMemory, GrowsWithMemoryThatIsTouchedAndStays) {
  const double before = peak_memory_mib();
  EXPECT_GT(before, 0);
  constexpr std::size_t mib = std::size_t{1} << 20;
  {
    const std::vector<char> memory(64 * mib, 'x');
    asm volatile("" : : "r"(memory.data()) : "memory");  // somebody could read it
  }
  EXPECT_GE(peak_memory_mib(), 62);
  EXPECT_LT(peak_memory_mib(), before + 512);  // sanitizers keep several bytes for each
}

}  // namespace
}  // namespace seqtrain
