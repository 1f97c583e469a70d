#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/load_classifier.hpp>

#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"

namespace {

/// How many allocations of this thread succeed before one fails; negative: none fails.
thread_local std::int64_t allocations_before_failure = -1;

/// If true, only aligned allocations fail: those of the hand-written backend.
thread_local bool counts_only_aligned = false;

void* allocate(std::size_t size, std::size_t alignment, bool counts) {
  const bool fails = counts && allocations_before_failure >= 0 && allocations_before_failure-- == 0;
  if (fails) throw std::bad_alloc{};
  void* const memory = ::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr && size > 0) throw std::bad_alloc{};
  return memory;
}

}  // namespace

// The program's own operators: those of the library free what these allocate.
void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t), !counts_only_aligned);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment), true);
}

namespace seqtrain::model {
namespace {

struct FailureCase {
  tests::MadeModel model;
  ClassifierOptions options;

  friend std::ostream& operator<<(std::ostream& out, const FailureCase& test) {
    return out << test.model.family << " " << name(test.options.precision);
  }
};

/// Lets each allocation of a pass fail, one after another, and computes again. A result must not
/// depend on passes that failed before.
class FailedAllocation : public testing::TestWithParam<FailureCase> {
 protected:
  using Act = std::function<std::vector<float>(AnyClassifier&)>;

  void fail_each(const Act& act) const {
    auto undisturbed = load();
    const auto expected = act(undisturbed);
    for (std::int64_t before = 0;; ++before) {
      auto model = load();
      allocations_before_failure = before;
      try {
        (void)act(model);
      } catch (const std::exception&) {  // ours, or oneDNN's of its own kind
      }
      const bool failed = std::exchange(allocations_before_failure, -1) < 0;
      ASSERT_EQ(act(model), expected) << "after allocation " << before << " failed";
      if (!failed) break;
    }
  }

 private:
  [[nodiscard]] AnyClassifier load() const {
    return load_classifier(checkpoint_.path(), GetParam().options);
  }

  tests::OneThread one_thread_;
  tests::MadeCheckpoint checkpoint_{GetParam().model};
};

std::vector<float> logits_of(AnyClassifier& model) {
  const auto logits = model.logits(tests::MadeCheckpoint::batch(0, 3));
  return {logits.data(), logits.data() + logits.size()};
}

TEST_P(FailedAllocation, LeavesLaterPredictionsAsTheyAre) {
  fail_each(logits_of);
}

TEST_P(FailedAllocation, LeavesLaterLossesAsTheyAre) {
  if (GetParam().options.only_predicts) return;
  counts_only_aligned = true;  // torch's autograd ends the program where its own allocations fail
  fail_each([](AnyClassifier& model) {
    const auto loss = model.accumulate(tests::MadeCheckpoint::batch(0, 3), 1);
    return std::vector<float>{static_cast<float>(static_cast<double>(loss))};
  });
  counts_only_aligned = false;
}

const std::string distances =
    R"("relative_attention": true, "pos_att_type": "p2c|c2p", "position_buckets": 8)";

INSTANTIATE_TEST_SUITE_P(
    Encoders, FailedAllocation,
    testing::Values(FailureCase{{}, {.precision = Precision::fp32}},
                    FailureCase{{}, {.precision = Precision::bf16, .only_predicts = true}},
                    FailureCase{{}, {.precision = Precision::int8, .only_predicts = true}},
                    FailureCase{{.family = "modernbert", .more = R"("local_attention": 10)"},
                                {.precision = Precision::bf16}},
                    FailureCase{{.family = "deberta-v2", .more = distances},
                                {.precision = Precision::fp32}},
                    FailureCase{{.family = "deberta-v2", .more = distances},
                                {.precision = Precision::int8, .only_predicts = true}}));

}  // namespace
}  // namespace seqtrain::model
