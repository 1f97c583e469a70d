#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::tensor {
namespace {

const c10::Device cpu{c10::kCPU};

data::Batch two_rows() {
  data::Batch batch;
  batch.rows = 2;
  batch.width = 3;
  batch.input_ids = {5, 6, 7, 8, 9, 0};
  batch.token_type_ids = {0, 0, 1, 0, 1, 0};
  batch.lengths = {3, 2};
  batch.labels = {1, -1};
  batch.row_ids = {4, 2};
  return batch;
}

template <class T>
std::vector<T> values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return std::vector<T>(flat.const_data_ptr<T>(), flat.const_data_ptr<T>() + flat.numel());
}

TEST(Batch, HoldsWhatTheHostBatchHolds) {
  auto host = two_rows();
  const Batch batch = to_device(host, cpu);
  host.input_ids.assign(6, 1);  // the loader reuses its buffers
  EXPECT_EQ(batch.input_ids.sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(values<std::int32_t>(batch.input_ids), (std::vector{5, 6, 7, 8, 9, 0}));
  EXPECT_EQ(values<std::int32_t>(batch.token_type_ids), host.token_type_ids);
  EXPECT_EQ(values<std::int32_t>(batch.lengths), host.lengths);
  EXPECT_EQ(values<std::int32_t>(batch.labels), (std::vector{1, -1}));
  EXPECT_TRUE(batch.padded);
}

TEST(Batch, MasksThePadding) {
  const at::Tensor mask = attention_mask(to_device(two_rows(), cpu));
  EXPECT_EQ(mask.sizes(), (at::IntArrayRef{2, 1, 1, 3}));
  EXPECT_EQ(values<bool>(mask), (std::vector{true, true, true, true, true, false}));
}

TEST(Batch, KnowsWhenNothingIsPadded) {
  auto host = two_rows();
  host.lengths = {3, 3};
  EXPECT_FALSE(to_device(host, cpu).padded);
}

TEST(Batch, RefusesPartsThatDoNotFitTogether) {
  const auto refuses = [](auto change) {
    auto host = two_rows();
    change(host);
    EXPECT_THROW(static_cast<void>(to_device(host, cpu)), InputError);
  };
  refuses([](auto& batch) { batch.rows = 0; });
  refuses([](auto& batch) { batch.rows = -2; });
  refuses([](auto& batch) { batch.width = 4; });
  refuses([](auto& batch) { batch.input_ids.push_back(0); });
  refuses([](auto& batch) { batch.token_type_ids.clear(); });
  refuses([](auto& batch) { batch.labels.pop_back(); });
  refuses([](auto& batch) { batch.lengths = {3, 4}; });
  refuses([](auto& batch) { batch.lengths = {3, 0}; });
  refuses([](auto& batch) {
    batch.set = 1;
    batch.row_ids.clear();
  });
}

TEST(Batch, HoldsTargets) {
  auto host = two_rows();
  EXPECT_FALSE(to_device(host, cpu).targets.defined());
  host.targets = {0.5F, -1, 1e30F, 0, 3, 0.1F};
  const Batch batch = to_device(host, cpu);
  EXPECT_EQ(batch.targets.sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(values<float>(batch.targets), host.targets);
  EXPECT_EQ(values<std::int32_t>(batch.labels), (std::vector{1, -1}));
  host.targets.pop_back();
  EXPECT_THROW(static_cast<void>(to_device(host, cpu)), InputError);
}

}  // namespace
}  // namespace seqtrain::tensor
