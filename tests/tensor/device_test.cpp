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

TEST(Device, HasNoBfloat16WhereThereIsNoCuda) {
  if (!has_cuda()) {
    EXPECT_FALSE(cuda_has_bf16());
  }
}

}  // namespace
}  // namespace seqtrain::tensor
