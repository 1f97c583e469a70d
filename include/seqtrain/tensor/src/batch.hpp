#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/core/Device.h>
#include <c10/core/TensorOptions.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::tensor {

SEQTRAIN_SEPARATE void check_sizes(const data::Batch& batch) {
  const Demand demand{"batch"};
  const auto rows = static_cast<std::size_t>(batch.rows);
  const auto cells = rows * static_cast<std::size_t>(batch.width);
  demand(batch.rows >= 1 && batch.width >= 1, "rows", "must be at least 1, and so must the width");
  demand(batch.input_ids.size() == cells, "input_ids", "must have rows times width ids");
  demand(batch.token_type_ids.size() == cells, "token_type_ids",
         "must have rows times width types");
  demand(batch.lengths.size() == rows, "lengths", "must have one length for each row");
  demand(batch.labels.size() == rows, "labels", "must have one label for each row");
  demand(batch.targets.size() % rows == 0, "targets",
         "must have equally many numbers for each row");
  demand(batch.adapters.empty() || batch.adapters.size() == rows, "adapters",
         "must have one number for each row");
  const auto fits = [&](std::int32_t length) { return length >= 1 && length <= batch.width; };
  demand(std::ranges::all_of(batch.lengths, fits), "lengths", "must lie between 1 and the width");
  demand(batch.set == 0 || batch.row_ids.size() == rows, "row_ids",
         "must have one index for each row if the batch names its set");
}

namespace detail {

/// Sends a batch in one buffer: `count` integers that `write` writes at a place, whose end it
/// returns, then the lengths, labels and targets. `use` gets a function that takes the next numbers
/// of the buffer on the device, and returns a batch with the members that the integers are.
template <class Write, class Use>
Batch send(const data::Batch& batch, c10::Device device, std::int64_t count, const Write& write,
           const Use& use) {
  const auto targets = static_cast<std::int64_t>(batch.targets.size());
  const auto host = at::TensorOptions{at::kInt}.pinned_memory(!device.is_cpu());
  at::Tensor buffer = at::empty({count + 2 * batch.rows + targets}, host);
  auto* out = write(buffer.mutable_data_ptr<std::int32_t>());
  out = std::ranges::copy(batch.lengths, out).out;
  out = std::ranges::transform(batch.labels, out, [](auto label) {
          return static_cast<std::int32_t>(label);
        }).out;
  std::ranges::transform(batch.targets, out, std::bit_cast<std::int32_t, float>);
  buffer = buffer.to(device, /*non_blocking=*/true);
  std::int64_t taken = 0;
  const auto take = [&](std::int64_t numbers) {
    return buffer.narrow(0, std::exchange(taken, taken + numbers), numbers);
  };
  Batch sent = use(take);
  sent.lengths = take(batch.rows);
  sent.labels = take(batch.rows);
  if (targets > 0) {
    sent.targets = take(targets).view(at::kFloat).view({batch.rows, targets / batch.rows});
  }
  return sent;
}

}  // namespace detail

[[nodiscard]] SEQTRAIN_SEPARATE Batch labels_on(const data::Batch& batch, c10::Device device) {
  return detail::send(
      batch, device, 0, [](std::int32_t* out) { return out; }, [](const auto&) { return Batch{}; });
}

[[nodiscard]] SEQTRAIN_SEPARATE Batch to_device(const data::Batch& batch, c10::Device device) {
  check_sizes(batch);
  const std::int64_t cells = batch.rows * batch.width;
  const auto write = [&](std::int32_t* out) {
    out = std::ranges::copy(batch.input_ids, out).out;
    return std::ranges::copy(batch.token_type_ids, out).out;
  };
  return detail::send(batch, device, 2 * cells, write, [&](const auto& take) {
    const auto is_short = [&](auto length) { return length < batch.width; };
    Batch sent;
    sent.input_ids = take(cells).view({batch.rows, batch.width});
    sent.token_type_ids = take(cells).view({batch.rows, batch.width});
    sent.padded = std::ranges::any_of(batch.lengths, is_short);
    return sent;
  });
}

[[nodiscard]] SEQTRAIN_SEPARATE Batch to_device_packed(const data::Batch& batch,
                                                       c10::Device device) {
  check_sizes(batch);
  const std::int64_t texts =
      std::accumulate(batch.lengths.begin(), batch.lengths.end(), std::int64_t{0});
  const std::int64_t tokens = (texts / packed_tokens_multiple + 1) * packed_tokens_multiple;
  const auto write = [&](std::int32_t* out) {
    for (const auto* column : {&batch.input_ids, &batch.token_type_ids}) {
      for (std::int64_t row = 0; row < batch.rows; ++row) {
        out = std::copy_n(column->data() + row * batch.width,
                          batch.lengths[static_cast<std::size_t>(row)], out);
      }
      out = std::fill_n(out, tokens - texts, 0);
    }
    for (const auto length : batch.lengths) {
      std::iota(out, out + length, 0);
      out += length;
    }
    out = std::fill_n(out, tokens - texts, 0);
    *out++ = 0;
    out = std::partial_sum(batch.lengths.begin(), batch.lengths.end(), out);
    *out++ = static_cast<std::int32_t>(tokens);
    return out;
  };
  return detail::send(batch, device, 3 * tokens + batch.rows + 2, write, [&](const auto& take) {
    Batch sent;
    sent.input_ids = take(tokens).unsqueeze(0);
    sent.token_type_ids = take(tokens).unsqueeze(0);
    sent.positions = take(tokens).unsqueeze(0);
    sent.starts = take(batch.rows + 2);
    return sent;
  });
}

[[nodiscard]] SEQTRAIN_SEPARATE Batch labels_of(const data::Batch& batch) {
  Batch labels;
  labels.labels = at::tensor(batch.labels, at::kInt);
  if (!batch.targets.empty()) {
    labels.targets = at::tensor(batch.targets).view({std::ssize(batch.labels), -1});
  }
  return labels;
}

[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor positions(const Batch& batch) {
  if (batch.positions.defined()) return batch.positions;
  return at::arange(batch.input_ids.size(1), batch.input_ids.options());
}

[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor attention_mask(const Batch& batch) {
  const at::Tensor columns = at::arange(batch.input_ids.size(1), batch.lengths.options());
  return columns.lt(batch.lengths.unsqueeze(1)).unsqueeze(1).unsqueeze(1);
}

}  // namespace seqtrain::tensor
