#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/csv.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/json_lines.hpp>
#include <seqtrain/data/lines.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/source.hpp>
#include <seqtrain/data/tsv.hpp>
#include <seqtrain/data/wrong_file.hpp>

namespace seqtrain::data {

/// Returns a file's name without the `.gz` or `.zst` at its end.
[[nodiscard]] inline std::string_view without_archive_suffix(std::string_view name) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

/// Recognises a file's format by its first character, its name or its first line. Throws
/// `InputError` if the format is not clear.
inline Format recognise_format(std::string_view text, const std::string& file) {
  const std::string_view name = without_archive_suffix(file);
  demand_text(text, file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) throw InputError{"holds no example", {.object = file}};
  if (text[first] == '{') return Format::json_lines;
  const bool is_array = text[first] == '[' && !name.ends_with(".tsv") && !name.ends_with(".csv");
  if (is_array) {
    throw InputError{"expected a JSON object", {.object = file}, "write one object a line"};
  }
  if (name.ends_with(".jsonl") || name.ends_with(".json")) return Format::json_lines;
  if (name.ends_with(".tsv")) return Format::tsv;
  if (name.ends_with(".csv")) return Format::csv;
  const std::string_view line = take_line(text);
  if (line.find('\t') != std::string_view::npos) return Format::tsv;
  if (line.find(',') != std::string_view::npos || is_text_column(line)) return Format::csv;
  throw InputError{"neither JSON lines nor a table",
                   {.object = file},
                   "use .jsonl, or .tsv or .csv with a header; predict has --format csv, and "
                   "--format lines for one text a line"};
}

/// Returns the number of bytes of `text` up to the end of its last complete record. `text` must
/// start with a record.
[[nodiscard]] inline std::size_t whole_records(std::string_view text, Format format) {
  if (format != Format::csv) return text.rfind('\n') + 1;  // npos + 1 is 0
  std::size_t end = 0;
  for (;;) {
    const std::size_t length = csv_record_length(text.substr(end));
    if (length == std::string_view::npos) return end;
    end += length;
  }
}

/// Calls `visit` with each line of `part` as a text. `part` belongs to the source. Empty lines are
/// skipped.
template <class Visit>
void read_lines(const Source& source, std::string_view part, Visit&& visit) {
  const bool all_utf8 = text::is_valid_utf8(part);
  while (!part.empty()) {
    const std::string_view line = take_line(part);
    if (line.empty()) continue;
    if (!all_utf8) source.demand_utf8(line);
    visit(Example{.text = line, .record = line});
  }
}

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Reads the examples of a text in any format. A reader is immutable, so several threads may read
/// different parts.
class Reader {
 public:
  /// Recognises the format and the fields. Skips a byte order mark in line 1. The source's text
  /// must outlive the reader.
  explicit Reader(Source source, const ReadOptions& options = {})
      : source_{std::move(source)}, body_{source_.text} {
    if (source_.first_line == 1 && body_.starts_with(byte_order_mark)) {
      body_.remove_prefix(byte_order_mark.size());
    }
    format_ = options.format ? *options.format : recognise_format(body_, source_.name);
    if (format_ == Format::lines) {
      fields_.text = "line";
    } else if (format_ == Format::json_lines) {
      fields_ = choose_fields(first_json_fields(source_, body_), options, source_.name);
    } else {
      const std::vector<std::string> header = take_header();
      fields_ = choose_fields(header, options_for_table(options, header), source_.name);
      columns_ = find_columns(header, fields_, source_.name);
    }
  }

  /// Returns a reader for another text without a header, with the format and the fields of this
  /// one.
  [[nodiscard]] Reader continued(Source source) const {
    Reader reader{*this};
    reader.source_ = std::move(source);
    reader.body_ = reader.source_.text;
    return reader;
  }

  [[nodiscard]] const Source& source() const { return source_; }
  [[nodiscard]] const std::string& name() const { return source_.name; }
  [[nodiscard]] std::size_t bytes() const { return source_.text.size(); }
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] const Fields& fields() const { return fields_; }

  /// Returns the text after the header.
  [[nodiscard]] std::string_view body() const { return body_; }

  /// Cuts the text into parts of about `bytes`, each of whole records, in order.
  [[nodiscard]] std::vector<std::string_view> parts(std::size_t bytes) const {
    std::vector<std::string_view> result;
    for (std::string_view rest = body_; !rest.empty();) {
      const std::size_t end =
          format_ == Format::csv ? whole_csv_records(rest, bytes) : whole_lines(rest, bytes);
      result.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    return result;
  }

  /// Returns the number of bytes from the start of the whole text to the end of a part.
  [[nodiscard]] std::size_t end_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() + part.size() - source_.text.data());
  }

  /// Makes an error about an example's label.
  [[nodiscard]] InputError label_error(const std::string& problem, const Example& example,
                                       const std::string& advice) const {
    return source_.error(problem, example.record, fields_.label, advice);
  }

  /// Calls `visit` with every example of a part, in order. Throws `InputError` with file and line
  /// at the first wrong record.
  template <class Visit>
  void read(std::string_view part, Visit&& visit) const {
    switch (format_) {
      case Format::json_lines:
        return read_json_lines(source_, part, fields_, visit);
      case Format::tsv:
        return read_tsv(source_, part, columns_, visit);
      case Format::csv:
        return read_csv(source_, part, columns_, visit);
      case Format::lines:
        return read_lines(source_, part, visit);
    }
  }

  template <class Visit>
  void read_all(Visit&& visit) const {
    read(body_, visit);
  }

 private:
  std::vector<std::string> take_header() {
    while (is_blank(body_.substr(0, whole_lines(body_, 0)))) take_line(body_);
    source_.demand_utf8(body_.substr(0, whole_lines(body_, 0)));
    std::vector<std::string_view> cells;
    if (format_ == Format::tsv) {
      split_tsv(take_line(body_), cells);
    } else {
      CsvParser parser{source_};
      parser.take_record(body_);
      return {parser.cells().begin(), parser.cells().end()};
    }
    return {cells.begin(), cells.end()};
  }

  Source source_;
  std::string_view body_;
  Format format_ = Format::json_lines;
  Fields fields_;
  Columns columns_;
};

}  // namespace seqtrain::data
