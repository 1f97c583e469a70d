#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/baseline/linear_model.hpp>
#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/terms.hpp>
#include <seqtrain/baseline/tfidf.hpp>
#include <seqtrain/baseline/tfidf_builder.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::baseline {

/// A linear model of the terms of a text, and the answer that fits most training examples. A logit
/// is what a neural model's is.
class Model {
 public:
  Model(ProblemType problem_type, Tfidf tfidf, LinearModel linear, std::vector<float> majority)
      : problem_type_{problem_type},
        tfidf_{std::move(tfidf)},
        linear_{std::move(linear)},
        majority_{std::move(majority)} {}

  [[nodiscard]] ProblemType problem_type() const { return problem_type_; }
  /// Returns the number of logits.
  [[nodiscard]] std::size_t labels() const { return majority_.size(); }
  [[nodiscard]] const Tfidf& tfidf() const { return tfidf_; }
  [[nodiscard]] const LinearModel& linear() const { return linear_; }

  /// Returns the logits [labels] of the answer that fits most training examples: the most frequent
  /// label, each label that most examples have, or the mean of the targets.
  [[nodiscard]] std::span<const float> majority() const { return majority_; }

  /// One thread's working memory.
  struct Scratch {
    TermReader reader;
    std::vector<CountedIndex> found = {};
    std::vector<Entry> row = {};
  };
  [[nodiscard]] Scratch scratch() const { return {.reader = TermReader{tfidf_.options()}}; }

  /// Sets `logits` [labels] to those of a text or a pair of texts.
  void answer(std::string_view text, std::optional<std::string_view> pair, Scratch& scratch,
              std::span<float> logits) const;

  /// Appends the ids of a text or a pair of texts, as those of a tokenizer: 0, then in ascending
  /// order the index of each known term plus 1, as often as the text has the term.
  void encode(std::string_view text, std::optional<std::string_view> pair, Scratch& scratch,
              std::vector<std::int32_t>& ids) const;

  /// Sets `logits` [labels] to those of the text that has these ids. They have the bits of
  /// `answer`.
  void answer_ids(std::span<const std::int32_t> ids, Scratch& scratch,
                  std::span<float> logits) const;

 private:
  void answer_found(Scratch& scratch, std::span<float> logits) const;

  ProblemType problem_type_;
  Tfidf tfidf_;
  LinearModel linear_;  ///< with two labels of which a text has one, it has one output
  std::vector<float> majority_;
};

/// Options of `Learner`.
struct LearnerOptions {
  ProblemType problem_type = ProblemType::single_label;
  std::size_t labels = 2;
  /// A weight for each label, as `--class-weights` has them; empty if all are 1.
  std::vector<double> class_weights = {};
  TermOptions terms = {};
  std::string name = "training texts";  ///< for messages
  std::size_t threads = 1;
  std::stop_token stop = {};  ///< ends the search early; the model is then of no use

  /// Returns how many examples are learnt from at most, so that the search takes little memory.
  [[nodiscard]] std::size_t most_examples() const;
};

/// The most bytes of text that a `Learner` should get. Its rows take about ten times as many.
inline constexpr std::size_t most_text_bytes = std::size_t{40} << 20;

/// Learns a `Model` from examples: logistic regression of TF-IDF weights with a penalty on the
/// squares of the weights, as scikit-learn's `LogisticRegression(C=3)`, with one output for each
/// label; for regression `Ridge(alpha=1)`. The model does not depend on the number of threads.
class Learner {
 public:
  explicit Learner(LearnerOptions options);

  /// Adds an example that has a label. `targets` [labels] replace the label if there are any: a 0
  /// or 1 for each label, a probability for each label, or a number.
  void add(std::string_view text, std::optional<std::string_view> pair, std::int64_t label,
           std::span<const float> targets);

  /// Returns the number of examples that were added.
  [[nodiscard]] std::size_t examples() const { return examples_; }

  /// Returns the model. Throws `NoTerms` if no text has a word.
  [[nodiscard]] Model learn();

 private:
  [[nodiscard]] bool has_one_output() const {
    return options_.problem_type == ProblemType::single_label && options_.labels == 2;
  }
  [[nodiscard]] std::vector<float> majority() const;

  LearnerOptions options_;
  TfidfBuilder builder_;
  std::vector<float> targets_;  ///< [examples, outputs]
  std::vector<double> sums_;    ///< the sums of the targets of each label
  std::size_t examples_ = 0;
};

}  // namespace seqtrain::baseline

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/baseline/src/model.hpp>
#endif
