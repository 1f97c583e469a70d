#include <gtest/gtest.h>

#include <seqtrain/tensor/device.hpp>

namespace seqtrain::tensor {
namespace {

TEST(Device, IsTheOneThatIsNamed) {
  EXPECT_TRUE(select_device("cpu").is_cpu());
  EXPECT_EQ(select_device("auto").is_cuda(), has_cuda());
  EXPECT_THROW(static_cast<void>(select_device("tpu")), InputError);
  EXPECT_THROW(static_cast<void>(select_device("")), InputError);
}

TEST(Device, RefusesCudaWhereThereIsNone) {
  if (has_cuda()) {
    EXPECT_TRUE(select_device("cuda").is_cuda());
  } else {
    EXPECT_THROW(static_cast<void>(select_device("cuda")), InputError);
  }
}

TEST(Device, HasNoComputeCapabilityWithoutCuda) {
  EXPECT_EQ(compute_capability(c10::kCPU), 0);
  if (!has_cuda()) {
    EXPECT_EQ(compute_capability(c10::kCUDA), 0);
  }
}

}  // namespace
}  // namespace seqtrain::tensor
