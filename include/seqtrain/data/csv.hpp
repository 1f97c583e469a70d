#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/data/columns.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// Parses records of RFC 4180, i.e. cells between commas. A quoted cell may hold commas, line
/// breaks and doubled quotes. Lines may end in LF alone. A backslash is an ordinary character, so
/// the quote after it ends a cell; if that makes a record wrong, the error says what to do about
/// it.
class CsvParser {
 public:
  explicit CsvParser(const Source& source) : source_{&source} {}

  /// Takes the first record off `text`, which must not be empty. Throws `InputError` if a quote is
  /// not closed or is misplaced. The cells are valid until the next call.
  std::string_view take_record(std::string_view& text) {
    record_ = text;
    cells_.clear();
    do {
      cells_.push_back(text.starts_with('"') ? quoted(text) : plain(text));
    } while (next_cell(text));
    return record_.substr(0, record_.size() - text.size());
  }

  [[nodiscard]] const std::vector<std::string_view>& cells() const { return cells_; }

 private:
  std::string_view plain(std::string_view& text) const {
    const std::size_t end = std::min(text.find_first_of(",\n\""), text.size());
    if (end < text.size() && text[end] == '"') {
      throw error("a quote inside a field that does not begin with one", text.substr(end),
                  text.data() + end + 1, "put the field into quotes and double its own");
    }
    std::string_view cell = text.substr(0, end);
    text.remove_prefix(end);
    if (!text.starts_with(',') && cell.ends_with('\r')) cell.remove_suffix(1);
    return cell;
  }

  std::string_view quoted(std::string_view& text) {
    const std::string_view opening = text;
    text.remove_prefix(1);
    std::string* unescaped = nullptr;
    for (;;) {
      const std::size_t quote = text.find('"');
      if (quote == std::string_view::npos) {
        throw error("a quote is not closed", opening, text.data() + text.size());
      }
      const std::string_view piece = text.substr(0, quote);
      text.remove_prefix(quote + 1);
      const bool doubled = text.starts_with('"');
      if (!doubled && unescaped == nullptr) return piece;
      if (unescaped == nullptr) unescaped = &buffer();
      unescaped->append(piece);
      if (!doubled) return *unescaped;
      *unescaped += '"';
      text.remove_prefix(1);
    }
  }

  /// Skips the end of a cell. Returns false at the end of the record.
  bool next_cell(std::string_view& text) const {
    if (text.starts_with(',')) {
      text.remove_prefix(1);
      return true;
    }
    const std::string_view rest = text;
    if (text.starts_with('\r')) text.remove_prefix(1);
    if (text.empty()) return false;
    if (!text.starts_with('\n')) throw error("text after a closing quote", rest, rest.data());
    text.remove_prefix(1);
    return false;
  }

  /// Makes an error at `part` of the record. If the record has a quote after a backslash before
  /// `read`, where the parser stands, that quote is probably meant to be inside a cell, so the
  /// error names it instead.
  [[nodiscard]] InputError error(const char* problem, std::string_view part, const char* read,
                                 const std::string& advice = {}) const {
    const auto done = record_.substr(0, static_cast<std::size_t>(read - record_.data()));
    const std::size_t escaped = done.find("\\\"");
    if (escaped == std::string_view::npos) return source_->error(problem, part, {}, advice);
    return source_->error("a quote after a backslash ends the field", done.substr(escaped), {},
                          R"(write a quote inside a field as "", not as \"; Spark does so with )"
                          R"(.option("escape", "\""))");
  }

  /// Returns the buffer for the text of the current cell.
  std::string& buffer() {
    buffers_.resize(std::max(buffers_.size(), cells_.size() + 1));
    buffers_[cells_.size()].clear();
    return buffers_[cells_.size()];
  }

  const Source* source_;
  std::string_view record_;
  std::vector<std::string_view> cells_;
  std::deque<std::string> buffers_;  // a deque, because its elements never move
};

/// Returns the number of bytes of `text` up to the end of the first record that ends at or after
/// `wanted`. `text` must start with a record.
[[nodiscard]] inline std::size_t whole_csv_records(std::string_view text, std::size_t wanted) {
  const std::size_t start = std::min(wanted, text.size());
  bool quoted = std::ranges::count(text.substr(0, start), '"') % 2 == 1;
  for (std::size_t i = start; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i + 1;
  }
  return text.size();
}

/// Returns the length of the first record of `text`, including its line end, or npos if the text
/// ends before the record does. A quote inside an unquoted field is an ordinary character, so a
/// wrong record ends with its line.
[[nodiscard]] inline std::size_t csv_record_length(std::string_view text) {
  constexpr auto npos = std::string_view::npos;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      for (i = text.find('"', i + 1);; i = text.find('"', i + 2)) {
        if (i == npos || i + 1 == text.size()) return npos;
        if (text[i + 1] != '"') break;
      }
    }
    i = text.find_first_of(",\n", i);
    if (i == npos) return npos;
    if (text[i++] == '\n') return i;
  }
  return npos;
}

/// Calls `visit` with each record of `part` as an example. `part` belongs to the source and begins
/// after its header. Empty lines between records are skipped.
template <class Visit>
void read_csv(const Source& source, std::string_view part, const Columns& columns,
              const Fields& fields, Visit&& visit) {
  const bool all_utf8 = text::is_valid_utf8(part);
  RowScratch scratch{fields};
  CsvParser parser{source};
  while (!part.empty()) {
    if (part.starts_with('\n') || part.starts_with("\r\n")) {
      take_line(part);
      continue;
    }
    const std::string_view record = parser.take_record(part);
    if (!all_utf8) source.demand_utf8(record);
    visit(columns.example(parser.cells(), record, source, scratch));
  }
}

}  // namespace seqtrain::data
