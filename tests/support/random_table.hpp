#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json_writer.hpp>

namespace seqtrain::tests {

/// Texts with labels, from a seed. The labels are few names in many spellings: in other case, with
/// blanks of several kinds around them, with line breaks in them (unless they must fit a TSV), or
/// names that stand for missing values. If `several` is set, a text has any number of labels.
class RandomTable {
 public:
  struct Row {
    std::string text;
    std::vector<std::string> labels;
  };

  explicit RandomTable(std::uint32_t seed, bool several = false, bool fits_tsv = true)
      : random_{seed}, several_{several}, fits_tsv_{fits_tsv} {
    std::vector<std::string> labels_used;
    while (labels_used.size() < 12) labels_used.push_back(label());
    const std::size_t count = 20 + below(60);
    for (std::size_t i = 0; i < count; ++i) {
      Row row{.text = "text, \"" + std::to_string(i) + "\"", .labels = {}};
      const std::size_t labels_of_row = several ? below(4) : 1;
      while (row.labels.size() < labels_of_row)
        row.labels.push_back(labels_used[below(labels_used.size())]);
      rows_.push_back(std::move(row));
    }
    rows_[0].labels = {"good"};  // There are two labels at least.
    rows_[1].labels = {"bad"};
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  [[nodiscard]] std::string csv() const {
    std::string out = "text,label\n";
    for (const Row& row : rows_) out += quoted(row.text) + ',' + quoted(cell(row)) + '\n';
    return out;
  }

  [[nodiscard]] std::string tsv() const {
    std::string out = "text\tlabel\n";
    for (const Row& row : rows_) out += row.text + '\t' + cell(row) + '\n';
    return out;
  }

  /// `as_list` writes a single label as a list of one.
  [[nodiscard]] std::string json_lines(bool as_list = false) const {
    std::string out;
    for (const Row& row : rows_) {
      json::Writer line;
      line.begin_object().member("text", std::string_view{row.text}).key("label");
      if (several_ || as_list) {
        line.value(row.labels);
      } else {
        line.value(std::string_view{row.labels[0]});
      }
      out += line.end_object().text() + '\n';
    }
    return out;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  template <std::size_t N>
  std::string one_of(const std::array<const char*, N>& choices) {
    return choices[below(N)];
  }

  std::string label() {
    constexpr std::array names{"good",  "Good",  "GOOD", "bad", "Bad",    "Ärger",
                               "ärger", "ÄRGER", "NULL", "nan", "so-so",  "[\"x\"]",
                               "1",     "1.0",   "10.0", "-",   "a\\\"b", "x, y"};
    constexpr std::array blanks{"", "", "", "", " ", "\u00a0", "\u3000", "\ufeff", "  "};
    std::string name = one_of(names);
    if (several_ && name.starts_with('[')) name = "list";
    if (!fits_tsv_ && below(4) == 0)
      name += one_of(std::array{"\nfilm", "\tfilm", "\r\nfilm", "\r"});
    return one_of(blanks) + name + one_of(blanks);
  }

  [[nodiscard]] std::string cell(const Row& row) const {
    return several_ ? json::Writer{}.value(row.labels).text() : row.labels[0];
  }

  static std::string quoted(std::string_view cell) {
    std::string out = "\"";
    for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
  }

  std::mt19937 random_;
  bool several_;
  bool fits_tsv_;
  std::vector<Row> rows_;
};

}  // namespace seqtrain::tests
