#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/tensor/borrowed_memory.hpp>

namespace seqtrain::tensor {
namespace {

class BorrowedMemoryTest : public testing::Test {
 protected:
  at::Tensor borrow() {
    return memory_.borrow(numbers_, {2, 2}, [this] { ++released_; });
  }

  std::vector<float> numbers_{1, 2, 3, 4};
  int released_ = 0;
  BorrowedMemory memory_;
};

TEST_F(BorrowedMemoryTest, TensorsHaveTheNumbersWhereTheyLie) {
  const at::Tensor tensor = borrow();
  EXPECT_EQ(tensor.const_data_ptr<float>(), numbers_.data());
  EXPECT_EQ(tensor[1][0].item<float>(), 3);
  EXPECT_EQ(released_, 0);
}

TEST_F(BorrowedMemoryTest, IsReleasedWithTheLastView) {
  at::Tensor tensor = borrow();
  at::Tensor view = tensor[1];
  tensor.reset();
  EXPECT_EQ(released_, 0);
  view.reset();
  EXPECT_EQ(released_, 1);
  memory_.own();
  EXPECT_EQ(released_, 1);
}

TEST_F(BorrowedMemoryTest, TensorsAndViewsOwnACopyAfterwards) {
  const at::Tensor tensor = borrow();
  const at::Tensor view = tensor[1];
  memory_.own();
  EXPECT_EQ(released_, 1);
  numbers_ = {0, 0, 0, 0};
  EXPECT_EQ(view[0].item<float>(), 3);
  tensor[1][0] = 7;
  EXPECT_EQ(view[0].item<float>(), 7);
}

}  // namespace
}  // namespace seqtrain::tensor
