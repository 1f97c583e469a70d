#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/baseline/linear_model.hpp>
#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/tiled_rows.hpp>

namespace seqtrain::baseline {

SEQTRAIN_SEPARATE void Model::answer(std::string_view text, std::optional<std::string_view> pair,
                                     Scratch& scratch, std::span<float> logits) const {
  tfidf_.find(text, pair, scratch.reader, scratch.found);
  answer_found(scratch, logits);
}

SEQTRAIN_SEPARATE void Model::encode(std::string_view text, std::optional<std::string_view> pair,
                                     Scratch& scratch, std::vector<std::int32_t>& ids) const {
  tfidf_.find(text, pair, scratch.reader, scratch.found);
  ids.push_back(0);
  for (const auto& [index, count] : scratch.found) {
    ids.insert(ids.end(), count, static_cast<std::int32_t>(index) + 1);
  }
}

SEQTRAIN_SEPARATE void Model::answer_ids(std::span<const std::int32_t> ids, Scratch& scratch,
                                         std::span<float> logits) const {
  scratch.found.clear();
  for (const std::int32_t id : ids.subspan(std::min<std::size_t>(1, ids.size()))) {
    const auto index = static_cast<std::size_t>(id) - 1;
    const bool is_new = scratch.found.empty() || scratch.found.back().index != index;
    if (is_new) scratch.found.push_back({.index = index});
    ++scratch.found.back().count;
  }
  answer_found(scratch, logits);
}

SEQTRAIN_SEPARATE void Model::answer_found(Scratch& scratch, std::span<float> logits) const {
  tfidf_.weigh(scratch.found, scratch.row);
  const bool has_one_output = linear_.bias.size() < logits.size();
  linear_.apply(scratch.row, has_one_output ? logits.first(1) : logits);
  if (!has_one_output) return;
  logits[1] = logits[0] / 2;  // the difference of the two logits is the output
  logits[0] = -logits[1];
}

SEQTRAIN_SEPARATE std::size_t LearnerOptions::most_examples() const {
  return std::max<std::size_t>((std::size_t{1} << 22) / std::max<std::size_t>(labels, 1), 1);
}

SEQTRAIN_SEPARATE Learner::Learner(LearnerOptions options)
    : options_{std::move(options)},
      builder_{{.terms = options_.terms,
                .name = options_.name,
                .most_columns =
                    std::min(std::size_t{1} << 18,
                             (std::size_t{1} << 26) / std::max<std::size_t>(options_.labels, 1)),
                .threads = options_.threads}},
      sums_(options_.labels) {}

SEQTRAIN_SEPARATE void Learner::add(std::string_view text, std::optional<std::string_view> pair,
                                    std::int64_t label, std::span<const float> targets) {
  std::vector<float> all(targets.begin(), targets.end());
  if (all.empty()) {
    all.resize(options_.labels);
    all.at(static_cast<std::size_t>(label)) = 1;
  }
  for (std::size_t k = 0; k < all.size(); ++k) sums_[k] += static_cast<double>(all[k]);
  targets_.insert(targets_.end(), all.begin() + (has_one_output() ? 1 : 0), all.end());
  builder_.add(text, pair);
  ++examples_;
}

SEQTRAIN_SEPARATE std::vector<float> Learner::majority() const {
  std::vector<float> logits(options_.labels);
  const auto count = static_cast<double>(examples_);
  for (std::size_t k = 0; k < logits.size(); ++k) {
    if (options_.problem_type == ProblemType::regression) {
      logits[k] = static_cast<float>(sums_[k] / count);
    } else if (options_.problem_type == ProblemType::multi_label) {
      logits[k] = 2 * sums_[k] > count ? 1.0F : -1.0F;
    }
  }
  if (options_.problem_type == ProblemType::single_label) {
    logits[static_cast<std::size_t>(std::ranges::max_element(sums_) - sums_.begin())] = 1;
  }
  return logits;
}

namespace detail {

/// Returns the linear model whose outputs learn each by itself, as if there were one model for each
/// of several targets, whose sizes may differ.
inline LinearModel fit_each(const TiledRows& rows, std::span<const float> targets,
                            std::size_t outputs, const LinearOptions& options) {
  LinearModel all{.weights = std::vector<float>(rows.columns() * outputs), .bias = {}};
  for (std::size_t k = 0; k < outputs; ++k) {
    LinearData data{.rows = rows, .targets = {}, .loss = Loss::squared};
    for (std::size_t i = k; i < targets.size(); i += outputs) data.targets.push_back(targets[i]);
    const LinearModel one = fit_linear(data, options);
    for (std::size_t column = 0; column < rows.columns(); ++column) {
      all.weights[column * outputs + k] = one.weights[column];
    }
    all.bias.push_back(one.bias.front());
  }
  return all;
}

}  // namespace detail

SEQTRAIN_SEPARATE Model Learner::learn() {
  SparseRows rows;
  Tfidf tfidf = builder_.finish(rows);
  const TiledRows tiled{std::move(rows), tfidf.columns()};
  const ProblemType type = options_.problem_type;
  const double penalty = type == ProblemType::regression ? 1 : 1.0 / 3;
  const LinearOptions search{
      .penalty = penalty, .threads = options_.threads, .stop = options_.stop};
  if (type == ProblemType::regression && options_.labels > 1) {
    auto linear = detail::fit_each(tiled, targets_, options_.labels, search);
    return {type, std::move(tfidf), std::move(linear), majority()};
  }
  LinearData data{.rows = tiled,
                  .outputs = targets_.size() / examples_,
                  .targets = std::move(targets_),
                  .loss = type == ProblemType::regression                        ? Loss::squared
                          : type == ProblemType::multi_label || has_one_output() ? Loss::sigmoid
                                                                                 : Loss::softmax};
  const std::vector<double>& weights = options_.class_weights;
  if (has_one_output() && !weights.empty()) {
    data.weights_of_zero = {static_cast<float>(weights[0])};
    data.weights_of_one = {static_cast<float>(weights[1])};
  } else {
    data.weights_of_one.assign(weights.begin(), weights.end());
  }
  auto linear = fit_linear(data, search);
  return {type, std::move(tfidf), std::move(linear), majority()};
}

}  // namespace seqtrain::baseline
