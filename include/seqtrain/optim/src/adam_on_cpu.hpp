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
  bool has_gradient = true;  ///< false if the gradient is zero
};

/// The most numbers of a part that is not to be packed: whole blocks of 8-bit moments.
inline constexpr std::size_t most_numbers = 16'384;

/// Adds parts of at most `most` numbers that cover the numbers `begin` to `end` - 1 of an item.
inline void split(Stretch whole, std::size_t most, std::vector<Stretch>& parts) {
  for (std::size_t at = whole.begin; at < whole.end; at += most) {
    parts.push_back({whole.item, at, std::min(at + most, whole.end), whole.has_gradient});
  }
}

/// Returns the numbers in a row of a parameter's value.
inline std::size_t row_size(const AdamItem& item) {
  const at::Tensor& value = item.parameter->value;
  return static_cast<std::size_t>(value.numel() / value.size(0));
}

/// Splits the numbers that have gradients into parts that threads can share, those of item i into
/// at most size_of(i) numbers.
template <class SizeOf>
std::vector<Stretch> with_gradients(std::span<const AdamItem> items, const SizeOf& size_of) {
  std::vector<Stretch> parts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const tensor::Parameter& parameter = *items[i].parameter;
    if (!parameter.touched) {
      split({i, 0, static_cast<std::size_t>(parameter.value.numel())}, size_of(i), parts);
      continue;
    }
    const std::size_t size = row_size(items[i]);
    parameter.touched->for_each_run([&](std::size_t first, std::size_t end) {
      split({i, first * size, end * size}, size_of(i), parts);
    });
  }
  return parts;
}

/// Adds the numbers that an update changes although their gradients are zero.
inline void add_without_gradients(std::span<const AdamItem> items, std::vector<Stretch>& parts) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& touched = items[i].parameter->touched;
    if (!touched) continue;
    tensor::RowSet rows{touched->rows()};
    items[i].moving == nullptr ? rows.fill() : rows.insert(*items[i].moving);
    rows.remove(*touched);
    const std::size_t size = row_size(items[i]);
    rows.for_each_run([&](std::size_t first, std::size_t end) {
      split({i, first * size, end * size, false}, most_numbers, parts);
    });
  }
}

/// Returns the packed copy of an item if it has the parameter's last change and all rows are to be
/// updated, else null.
inline tensor::PackedCopy* packed_of(const AdamItem& item) {
  tensor::PackedCopy* const packed = item.parameter->packed.get();
  const bool is_current =
      packed != nullptr && packed->changes == tensor::changes_of(item.parameter->value);
  return is_current && !item.parameter->touched ? packed : nullptr;
}

/// Updates a part of an item.
inline void update(const AdamItem& item, const Stretch& part) {
  const auto numbers = [](const at::Tensor& tensor) { return tensor.mutable_data_ptr<float>(); };
  const auto& [exp_avg, exp_avg_sq, step, moving] = *item.moments;
  float* const value = numbers(item.parameter->value);
  float* const gradient = part.has_gradient ? numbers(item.parameter->gradient) : nullptr;
  if (item.moments->eight_bit()) {
    const kernels::RandomBits random{
        random::mix(part.item, std::bit_cast<std::uint32_t>(*numbers(step)))};
    const kernels::AdamBytes bytes{value, gradient, exp_avg.mutable_data_ptr<std::uint8_t>(),
                                   exp_avg_sq.mutable_data_ptr<std::uint8_t>()};
    kernels::adam(item.factors, random, bytes, part.begin, part.end);
  } else {
    const kernels::AdamRows rows{value, gradient, numbers(exp_avg), numbers(exp_avg_sq)};
    kernels::adam(item.factors, rows.from(part.begin), part.end - part.begin);
  }
}

}  // namespace detail

[[nodiscard]] SEQTRAIN_SEPARATE double gradient_norm(std::span<const AdamItem> items) {
  const auto parts =
      detail::with_gradients(items, [](std::size_t) { return detail::most_numbers; });
  std::vector<double> sums(parts.size());
  tensor::for_each_task(parts.size(), [&](std::size_t i, std::size_t) {
    const auto& [item, begin, end, _] = parts[i];
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
  auto parts = detail::with_gradients(items, [&](std::size_t i) {
    return packed[i] == nullptr ? detail::most_numbers
                                : packed[i]->rows * detail::row_size(items[i]);
  });
  detail::add_without_gradients(items, parts);
  tensor::for_each_task(parts.size(), [&](std::size_t i, std::size_t) {
    const detail::Stretch& part = parts[i];
    const AdamItem& item = items[part.item];
    detail::update(item, part);
    if (packed[part.item] != nullptr) packed[part.item]->pack(part.begin / detail::row_size(item));
  });
  for (std::size_t i = 0; i < items.size(); ++i) {
    const at::Tensor& value = items[i].parameter->value;
    tensor::count_change(value);
    if (packed[i] != nullptr) packed[i]->changes = tensor::changes_of(value);
  }
}

}  // namespace seqtrain::optim
