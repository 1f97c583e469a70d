#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/csv_cell.hpp>

namespace seqtrain::run {

/// An example whose label is probably wrong.
struct DoubtfulLabel {
  std::int64_t row = 0;  ///< the number of its record in the file, counted from 1
  std::int64_t fold = 0;
  std::string text = {};
  std::optional<std::string> pair = {};
  std::string label = {};      ///< the given one
  std::string suggested = {};  ///< the one that it more likely has
  double score = 0;            ///< the given label's
  double suggested_score = 0;
};

/// An example whose text others have with other labels.
struct EqualText {
  std::size_t group = 0;  ///< the number of their common text, counted from 1
  std::int64_t row = 0;
  std::string text = {};
  std::optional<std::string> pair = {};
  std::string label = {};
};

namespace detail {

/// Returns a line of CSV by RFC 4180, which ends with LF.
inline std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    if (!line.empty()) line += ',';
    // An empty first cell needs quotes, so that the line is not taken for one without it.
    if (cell.empty()) line += "\"\"";
    data::append_csv_cell(line, cell);
  }
  return line + "\n";
}

inline std::string number_text(double value) {
  return json::Writer{}.value(static_cast<float>(value)).text();
}

/// Tells whether any of the examples has two texts.
template <class Example>
bool has_pairs(std::span<const Example> examples) {
  for (const Example& one : examples) {
    if (one.pair) return true;
  }
  return false;
}

/// Appends the texts of an example to the cells of a line.
template <class Example>
void add_texts(std::vector<std::string>& cells, const Example& one, bool pairs) {
  cells.push_back(one.text);
  if (pairs) cells.push_back(one.pair.value_or(""));
}

/// Writes a choice of a label as Label Studio's annotations have it.
inline void append_choice(json::Writer& out, std::string_view label) {
  out.key("result").begin_array().begin_object();
  out.member("from_name", "label").member("to_name", "text").member("type", "choices");
  out.key("value").begin_object().key("choices").begin_array().value(label).end_array();
  out.end_object().end_object().end_array();
}

}  // namespace detail

/// Writes `label_errors.csv`, a line for each example: row, fold, text, text_pair if there are
/// pairs, label, suggested, score, suggested_score. The file appears whole or not at all.
inline void write_label_errors(const std::filesystem::path& file,
                               std::span<const DoubtfulLabel> labels) {
  const bool pairs = detail::has_pairs(labels);
  std::vector<std::string> head{"row", "fold", "text"};
  if (pairs) head.emplace_back("text_pair");
  for (const char* name : {"label", "suggested", "score", "suggested_score"}) {
    head.emplace_back(name);
  }
  AtomicFile out{file};
  out.write(detail::csv_line(head));
  for (const DoubtfulLabel& one : labels) {
    std::vector<std::string> cells{std::to_string(one.row), std::to_string(one.fold)};
    detail::add_texts(cells, one, pairs);
    cells.insert(cells.end(), {one.label, one.suggested, detail::number_text(one.score),
                               detail::number_text(one.suggested_score)});
    out.write(detail::csv_line(cells));
  }
  out.commit();
}

/// Writes `label_errors.label_studio.json`, a list of Label Studio's tasks: the given label is an
/// annotation, the suggested one a prediction. They suit a `Choices` called `label` for a `Text`
/// called `text`. The file appears whole or not at all.
inline void write_label_studio(const std::filesystem::path& file,
                               std::span<const DoubtfulLabel> labels) {
  json::Writer out{2};
  out.begin_array();
  for (const DoubtfulLabel& one : labels) {
    out.begin_object().key("data").begin_object();
    out.member("text", std::string_view{one.text});
    if (one.pair) out.member("text_pair", std::string_view{*one.pair});
    out.member("row", one.row).end_object();
    out.key("annotations").begin_array().begin_object();
    detail::append_choice(out, one.label);
    out.end_object().end_array();
    out.key("predictions").begin_array().begin_object();
    detail::append_choice(out, one.suggested);
    out.member("score", static_cast<float>(one.suggested_score));
    out.end_object().end_array().end_object();
  }
  write_file_atomically(file, out.end_array().text() + "\n");
}

/// Writes `equal_texts.csv`, a line for each example: group, row, text, text_pair if there are
/// pairs, label. The file appears whole or not at all.
inline void write_equal_texts(const std::filesystem::path& file,
                              std::span<const EqualText> examples) {
  const bool pairs = detail::has_pairs(examples);
  std::vector<std::string> head{"group", "row", "text"};
  if (pairs) head.emplace_back("text_pair");
  head.emplace_back("label");
  AtomicFile out{file};
  out.write(detail::csv_line(head));
  for (const EqualText& one : examples) {
    std::vector<std::string> cells{std::to_string(one.group), std::to_string(one.row)};
    detail::add_texts(cells, one, pairs);
    cells.push_back(one.label);
    out.write(detail::csv_line(cells));
  }
  out.commit();
}

}  // namespace seqtrain::run
