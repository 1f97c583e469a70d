#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::dist {

namespace detail {

inline void append(std::string& text, std::uint32_t value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::uint32_t number_at(const std::string& text, std::size_t& at) {
  std::uint32_t value = 0;
  if (text.size() < at + sizeof value) throw Error{"a short message from another process"};
  std::memcpy(&value, text.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace detail

/// Appends the number of runs of rows to a message, then the first row and the end of each run.
inline void append_runs(std::string& text, const tensor::RowSet& rows) {
  const std::size_t start = text.size();
  std::uint32_t runs = 0;
  detail::append(text, runs);
  rows.for_each_run([&](std::size_t first, std::size_t end) {
    detail::append(text, static_cast<std::uint32_t>(first));
    detail::append(text, static_cast<std::uint32_t>(end));
    ++runs;
  });
  std::memcpy(text.data() + start, &runs, sizeof runs);
}

/// Inserts the rows of the runs that a message has from byte `at` on, and moves `at` past them.
inline void insert_runs(const std::string& text, std::size_t& at, tensor::RowSet& rows) {
  for (std::uint32_t runs = detail::number_at(text, at); runs > 0; --runs) {
    const std::uint32_t first = detail::number_at(text, at);
    const std::uint32_t end = detail::number_at(text, at);
    if (first > end || end > rows.rows()) throw Error{"another process has a different model"};
    for (std::uint32_t row = first; row < end; ++row) rows.insert(row);
  }
}

/// The parameters of a model.
using Parameters = std::span<const tensor::Parameter>;

/// Calls `use(index, parameter)` for each parameter whose gradient records the rows that are used.
template <class Use>
void for_each_table(Parameters parameters, const Use& use) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].gradient.defined() && parameters[i].touched) use(i, parameters[i]);
  }
}

/// Elements [begin, begin + count) of a parameter's gradient, of the rows of a table that are used,
/// or of the losses.
struct Piece {
  static constexpr std::size_t losses = static_cast<std::size_t>(-1);

  std::size_t parameter;  ///< index of the parameter, or `losses`
  std::int64_t begin;
  std::int64_t count;
};

/// Numbers that are sent together.
struct Bucket {
  std::vector<Piece> pieces = {};
  std::int64_t count = 0;

  /// Calls `use(piece, elements)` for each piece; `elements` is its part of `numbers`.
  template <class Use>
  void for_each_piece(const at::Tensor& numbers, const Use& use) const {
    std::int64_t at = 0;
    for (const Piece& piece : pieces) {
      use(piece, numbers.narrow(0, at, piece.count));
      at += piece.count;
    }
  }
};

/// The buckets of a step, from the last parameter to the first; late parameters, the rows of tables
/// and the losses come last.
class Buckets {
 public:
  /// Cuts the gradients that are no tables and not late. Forgets other buckets.
  void cut_dense(Parameters parameters) {
    buckets_.assign(1, {});
    add_dense(parameters, false);
    if (buckets_.back().count == 0) buckets_.pop_back();
  }

  /// Cuts the late gradients, the rows of tables that are used, and the losses. The pieces of a
  /// table are those of a tensor that has these rows alone.
  void cut_others(Parameters parameters, std::int64_t losses) {
    buckets_.emplace_back();
    add_dense(parameters, true);
    for_each_table(parameters, [&](std::size_t i, const tensor::Parameter& parameter) {
      const std::int64_t width = parameter.gradient.numel() / parameter.gradient.size(0);
      add({i, 0, static_cast<std::int64_t>(parameter.touched->count()) * width});
    });
    add({Piece::losses, 0, losses});
  }

  [[nodiscard]] std::size_t size() const { return buckets_.size(); }
  [[nodiscard]] const Bucket& operator[](std::size_t i) const { return buckets_[i]; }

 private:
  static constexpr std::int64_t bucket_size = std::int64_t{1} << 20;  // in elements

  void add_dense(Parameters parameters, bool late) {
    for (std::size_t i = parameters.size(); i-- > 0;) {
      const tensor::Parameter& parameter = parameters[i];
      if (parameter.gradient.defined() && !parameter.touched && parameter.late == late) {
        add({i, 0, parameter.gradient.numel()});
      }
    }
  }

  void add(Piece piece) {
    while (piece.count > 0) {
      if (buckets_.back().count >= bucket_size) buckets_.emplace_back();
      Bucket& bucket = buckets_.back();
      const std::int64_t count = std::min(piece.count, bucket_size - bucket.count);
      bucket.pieces.push_back({piece.parameter, piece.begin, count});
      bucket.count += count;
      piece.begin += count;
      piece.count -= count;
    }
  }

  std::vector<Bucket> buckets_;
};

}  // namespace seqtrain::dist
