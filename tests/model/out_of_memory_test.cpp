#include <new>
#include <string>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <seqtrain/model/out_of_memory.hpp>

namespace seqtrain::model {
namespace {

const data::Batch batch{.rows = 2, .width = 5, .lengths = {5, 3}};

template <class Use>
std::string message(const Use& use) {
  try {
    within_memory(batch, use);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(OutOfMemory, TellsTheBatchAndTheFlag) {
  const std::string text = message([]() -> int { throw std::bad_alloc{}; });
  for (const char* part : {"8 tokens", "2 x 5", "--batch-size"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(OutOfMemory, KnowsTorchsErrors) {
  const std::string expected = message([]() -> int { throw std::bad_alloc{}; });
  EXPECT_EQ(message([] { return at::empty({std::int64_t{1} << 50}); }), expected);
  EXPECT_EQ(message([]() -> int {
              throw c10::OutOfMemoryError{{__func__, __FILE__, __LINE__}, "CUDA out of memory"};
            }),
            expected);
}

TEST(OutOfMemory, LeavesOtherErrorsAlone) {
  EXPECT_THROW(within_memory(batch, [] { return at::empty({-1}); }), c10::Error);
  EXPECT_THROW(within_memory(batch, []() -> int { throw InputError{"other"}; }), InputError);
  EXPECT_EQ(within_memory(batch, [] { return 7; }), 7);
}

}  // namespace
}  // namespace seqtrain::model
