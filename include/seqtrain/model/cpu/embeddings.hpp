#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/norm_tensors.hpp>
#include <seqtrain/tensor/row_set.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// A table of rows, with its gradient and the row that is never trained, if there is one.
struct Table {
  at::Tensor rows;                          ///< [size, hidden], fp32; bfloat16 if rounded
  at::Tensor gradient;                      ///< undefined where frozen
  std::shared_ptr<tensor::RowSet> touched;  ///< rows of the gradient
  std::int64_t padding_id = -1;
};

/// The first part of the encoder. It adds the embeddings of words and, if the family has them, of
/// positions and of token types. Normalization, if there is one, and dropout follow.
class Embeddings {
 public:
  Table word;
  Table position = {};                   ///< without rows if positions are not embedded
  Table type = {};                       ///< without rows if there are no token types
  std::optional<NormTensors> norm = {};  ///< normalizes the sum
  /// Normalizes what the first layer reads of the residual, which stays as it is.
  std::optional<NormTensors> first_norm = {};
  float scale = 1;  ///< multiplies the sum
  /// Positions count the tokens that are not padding, from the pad id + 1 on, as in RoBERTa.
  bool positions_after_padding = false;

  /// The row of each table for one token. `word` is -1 if there is no token.
  struct Ids {
    std::int64_t word = -1;
    std::int64_t position = 0;
    std::int64_t type = 0;
  };

  /// Returns the number of columns of the tables.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(word.rows.size(1)); }

  /// Returns the tables that have rows, the word's first.
  [[nodiscard]] std::vector<const Table*> tables() const {
    std::vector<const Table*> result{&word};
    if (has_positions()) result.push_back(&position);
    if (has_types()) result.push_back(&type);
    return result;
  }

  /// Returns the ids for each row of the encoder's matrices.
  [[nodiscard]] std::vector<Ids> ids(const data::Batch& batch, const Layout& layout) const {
    std::vector<Ids> result(layout.rows());
    for (std::size_t s = 0; s < layout.sequences().size(); ++s) {
      const auto& sequence = layout.sequences()[s];
      const std::size_t start = s * static_cast<std::size_t>(batch.width);
      std::int64_t count = 0;
      for (std::size_t i = 0; i < sequence.length; ++i) {
        const std::int64_t id = batch.input_ids[start + i];
        if (id != word.padding_id) ++count;
        result[sequence.row + i] = {
            id, positions_after_padding ? after_padding(id, count) : static_cast<std::int64_t>(i),
            has_several_types() ? batch.token_type_ids[start + i] : 0};
      }
    }
    return result;
  }

  /// Returns eight texts of up to 16 ids from all over the vocabulary.
  [[nodiscard]] data::Batch probe() const {
    const std::int64_t skipped = positions_after_padding ? word.padding_id + 1 : 0;
    data::Batch batch;
    batch.rows = 8;
    const std::int64_t longest = has_positions() ? position.rows.size(0) - skipped : 16;
    batch.width = std::min<std::int64_t>(16, longest);
    batch.lengths.assign(static_cast<std::size_t>(batch.rows),
                         static_cast<std::int32_t>(batch.width));
    const std::int64_t count = batch.rows * batch.width;
    for (std::int64_t i = 0; i < count; ++i) {
      batch.input_ids.push_back(static_cast<std::int32_t>(i * word.rows.size(0) / count));
    }
    batch.token_type_ids.resize(batch.input_ids.size());
    return batch;
  }

  /// Rounds the table of words to bfloat16, which takes half of the memory. `scatter` must not be
  /// called afterwards.
  void round_words() { word.rows = word.rows.to(at::kBFloat16); }

  /// Computes what the norms need. Call it before a forward pass.
  void prepare_norms() {
    if (norm) norm->prepare();
    if (first_norm) first_norm->prepare();
  }

  /// Multiplies rows of the sum, or their gradients, by the scale.
  void multiply_by_scale(float* rows, std::size_t numbers) const {
    if (scale == 1) return;
    for (std::size_t i = 0; i < numbers; ++i) rows[i] *= scale;
  }

  /// Writes the sum of the tables' rows times the scale to `sum` [count, hidden], or zeros if there
  /// is no token.
  void add_up(const Ids* ids, std::size_t count, std::size_t hidden, float* sum) const {
    for (std::size_t row = 0; row < count; ++row) {
      float* const to = sum + row * hidden;
      if (ids[row].word < 0) {
        std::fill_n(to, hidden, 0.0F);
        continue;
      }
      if (word.rows.scalar_type() == at::kBFloat16) {
        std::copy_n(line<at::BFloat16>(word.rows, ids[row].word, hidden), hidden, to);
      } else {
        std::copy_n(line<float>(word.rows, ids[row].word, hidden), hidden, to);
      }
      for (const auto& [table, id] :
           {std::pair{&type, ids[row].type}, {&position, ids[row].position}}) {
        if (!table->rows.defined()) continue;
        const float* const numbers = line<float>(table->rows, id, hidden);
        for (std::size_t i = 0; i < hidden; ++i) to[i] += numbers[i];
      }
    }
    multiply_by_scale(sum, count * hidden);
  }

  /// Tells whether the tables get gradients.
  [[nodiscard]] bool learn() const { return word.gradient.defined(); }

  /// Adds the gradient [rows, hidden] of each row's sum to the gradients of the tables' rows. Each
  /// thread has columns of its own, so the additions are in the order of the rows.
  void scatter(const std::vector<Ids>& ids, std::size_t hidden, const float* gradient) const {
    for (const Ids& of : ids) {
      if (of.word < 0) continue;
      const auto touch = [](const Table& table, std::int64_t row) {
        table.touched->insert(static_cast<std::size_t>(row));
      };
      touch(word, of.word);
      if (has_positions()) touch(position, of.position);
      if (has_types()) touch(type, of.type);
    }
    const std::size_t width =
        round_up((hidden + tensor::workers() - 1) / tensor::workers(), kernels::lanes);
    tensor::for_each_task((hidden + width - 1) / width, [&](std::size_t task, std::size_t) {
      const std::size_t begin = task * width;
      const std::size_t end = std::min(hidden, begin + width);
      for (std::size_t row = 0; row < ids.size(); ++row) {
        if (ids[row].word < 0) continue;
        const float* const from = gradient + row * hidden;
        add(word, ids[row].word, from, begin, end, hidden);
        if (has_positions()) add(position, ids[row].position, from, begin, end, hidden);
        if (has_types()) add(type, ids[row].type, from, begin, end, hidden);
      }
    });
  }

 private:
  [[nodiscard]] bool has_positions() const { return position.rows.defined(); }
  [[nodiscard]] bool has_types() const { return type.rows.defined(); }
  [[nodiscard]] bool has_several_types() const { return has_types() && type.rows.size(0) > 1; }

  [[nodiscard]] std::int64_t after_padding(std::int64_t id, std::int64_t count) const {
    return word.padding_id + (id == word.padding_id ? 0 : count);
  }

  template <class T>
  static const T* line(const at::Tensor& rows, std::int64_t row, std::size_t hidden) {
    return rows.const_data_ptr<T>() + static_cast<std::size_t>(row) * hidden;
  }

  static void add(const Table& table, std::int64_t row, const float* from, std::size_t begin,
                  std::size_t end, std::size_t hidden) {
    if (row == table.padding_id) return;
    float* const to =
        table.gradient.mutable_data_ptr<float>() + static_cast<std::size_t>(row) * hidden;
    for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
  }
};

}  // namespace seqtrain::model::cpu
