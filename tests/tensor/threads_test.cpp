#include <gtest/gtest.h>

#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::tensor {
namespace {

TEST(Threads, AreAsManyAsAskedFor) {
  const int before = threads();
  set_threads(1);
  EXPECT_EQ(threads(), 1);
  set_threads(before);
  EXPECT_EQ(threads(), before);
}

TEST(Threads, RefuseLessThanOne) {
  EXPECT_THROW(set_threads(0), InputError);
  EXPECT_THROW(set_threads(-1), InputError);
}

TEST(Threads, AreOneWhileThatIsAskedFor) {
  const int before = threads();
  set_threads(3);
  {
    const OneThread alone;
    EXPECT_EQ(threads(), 1);
  }
  EXPECT_EQ(threads(), 3);
  set_threads(before);
}

}  // namespace
}  // namespace seqtrain::tensor
