#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <new>
#include <ostream>
#include <utility>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/load_any_network.hpp>
#include <seqtrain/model/load_classifier.hpp>

#include "support/made_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

/// Allocates the memory of all tensors on the processor while it exists, and counts it.
class CountingAllocator : public c10::Allocator {
 public:
  CountingAllocator() { c10::SetCPUAllocator(this, priority); }
  ~CountingAllocator() override { c10::SetCPUAllocator(before_, priority); }
  CountingAllocator(const CountingAllocator&) = delete;
  CountingAllocator& operator=(const CountingAllocator&) = delete;

  [[nodiscard]] std::size_t live_bytes() const { return live_bytes_; }
  /// Returns the largest number of live bytes so far.
  [[nodiscard]] std::size_t most_bytes() const { return most_bytes_; }

  c10::DataPtr allocate(std::size_t bytes) override {
    auto* const block = static_cast<Block*>(::operator new(sizeof(Block) + bytes, alignment));
    *block = {&live_bytes_, bytes};
    live_bytes_ += bytes;
    most_bytes_ = std::max(most_bytes_.load(), live_bytes_.load());
    return {block + 1, block, &release, c10::Device{c10::kCPU}};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static constexpr std::uint8_t priority = 200;
  static constexpr std::align_val_t alignment{64};

  struct alignas(64) Block {
    std::atomic<std::size_t>* live_bytes;
    std::size_t bytes;
  };

  static void release(void* memory) {
    auto* const block = static_cast<Block*>(memory);
    *block->live_bytes -= block->bytes;
    ::operator delete(memory, alignment);
  }

  c10::Allocator* before_ = c10::GetCPUAllocator();
  std::atomic<std::size_t> live_bytes_ = 0;
  std::atomic<std::size_t> most_bytes_ = 0;
};

struct KeptCase {
  tests::MadeModel model;
  Precision precision;

  friend std::ostream& operator<<(std::ostream& out, const KeptCase& test) {
    return out << test.model.family << " " << name(test.precision);
  }
};

/// A model for predictions with hand-written backend keeps its linear layers' weights packed only.
class OnlyPredicts : public testing::TestWithParam<KeptCase> {
 protected:
  [[nodiscard]] AnyClassifier load(bool only_predicts) const {
    const auto precision = only_predicts ? GetParam().precision : Precision::fp32;
    return load_classifier(
        checkpoint_.path(),
        {.freeze_encoder = true, .precision = precision, .only_predicts = only_predicts});
  }

  tests::MadeCheckpoint checkpoint_{GetParam().model};
};

TEST_P(OnlyPredicts, MakesNoTensorsOfPackedWeights) {
  const auto trainable_bytes = [&] {
    const CountingAllocator allocator;
    const auto model = load(false);
    return allocator.live_bytes();
  }();
  const CountingAllocator allocator;
  const auto model = load(true);
  const auto& [family, activation, layers, hidden, heads, inner, more] = GetParam().model;
  const std::int64_t weights = layers * hidden * (4 * hidden + 2 * inner);
  EXPECT_LE(allocator.most_bytes() + static_cast<std::size_t>(weights) * sizeof(float),
            trainable_bytes);
}

TEST_P(OnlyPredicts, ReadsNothingOfTheCheckpointAfterItIsLoaded) {
  auto model = load(true);
  auto operators = load_classifier(checkpoint_.path(), {.only_predicts = true, .autograd = true});
  const auto batch = tests::MadeCheckpoint::batch(0);
  const metrics::Logits before = model.logits(batch);
  const metrics::Logits operators_before = operators.logits(batch);
  std::filesystem::resize_file(checkpoint_.path() / "model.safetensors", 0);
  EXPECT_EQ(model.logits(batch), before);
  EXPECT_EQ(operators.logits(batch), operators_before);
}

TEST_P(OnlyPredicts, ComputesTheSameBitsAgain) {
  auto model = load(true);
  const auto batch = tests::MadeCheckpoint::batch(0);
  const metrics::Logits first = model.logits(batch);
  EXPECT_EQ(model.logits(batch), first);
  EXPECT_EQ(load(true).logits(batch), first);
}

TEST_P(OnlyPredicts, ANetworkOutlivesItsCheckpoint) {
  const ClassifierOptions options{.precision = GetParam().precision, .only_predicts = true};
  auto loaded = load_any_network(weights::WeightsFolder{checkpoint_.path()}, options);
  AnyClassifier model{std::move(loaded), options};
  const auto batch = tests::MadeCheckpoint::batch(0);
  EXPECT_EQ(model.logits(batch), load(true).logits(batch));
}

TEST_P(OnlyPredicts, HasNoParametersToTrainOrSave) {
  auto model = load(true);
  const tests::TemporaryDirectory directory;
  const auto saved = directory / "model";
  EXPECT_THROW((void)model.parameters(), Error);
  EXPECT_THROW((void)model.state_dict(), Error);
  EXPECT_THROW(model.load_state_dict({}), Error);
  EXPECT_THROW(model.save_pretrained(saved), Error);
  EXPECT_FALSE(exists(saved));
  EXPECT_THROW((void)model.accumulate(tests::MadeCheckpoint::batch(0), 1), Error);
}

INSTANTIATE_TEST_SUITE_P(
    Encoders, OnlyPredicts,
    testing::Values(KeptCase{{}, Precision::fp32}, KeptCase{{}, Precision::bf16},
                    KeptCase{{}, Precision::int8},
                    KeptCase{{.family = "modernbert", .more = R"("local_attention": 10)"},
                             Precision::bf16},
                    KeptCase{{.family = "mpnet"}, Precision::int8},
                    KeptCase{{.family = "gte"}, Precision::int8},
                    KeptCase{{.family = "roberta-prelayernorm"}, Precision::int8},
                    KeptCase{{.family = "megatron-bert"}, Precision::bf16}));

}  // namespace
}  // namespace seqtrain::model
