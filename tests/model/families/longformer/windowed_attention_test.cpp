#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>
#include <gtest/gtest.h>

#include <seqtrain/model/families/longformer/windowed_attention.hpp>

namespace seqtrain::model {
namespace {

QueriesKeysValues some(std::int64_t width, std::int64_t queries) {
  return {at::rand({2, 3, queries, 4}), at::rand({2, 3, width, 4}), at::rand({2, 3, width, 4})};
}

tensor::Batch padded_batch(std::int64_t width, std::int64_t shorter) {
  tensor::Batch batch;
  batch.input_ids = at::zeros({2, width}, at::kInt);
  batch.lengths = at::tensor(std::vector<std::int32_t>{static_cast<std::int32_t>(width),
                                                       static_cast<std::int32_t>(shorter)});
  batch.padded = shorter < width;
  return batch;
}

/// Computes one softmax over all keys that are seen.
at::Tensor whole(const QueriesKeysValues& qkv, const at::Tensor& seen) {
  const at::Tensor scores = at::matmul(qkv[0].div(2), qkv[1].transpose(-2, -1));
  return at::matmul(at::softmax(scores.masked_fill(seen.logical_not(), -1e30), -1), qkv[2]);
}

TEST(WindowedAttention, EqualsAttentionWithAMask) {
  for (const std::int64_t width : {1, 2, 9, 65, 200}) {
    for (const std::int64_t reach : {1, 8, 70}) {
      for (const std::int64_t shorter : {width, (width + 1) / 2}) {
        const auto batch = padded_batch(width, shorter);
        const auto qkv = some(width, width), first = some(width, 1);
        const at::Tensor place = at::arange(width);
        const at::Tensor is_token = place.lt(batch.lengths.unsqueeze(1)).view({2, 1, 1, width});
        const at::Tensor near = place.sub(place.unsqueeze(1)).abs().le(reach);
        const at::Tensor seen = near.logical_or(place.eq(0)).logical_and(is_token);
        const at::Tensor expected =
            at::cat({whole(first, is_token), whole(qkv, seen).narrow(2, 1, width - 1)}, 2);
        Dropout off;
        const at::Tensor got = windowed_attention(qkv, first, batch, reach, 0, off);
        EXPECT_TRUE(at::allclose(got, expected, 1e-4, 1e-5)) << width << " " << reach;
        Dropout on{1, c10::kCPU};  // takes the other way, by separate operators
        const at::Tensor dropped = windowed_attention(qkv, first, batch, reach, 1e-12, on);
        EXPECT_TRUE(at::allclose(dropped, expected, 1e-4, 1e-5)) << width << " " << reach;
      }
    }
  }
}

}  // namespace
}  // namespace seqtrain::model
