#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <ATen/Context.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <seqtrain/tensor/machine.hpp>

namespace seqtrain::tensor {
namespace {

/// Restores torch's number of threads.
class Machine : public testing::Test {
 protected:
  ~Machine() override { set_threads(before_); }
  static bool warns(std::int64_t threads) {
    return describe(use_machine("cpu", threads)).find("warning") != std::string::npos;
  }

 private:
  int before_ = threads();
};

TEST_F(Machine, SaysWhetherCudaIsThere) {
  const std::string cuda = has_cuda() ? "True" : "False";
  EXPECT_EQ(describe(use_machine("cpu", 1)),
            "`cuda` available: " + cuda + "\nCurrent Device: cpu\nThreads: 1");
}

TEST_F(Machine, WarnsOfMoreThreadsThanCores) {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  EXPECT_FALSE(warns(1));
  EXPECT_FALSE(warns(cores));
  EXPECT_TRUE(warns(cores + 1));
}

TEST_F(Machine, RefusesWhatIsNotThere) {
  EXPECT_THROW(use_machine("cpu", 0), InputError);
  EXPECT_THROW(use_machine("tpu", 1), InputError);
  if (!has_cuda()) {
    EXPECT_THROW(use_machine("cuda", 1), InputError);
  }
}

TEST(DeterministicOperators, LeaveAProcessorAsItIs) {
  use_deterministic_operators(c10::kCPU);
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
  EXPECT_EQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), nullptr);
}

/// Returns the number of pages, of 4 KiB each, that the system had to find for 64 MiB.
long pages_for_large_array() {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const std::vector<char> array(std::size_t{1} << 26, 'x');
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(array.back(), 'x');
  return after.ru_minflt - before.ru_minflt;
}

TEST(FreedMemory, IsUsedAgain) {
  keep_freed_memory();
  pages_for_large_array();
  EXPECT_LT(pages_for_large_array(), 4096);  // 16384 if the memory had been returned to the system
}

}  // namespace
}  // namespace seqtrain::tensor
