#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/data/example.hpp>

namespace seqtrain::data {

/// Tells whether a label is -1, as Hugging Face's data sets write it, or -1.0, as pandas does.
[[nodiscard]] SEQTRAIN_SEPARATE bool is_no_label_id(std::string_view label);

/// The names of a task's labels and its problem type. The id of a label is its index.
class Labels {
 public:
  /// Throws `InputError` unless there are at least two names (for regression at least one, and for
  /// `loss_alone` exactly one), none is empty and all are different.
  explicit Labels(std::vector<std::string> names,
                  ProblemType problem_type = ProblemType::single_label, bool soft = false);

  /// Returns the labels of MultiNLI, SNLI and XNLI in Hugging Face's order.
  static Labels nli() { return Labels{{"entailment", "neutral", "contradiction"}}; }
  /// Returns the labels of SST-2 in GLUE's order.
  static Labels sentiment() { return Labels{{"negative", "positive"}}; }
  /// Returns the one label of regression, named as in transformers.
  static Labels regression() { return Labels{{"LABEL_0"}, ProblemType::regression}; }
  /// Returns the one label of all examples of a model that is scored by its loss alone. Labels in
  /// files are ignored.
  static Labels none() { return Labels{{"LABEL_0"}, ProblemType::loss_alone}; }

  [[nodiscard]] ProblemType problem_type() const { return problem_type_; }
  /// Tells whether an example has a probability of each label instead of one label.
  [[nodiscard]] bool soft() const { return soft_; }
  /// Returns the number of targets of an example that has numbers instead of a label id.
  [[nodiscard]] std::size_t targets() const {
    const bool has_ids = problem_type_ == ProblemType::single_label && !soft_;
    return has_ids || problem_type_ == ProblemType::loss_alone ? 0 : size();
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Returns the name of a label. Throws `std::out_of_range` if there is none.
  [[nodiscard]] const std::string& name(std::size_t id) const { return names_.at(id); }

  /// Returns the id of a label as written in a file. An exact match comes first. Then a whole
  /// number is the id itself if no name is a number. Last, the only name with an equal `label_key`
  /// matches: letter case, blanks around the label and the form of a whole number are ignored.
  /// Returns nothing if no name or several names match.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view text) const;

  /// Tells whether a label means that an example has no gold label: "-", "-1" or "-1.0", if that is
  /// not one of the labels. Only single-label tasks have such examples.
  [[nodiscard]] bool is_no_label(std::string_view text) const;

  /// Returns an error message for a label that `find` does not know.
  [[nodiscard]] std::string problem_with(std::string_view text) const;

  /// Returns the names separated by commas, shortened if there are many.
  [[nodiscard]] std::string listed() const;

  bool operator==(const Labels&) const = default;

 private:
  [[nodiscard]] bool is_id(std::int64_t number) const {
    return number >= 0 && number < static_cast<std::int64_t>(size());
  }

  /// Returns the number if a label is a whole one and no name is a number.
  [[nodiscard]] std::optional<std::int64_t> as_id(std::string_view text) const;

  std::vector<std::string> names_;
  std::vector<std::string> keys_ = {};  ///< a `label_key` for each name
  ProblemType problem_type_;
  bool soft_ = false;
  bool numbers_are_ids_ = true;  // No name is a number.
};

}  // namespace seqtrain::data

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/data/src/labels.hpp>
#endif
