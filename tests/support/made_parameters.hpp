#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/dist/tree.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::tests {

/// A table of which few rows are touched, a frozen parameter, a parameter larger than a bucket, and
/// a bias.
struct MadeParameters {
  static constexpr std::int64_t width = 24;
  static constexpr std::int64_t table_rows = 1000;

  std::vector<tensor::Parameter> all;
  c10::Device device;

  explicit MadeParameters(c10::Device device_of_all = c10::kCPU) : device{device_of_all} {
    add("table", {table_rows, width});
    all.back().touched = std::make_shared<tensor::RowSet>(table_rows);
    all.push_back({.name = "frozen", .value = at::zeros({3}), .gradient = {}});
    add("large", {1025, 1030});
    add("bias", {7});
  }

  void add(const char* name, at::IntArrayRef shape) {
    const auto options = at::TensorOptions{device};
    all.push_back(
        {.name = name, .value = at::zeros(shape, options), .gradient = at::zeros(shape, options)});
  }

  /// Adds the gradients of a leaf, as the kernels do, or on a device by operators.
  void add_leaf(std::int64_t leaf) {
    if (!device.is_cpu()) return add_copies_of(leaf);
    const random::Stream stream{9, random::Purpose::data, static_cast<std::uint64_t>(leaf)};
    const auto number = [&](std::uint64_t i) {
      const auto bits = stream.at(i);
      return static_cast<float>(static_cast<std::int32_t>(bits)) /
             static_cast<float>(std::int64_t{1} << (bits >> 58));
    };
    for (const std::int64_t row : {leaf % 3, 10 + 7 * leaf, std::int64_t{500}}) {
      all[0].touched->insert(static_cast<std::size_t>(row));
      auto* const to = all[0].gradient.mutable_data_ptr<float>() + row * width;
      for (std::int64_t i = 0; i < width; ++i) to[i] += number(static_cast<std::uint64_t>(i));
    }
    for (const std::size_t which : {std::size_t{2}, std::size_t{3}}) {
      auto* const to = all[which].gradient.mutable_data_ptr<float>();
      for (std::int64_t i = 0; i < all[which].gradient.numel(); ++i) {
        to[i] += number(static_cast<std::uint64_t>(i) + which);
      }
    }
  }

  void add_copies_of(std::int64_t leaf) {
    MadeParameters host;
    host.add_leaf(leaf);
    all[0].touched->insert(*host.all[0].touched);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].gradient.defined()) all[i].gradient.add_(host.all[i].gradient.to(device));
    }
  }

  void add_tree(const dist::Leaves& node) {
    if (node.size() == 1) return add_leaf(node.first);
    const auto [left, right] = node.children();
    add_tree(left);
    dist::GradientCopy copy;
    copy.take(all);
    add_tree(right);
    copy.add_to(all);
  }

  /// Returns the bytes of the gradients.
  [[nodiscard]] std::string bytes() const {
    std::string text;
    for (const auto& parameter : all) {
      if (!parameter.gradient.defined()) continue;
      const at::Tensor host = parameter.gradient.cpu();
      text.append(static_cast<const char*>(host.const_data_ptr()), host.nbytes());
    }
    return text;
  }
};

}  // namespace seqtrain::tests
