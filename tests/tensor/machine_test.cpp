#include <string>
#include <thread>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace seqtrain::tensor
