#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json_writer.hpp>

namespace seqtrain::data {

/// Returns the value of a cell in a column that stands for a label: 0 or 1, True or False. Returns
/// nothing if the cell holds something else.
[[nodiscard]] inline std::optional<bool> zero_or_one(std::string_view cell) {
  constexpr std::array<std::string_view, 5> ones{"1", "True", "1.0", "true", "TRUE"};
  constexpr std::array<std::string_view, 5> zeros{"0", "False", "0.0", "false", "FALSE"};
  if (std::ranges::count(ones, cell) > 0) return true;
  if (std::ranges::count(zeros, cell) > 0) return false;
  return {};
}

/// Makes the label of a record from columns that each stand for a label.
class ColumnLabels {
 public:
  /// `names` are the labels and must outlive this object. If `as_json` is set a record may have any
  /// number of labels, otherwise it has one.
  ColumnLabels(const std::vector<std::string>& names, bool as_json)
      : names_{&names}, as_json_{as_json} {}

  void begin_record() { values_.assign(names_->size(), missing); }

  /// Sets the value of a label's column.
  void set(std::size_t label, std::string_view cell) {
    const auto value = zero_or_one(cell);
    values_[label] = value ? static_cast<std::int8_t>(*value) : wrong;
  }

  /// Completes a record. Returns an error message, or "" if there is none.
  [[nodiscard]] std::string finish_record() {
    label_.clear();
    json::Writer array;
    array.begin_array();
    std::size_t count = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] < 0) return "expected 0 or 1, or True or False, in '" + (*names_)[i] + "'";
      if (values_[i] == 0) continue;
      array.value(std::string_view{(*names_)[i]});
      label_ = (*names_)[i];
      ++count;
    }
    if (as_json_) label_ = array.end_array().text();
    if (as_json_ || count == 1) return {};
    return std::to_string(count) +
           " labels are 1, expected one; several labels of a record are "
           "--problem-type multi_label_classification";
  }

  /// Returns the label of the record: a JSON array of names, or a name. It is valid until the next
  /// record.
  [[nodiscard]] std::string_view label() const { return label_; }

 private:
  static constexpr std::int8_t missing = -1, wrong = -2;

  const std::vector<std::string>* names_;
  bool as_json_;
  std::vector<std::int8_t> values_;
  std::string label_;
};

}  // namespace seqtrain::data
