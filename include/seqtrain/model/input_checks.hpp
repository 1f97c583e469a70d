#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/data/batch.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

namespace detail {

template <class T>
void check_below(const std::vector<T>& numbers, std::int64_t limit, const char* field,
                 const char* what, T least = 0) {
  const auto outside = [=](T number) { return number < least || number >= limit; };
  const auto found = std::ranges::find_if(numbers, outside);
  if (found == numbers.end()) return;
  throw InputError{std::to_string(*found) + " does not belong to the model's " +
                       std::to_string(limit) + " " + what,
                   {.object = "batch", .field = field}};
}

}  // namespace detail

/// Throws `InputError` if the sizes of the batch's members do not fit together, if an id has no row
/// in its embedding, or if a row is too long for the positions.
inline void check_ids(const data::Batch& batch, const weights::ModelConfig& config,
                      std::int64_t max_length) {
  detail::check_below(batch.input_ids, config.vocab_size, "input_ids", "vocabulary entries");
  if (config.type_vocab_size > 1) {
    detail::check_below(batch.token_type_ids, config.type_vocab_size, "token_type_ids", "types");
  }
  if (batch.width > max_length) {
    throw InputError{"width " + std::to_string(batch.width) + " is above the model's " +
                         std::to_string(max_length) + " positions",
                     {.object = "batch"}};
  }
  tensor::check_sizes(batch);
}

/// Throws `InputError` if a row's label is not one of the model's, or if rows lack the numbers that
/// the model learns. A row with numbers in place of a label may have the label -1.
inline void check_labels(const data::Batch& batch, std::int64_t labels, ProblemType problem) {
  const bool single = problem == ProblemType::single_label;
  const std::int64_t least = single && !batch.targets.empty() ? -1 : 0;
  detail::check_below(batch.labels, labels, "labels", "labels", least);
  if (single && batch.targets.empty()) return;
  const auto needed = static_cast<std::size_t>(batch.rows * labels);
  if (batch.targets.size() != needed ||
      !std::ranges::all_of(batch.targets, [](float number) { return std::isfinite(number); })) {
    throw InputError{"must be " + std::to_string(labels) + " finite numbers a row",
                     {.object = "batch", .field = "targets"}};
  }
}

/// Checks a batch's labels or targets against a model's configuration.
inline void check_labels(const data::Batch& batch, const weights::ModelConfig& config) {
  check_labels(batch, config.num_labels(), config.problem());
}

/// Throws `InputError` with the model's file if a tokenizer of this size makes ids that the model
/// has no embedding for.
inline void check_vocabulary(const weights::ModelConfig& config, std::size_t vocab_size,
                             const std::string& file) {
  if (vocab_size <= static_cast<std::size_t>(config.vocab_size)) return;
  throw InputError{"the tokenizer has " + std::to_string(vocab_size) +
                       " entries, the model's embedding " + std::to_string(config.vocab_size),
                   {.object = file, .field = "vocab_size"},
                   "use the tokenizer that belongs to the checkpoint"};
}

}  // namespace seqtrain::model
