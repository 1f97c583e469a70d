#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::dist {

/// Returns a view of a tensor with one dimension.
[[nodiscard]] inline at::Tensor flat(const at::Tensor& tensor) {
  return tensor.view({-1});
}

/// A copy of the gradients of a model's parameters: it holds the sum of one subtree while the next
/// one is computed. Rows of a table that no example has touched take no memory on a processor. On a
/// device the copy has all rows, and `Parameter::touched` keeps those of the whole step.
class GradientCopy {
 public:
  /// Copies the gradients and sets them to zero. Memory of an earlier copy is reused.
  void take(std::span<const tensor::Parameter> parameters) {
    parts_.resize(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const tensor::Parameter& parameter = parameters[i];
      if (!parameter.gradient.defined()) continue;
      if (has_rows(parameter)) {
        take_rows(parameter, parts_[i]);
      } else {
        if (!parts_[i].values.defined()) parts_[i].values = at::zeros_like(parameter.gradient);
        parts_[i].values.copy_(parameter.gradient);
        parameter.gradient.zero_();
      }
    }
  }

  /// Adds the copy to the gradients.
  void add_to(std::span<const tensor::Parameter> parameters) const {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const tensor::Parameter& parameter = parameters[i];
      if (!parameter.gradient.defined()) continue;
      if (has_rows(parameter)) {
        add_rows(parts_[i], parameter);
      } else {
        parameter.gradient.add_(parts_[i].values);
      }
    }
  }

  /// Returns the numbers that are copied, shaped like the gradient unless that is a table.
  [[nodiscard]] const at::Tensor& values(std::size_t parameter) const {
    return parts_[parameter].values;
  }

  /// Returns the rows of a table with these numbers, [rows, width]. Those that were not touched are
  /// zero.
  [[nodiscard]] at::Tensor rows(std::size_t parameter, const at::Tensor& numbers) const {
    const auto& [values, place] = parts_[parameter];
    if (place.empty()) return values.index_select(0, numbers);
    const std::int64_t width = values.size(1);
    at::Tensor result = at::zeros({numbers.numel(), width}, at::kFloat);
    auto* to = result.mutable_data_ptr<float>();
    const auto* const number = numbers.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < numbers.numel(); ++i, to += width) {
      const std::int64_t from = place[static_cast<std::size_t>(number[i])];
      if (from >= 0) std::copy_n(values.const_data_ptr<float>() + from * width, width, to);
    }
    return result;
  }

  /// Adds the rows of a table that the copy holds to `rows`.
  void insert_rows(std::size_t parameter, tensor::RowSet& rows) const {
    const auto& place = parts_[parameter].place;
    for (std::size_t row = 0; row < place.size(); ++row) {
      if (place[row] >= 0) rows.insert(row);
    }
  }

 private:
  static bool has_rows(const tensor::Parameter& parameter) {
    return parameter.touched && parameter.gradient.is_cpu();
  }

  struct Part {
    at::Tensor values;  ///< shaped like the gradient; for a table [rows copied, width]
    std::vector<std::int32_t> place;  ///< index in `values` of each row of a table, or -1
  };

  static void take_rows(const tensor::Parameter& parameter, Part& part) {
    tensor::find_touched(parameter);
    const auto rows = static_cast<std::int64_t>(parameter.touched->rows());
    const std::int64_t width = parameter.gradient.numel() / rows;
    part.place.assign(static_cast<std::size_t>(rows), -1);
    std::int32_t count = 0;
    parameter.touched->for_each_run([&](std::size_t first, std::size_t end) {
      for (; first < end; ++first) part.place[first] = count++;
    });
    if (!part.values.defined() || part.values.size(0) < count) {
      part.values = at::empty({std::max(count, 1), width}, at::kFloat);
    }
    auto* to = part.values.mutable_data_ptr<float>();
    auto* const gradient = parameter.gradient.mutable_data_ptr<float>();
    parameter.touched->for_each_run([&](std::size_t first, std::size_t end) {
      const auto size = static_cast<std::int64_t>(end - first) * width;
      float* const from = gradient + static_cast<std::int64_t>(first) * width;
      to = std::copy_n(from, size, to);
      std::fill_n(from, size, 0.0F);
    });
    tensor::forget_touched(parameter);
  }

  static void add_rows(const Part& part, const tensor::Parameter& parameter) {
    const std::int64_t width = part.values.size(1);
    const auto* const values = part.values.const_data_ptr<float>();
    auto* const gradient = parameter.gradient.mutable_data_ptr<float>();
    for (std::size_t row = 0; row < part.place.size(); ++row) {
      if (part.place[row] < 0) continue;
      parameter.touched->insert(row);
      float* const to = gradient + static_cast<std::int64_t>(row) * width;
      const float* const from = values + part.place[row] * width;
      for (std::int64_t i = 0; i < width; ++i) to[i] += from[i];
    }
  }

  std::vector<Part> parts_;
};

}  // namespace seqtrain::dist
