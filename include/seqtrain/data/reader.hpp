#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/csv.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/json_lines.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// Splits a line at its tabs into `cells`. Quotes have no meaning, as in GLUE's files.
inline void split_tsv(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (;;) {
    const std::size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return;
    line.remove_prefix(tab + 1);
  }
}

/// Calls `visit` with each line of `part` as an example. `part` belongs to the source and begins
/// after its header. Empty lines are skipped.
template <class Visit>
void read_tsv(const Source& source, std::string_view part, const Columns& columns,
              const Fields& fields, Visit&& visit) {
  const bool all_utf8 = text::is_valid_utf8(part);
  RowScratch scratch{fields};
  std::vector<std::string_view> cells;
  while (!part.empty()) {
    const std::string_view line = take_line(part);
    if (line.empty()) continue;
    if (!all_utf8) source.demand_utf8(line);
    split_tsv(line, cells);
    visit(columns.example(cells, line, source, scratch));
  }
}

/// Throws `InputError` that says what a file is if its first bytes show that it is no text of
/// examples: Parquet, a zip archive, a compressed file or a pointer of git-lfs.
inline void demand_text(std::string_view bytes, const std::string& file) {
  const auto refuse = [&](const char* problem, const char* advice) {
    throw InputError{problem, {.object = file}, advice};
  };
  if (bytes.starts_with("PAR1")) {
    refuse("holds Parquet, which is not read here",
           "name the file itself, not a stream of it, to a program that is built with pyarrow, and "
           "no format; or write JSON lines");
  }
  if (bytes.starts_with("PK\x03\x04")) {
    refuse("is a zip archive or a spreadsheet",
           "unpack the archive, or save the spreadsheet as CSV");
  }
  if (bytes.starts_with("\x1f\x8b") || bytes.starts_with("\x28\xb5\x2f\xfd")) {
    refuse("is compressed, which is not read here", "pass it on by zcat or zstdcat");
  }
  if (bytes.starts_with("version https://git-lfs.github.com/spec/")) {
    refuse("is a pointer of git-lfs and not the file itself", "fetch the file by: git lfs pull");
  }
}

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
  const std::string_view line = take_line(text);
  const auto tabs = std::ranges::count(line, '\t');
  const auto commas = std::ranges::count(line, ',');
  if (name.ends_with(".tsv")) return Format::tsv;
  if (name.ends_with(".csv")) return tabs > commas ? Format::tsv : Format::csv;
  if (tabs > 0) return Format::tsv;
  if (commas > 0 || is_text_column(line)) return Format::csv;
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
/// skipped unless `empty_lines` is set.
template <class Visit>
void read_lines(const Source& source, std::string_view part, bool empty_lines, Visit&& visit) {
  const bool all_utf8 = text::is_valid_utf8(part);
  while (!part.empty()) {
    const std::string_view line = take_line(part);
    if (line.empty() && !empty_lines) continue;
    if (!all_utf8) source.demand_utf8(line);
    visit(Example{.text = line, .record = line});
  }
}

/// The bytes that some programs write before a text in UTF-8.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Reads the examples of a text in any format. A reader is immutable, so several threads may read
/// different parts.
class Reader {
 public:
  /// Recognises the format and the fields. Skips a byte order mark in line 1. The source's text
  /// must outlive the reader.
  explicit Reader(Source source, const ReadOptions& options = {})
      : source_{std::move(source)}, body_{source_.text} {
    const bool at_start = source_.first_line == 1 && source_.may_have_mark;
    if (at_start && body_.starts_with(byte_order_mark)) body_.remove_prefix(byte_order_mark.size());
    if (source_.first_line == 1 && options.format && *options.format != Format::lines) {
      demand_text(body_, source_.name);
    }
    format_ = options.format ? *options.format : recognise_format(body_, source_.name);
    if (format_ == Format::lines) {
      refuse_columns(options, source_.name);
      refuse_fields(options, source_.name);
      fields_.text = "line";
      empty_lines_ = options.empty_lines;
    } else if (format_ == Format::json_lines) {
      refuse_columns(options, source_.name);
      auto first = first_json_fields(source_, body_);
      fields_ = choose_fields(first, options, source_.name);
      later_ = LaterFields{std::move(first), options};
    } else {
      open_table(options);
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
        return read_json_lines(source_, part, fields_, later_, visit);
      case Format::tsv:
        return read_tsv(source_, part, columns_, fields_, visit);
      case Format::csv:
        return read_csv(source_, part, columns_, fields_, visit);
      case Format::lines:
        return read_lines(source_, part, empty_lines_, visit);
    }
  }

  /// Calls `visit` with every example, as `read` does.
  template <class Visit>
  void read_all(Visit&& visit) const {
    read(body_, visit);
  }

 private:
  /// Finds the fields of a table by its header, or by the names that `options` give to the columns.
  void open_table(const ReadOptions& options) {
    const bool has_header = options.columns.empty();
    while (!body_.empty() && is_blank(body_.substr(0, whole_lines(body_, 0)))) take_line(body_);
    if (body_.empty()) throw InputError{"holds no example", {.object = source_.name}};
    std::vector<std::string> names = has_header ? take_header() : options.columns;
    const bool may_be_more = !has_header && names.back() == "...";
    if (may_be_more) names.pop_back();
    if (!has_header) refuse_header(names);
    fields_ = choose_fields(names, options_for_table(options, names), source_.name,
                            has_header ? "; the first line was taken as the header: if it is an "
                                         "example, name the columns with --columns, such as "
                                         "--columns text,label"
                                       : "");
    columns_ = find_columns(names, fields_, source_.name);
    columns_.may_be_more = may_be_more;
  }

  /// Throws `InputError` if the first record is a header with these names.
  void refuse_header(const std::vector<std::string>& names) const {
    Reader first{*this};
    if (!std::ranges::equal(first.take_header(), names, equal_but_case)) return;
    throw source_.error("the first line is a header with the names of the columns", body_, {},
                        "leave out --columns");
  }

  std::vector<std::string> take_header() {
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
  LaterFields later_{{}, {}};  ///< the fields of JSON lines
  bool empty_lines_ = false;
};

}  // namespace seqtrain::data
