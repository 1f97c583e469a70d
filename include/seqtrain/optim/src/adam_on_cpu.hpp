#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/adam.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/optim/adam_on_cpu.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::optim {

namespace detail {

/// The numbers `begin` to `end` - 1 of an item.
struct Stretch {
  std::size_t item;
  std::size_t begin;
  std::size_t end;
};

/// The most numbers of a part that is not to be packed: whole blocks of 8-bit moments.
inline constexpr std::size_t most_numbers = 16'384;

/// Splits the items into parts that threads can share, those of item i into at most size_of(i)
/// numbers. The parts of an item cover the rows in rows_of(item), or all its numbers if
/// rows_of(item) is null.
template <class RowsOf, class SizeOf>
std::vector<Stretch> stretches(std::span<const AdamItem> items, const RowsOf& rows_of,
                               const SizeOf& size_of) {
  std::vector<Stretch> result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t most = size_of(i);
    const auto add = [&](std::size_t begin, std::size_t end) {
      for (; begin < end; begin += most) result.push_back({i, begin, std::min(begin + most, end)});
    };
    const auto count = static_cast<std::size_t>(items[i].parameter->value.numel());
    if (const tensor::RowSet* const rows = rows_of(items[i])) {
      const std::size_t size = count / rows->rows();
      rows->for_each_run(
          [&](std::size_t first, std::size_t end) { add(first * size, end * size); });
    } else {
      add(0, count);
    }
  }
  return result;
}

/// Returns the packed copy of an item if it has the parameter's last change and all rows are to be
/// updated, else null.
inline tensor::PackedCopy* packed_of(const AdamItem& item) {
  tensor::PackedCopy* const packed = item.parameter->packed.get();
  const bool is_current =
      packed != nullptr && packed->changes == tensor::changes_of(item.parameter->value);
  return is_current && item.moving == nullptr ? packed : nullptr;
}

/// Returns the numbers in a row of a parameter's value.
inline std::size_t row_size(const AdamItem& item) {
  const at::Tensor& value = item.parameter->value;
  return static_cast<std::size_t>(value.numel() / value.size(0));
}

/// Updates the numbers `begin` to `end` - 1 of item `index`.
inline void update(const AdamItem& item, std::size_t index, std::size_t begin, std::size_t end) {
  const auto numbers = [](const at::Tensor& tensor) { return tensor.mutable_data_ptr<float>(); };
  const auto& [exp_avg, exp_avg_sq, step, moving] = *item.moments;
  float* const value = numbers(item.parameter->value);
  float* const gradient = numbers(item.parameter->gradient);
  if (item.moments->eight_bit()) {
    const kernels::RandomBits random{
        random::mix(index, std::bit_cast<std::uint32_t>(*numbers(step)))};
    const kernels::AdamBytes bytes{value, gradient, exp_avg.mutable_data_ptr<std::uint8_t>(),
                                   exp_avg_sq.mutable_data_ptr<std::uint8_t>()};
    kernels::adam(item.factors, random, bytes, begin, end);
  } else {
    const kernels::AdamRows rows{value, gradient, numbers(exp_avg), numbers(exp_avg_sq)};
    kernels::adam(item.factors, rows.from(begin), end - begin);
  }
}

}  // namespace detail

[[nodiscard]] SEQTRAIN_SEPARATE double gradient_norm(std::span<const AdamItem> items) {
  const auto parts = detail::stretches(
      items, [](const AdamItem& item) { return item.parameter->touched.get(); },
      [](std::size_t) { return detail::most_numbers; });
  std::vector<double> sums(parts.size());
  tensor::for_each_task(parts.size(), [&](std::size_t i, std::size_t) {
    const auto& [item, begin, end] = parts[i];
    const auto* const gradient = items[item].parameter->gradient.const_data_ptr<float>();
    sums[i] = kernels::sum_of_squares(gradient + begin, end - begin);
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return std::sqrt(sum);
}

SEQTRAIN_SEPARATE void update(std::span<const AdamItem> items) {
  std::vector<tensor::PackedCopy*> packed;  // of each item; null if its rows are not to be packed
  packed.reserve(items.size());
  for (const AdamItem& item : items) {
    packed.push_back(detail::packed_of(item));
    if (packed.back() != nullptr) packed.back()->changes = -1;  // until all rows are packed
  }
  const auto parts = detail::stretches(
      items, [](const AdamItem& item) { return item.moving; },
      [&](std::size_t i) {
        if (packed[i] == nullptr) return detail::most_numbers;
        return packed[i]->rows * detail::row_size(items[i]);
      });
  tensor::for_each_task(parts.size(), [&](std::size_t i, std::size_t) {
    const auto& [index, begin, end] = parts[i];
    detail::update(items[index], index, begin, end);
    if (packed[index] != nullptr) packed[index]->pack(begin / detail::row_size(items[index]));
  });
  for (std::size_t i = 0; i < items.size(); ++i) {
    const at::Tensor& value = items[i].parameter->value;
    tensor::count_change(value);
    if (packed[i] != nullptr) packed[i]->changes = tensor::changes_of(value);
  }
}

}  // namespace seqtrain::optim
