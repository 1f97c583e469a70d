#include <cstdint>
#include <fstream>
#include <new>
#include <string>

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/out_of_memory.hpp>

#include "support/deterministic.hpp"
#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

const data::Batch tiny_batch = [] {
  data::Batch small;
  small.rows = 2;
  small.width = 5;
  small.lengths = {5, 3};
  return small;
}();

template <class Use>
std::string message(const Use& use) {
  try {
    within_memory(tiny_batch, smaller_batches, use);
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

TEST(OutOfMemory, HasATypeOfItsOwn) {
  const auto use = [](const auto& work) { within_memory(tiny_batch, smaller_batches, work); };
  EXPECT_THROW(use([]() -> int { throw std::bad_alloc{}; }), model::OutOfMemory);
  EXPECT_THROW(use([] { return at::empty({std::int64_t{1} << 50}); }), model::OutOfMemory);
}

TEST(OutOfMemory, NamesAnOperatorThatDeterministicOperatorsForbid) {
  const tests::DeterminismRestored restored;
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  EXPECT_EQ(message([] {
              at::Context::alertNotDeterministic("sum_in_any_order");
              return 0;
            }),
            "the operator sum_in_any_order has no form that gives equal bits each time on this "
            "device; leave out --deterministic");
}

/// Limits this process to little more memory than it has, while this object exists.
class LittleMemory {
 public:
  LittleMemory() {
    ::getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    rlimit little = before_;
    little.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + (64U << 20);
    ::setrlimit(RLIMIT_AS, &little);
  }
  ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

TEST(OutOfMemory, EndsATrainingStepThatIsTooLarge) {
  const tests::OneThread one_thread;
  const tests::MadeCheckpoint checkpoint;
  const auto large = tests::MadeCheckpoint::batch(0, 20'000);
  const auto expected = "a batch of " + std::to_string(large.tokens()) + " tokens";
  for (const bool autograd : {false, true}) {
    auto model = load_classifier(checkpoint.path(), {.dropout = 0, .autograd = autograd});
    try {
      const LittleMemory little_memory;
      (void)model.accumulate(large, 1);
      ADD_FAILURE() << "there was enough memory";
    } catch (const Error& error) {
      EXPECT_NE(std::string{error.what()}.find(expected), std::string::npos) << error.what();
    }
  }
}

TEST(OutOfMemory, LeavesOtherErrorsAlone) {
  const auto problem = tests::problem_of(
      [] { within_memory(tiny_batch, smaller_batches, [] { return at::empty({-1}); }); });
  EXPECT_EQ(problem.find("LibTorch fails: "), 0U) << problem;
  EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
  EXPECT_THROW(
      within_memory(tiny_batch, smaller_batches, []() -> int { throw InputError{"other"}; }),
      InputError);
  EXPECT_EQ(within_memory(tiny_batch, smaller_batches, [] { return 7; }), 7);
}

}  // namespace
}  // namespace seqtrain::model
