#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

namespace seqtrain::tensor {

/// Makes tensors whose numbers lie in memory that belongs to something else, such as a mapped file,
/// until `own` is called.
class BorrowedMemory {
 public:
  /// Returns a tensor whose numbers are these floats. Calls `released()` when the tensor and its
  /// views no longer use them.
  at::Tensor borrow(std::span<const float> numbers, at::IntArrayRef shape,
                    std::function<void()> released) {
    const at::Tensor tensor = at::from_blob(
        const_cast<float*>(numbers.data()), shape,
        [released = std::move(released)](void*) { released(); }, at::TensorOptions{at::kFloat});
    storages_.emplace_back(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(
        tensor.storage().unsafeGetStorageImpl()));
    return tensor;
  }

  /// Copies the numbers of all tensors that still exist into memory of their own.
  void own() {
    for (const auto& storage : std::exchange(storages_, {})) {
      const auto used = storage.lock();
      if (!used) continue;
      auto copy = c10::GetCPUAllocator()->allocate(used->nbytes());
      std::memcpy(copy.get(), used->data(), used->nbytes());
      used->set_data_ptr(std::move(copy));
    }
  }

 private:
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages_;
};

}  // namespace seqtrain::tensor
