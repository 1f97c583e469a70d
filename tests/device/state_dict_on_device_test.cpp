#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/state_dict.hpp>

#include "support/fake_device.hpp"
#include "support/on_device.hpp"

namespace seqtrain::tests {
namespace {

/// Returns a tensor of each type that files have, one whose numbers do not lie in order, a number,
/// an empty tensor, and one that needs more memory than a block has.
std::vector<at::Tensor> made_tensors() {
  std::vector<at::Tensor> tensors;
  for (const auto& [type, dtype] : tensor::detail::dtypes) {
    tensors.push_back(at::arange(15).to(type));
  }
  tensors.push_back(at::arange(35, at::kFloat).view({5, 7}).t());
  tensors.push_back(at::arange(4, at::kFloat)[3]);
  tensors.push_back(at::empty({0, 3}));
  tensors.push_back(at::arange(9 << 20, at::kFloat));
  tensors.push_back(at::arange(3, at::kFloat));
  return tensors;
}

template <class Place>
tensor::StateDict dict_of(const std::vector<at::Tensor>& tensors, const Place& place) {
  tensor::StateDict state;
  for (std::size_t i = 0; i < tensors.size(); ++i) state.add(std::to_string(i), place(tensors[i]));
  return state;
}

TEST(StateDictOnDevice, HoldsTheProcessorsBytes) {
  const auto tensors = made_tensors();
  const auto host = dict_of(tensors, [](const at::Tensor& tensor) { return tensor; });
  const auto device = dict_of(tensors, on_device);
  const auto expected = host.views();
  const auto views = device.views();
  ASSERT_EQ(views.size(), expected.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_EQ(views[i].dtype, expected[i].dtype) << i;
    EXPECT_EQ(views[i].shape, expected[i].shape) << i;
    EXPECT_TRUE(std::ranges::equal(views[i].bytes, expected[i].bytes)) << i;
  }
}

TEST(StateDictOnDevice, WaitsOnceForAllCopiesThatAreQueued) {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& tensor : made_tensors()) tensors.push_back(on_device(tensor));
  reset_device_counts();
  const auto as_it_is = [](const at::Tensor& tensor) { return tensor; };
  const auto first = dict_of(tensors, as_it_is);
  const auto second = dict_of(tensors, as_it_is);
  EXPECT_EQ(device_counts().waits, 0);
  for (const auto* dict : {&first, &second, &first}) static_cast<void>(dict->views());
  EXPECT_EQ(device_counts().waits, 1);
  EXPECT_EQ(device_counts().copies_from, 2 * static_cast<std::int64_t>(tensors.size()));
  EXPECT_TRUE(std::ranges::equal(first.views()[0].bytes, second.views()[0].bytes));
}

}  // namespace
}  // namespace seqtrain::tests
