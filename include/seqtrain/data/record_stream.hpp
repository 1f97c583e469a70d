#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/csv.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/source.hpp>

namespace seqtrain::data {

/// Reads the examples of an input of any length, in any format. It keeps one block of the input and
/// the incomplete record at its end. A wrong record does not end the stream.
///
/// `Input` has `std::size_t read(std::span<char>)`, which waits for bytes and returns 0 at the end,
/// and `bool ready()`, which returns whether `read` returns at once.
template <class Input>
class RecordStream {
 public:
  static constexpr std::size_t block_bytes = std::size_t{1} << 16;
  /// The length of the longest record in bytes. Longer records are wrong.
  static constexpr std::size_t most_record_bytes = std::size_t{1} << 24;

  RecordStream(Input input, std::string name, ReadOptions options = {})
      : input_{std::move(input)}, name_{std::move(name)}, options_{std::move(options)} {}

  /// Waits for input and reads at most one block. Calls `visit(example)` for each complete record
  /// and `wrong(error)` with an `InputError` for each wrong one. Returns false at the end of the
  /// input. Throws `InputError` if the format or the fields are not clear, or if the input has no
  /// record. Exceptions of the two functions are passed on.
  template <class Visit, class Wrong>
  bool read(const Visit& visit, const Wrong& wrong) {
    const bool more = fill();
    if (!begun_) {
      if (more && buffer_.size() < byte_order_mark.size()) return true;
      if (buffer_.starts_with(byte_order_mark)) buffer_.erase(0, byte_order_mark.size());
      begun_ = true;
    }
    if (skipping_) skip_line();
    const std::string_view whole{buffer_.data(), whole_records(more)};
    if (!whole.empty()) show(whole, visit, wrong);
    drop(whole.size());
    unfinished_ = buffer_.size();
    if (buffer_.size() > most_record_bytes) refuse_long_record(wrong);
    if (!more && records_ == 0) throw InputError{"holds no example", {.object = name_}};
    return more;
  }

  /// Tells whether `read` would find input without waiting.
  [[nodiscard]] bool ready() { return input_.ready(); }

  /// Returns the number of the line in which an example begins. Valid while the example is visited.
  [[nodiscard]] std::int64_t line_of(const Example& example) {
    const char* const record = example.record.data();
    // Lines before the last example that was asked for are not counted again.
    counted_line_ += std::count(counted_, record, '\n');
    counted_ = record;
    return counted_line_;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns the number of bytes read.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Returns the number of records, including wrong ones.
  [[nodiscard]] std::int64_t records() const { return records_; }

 private:
  static constexpr auto npos = std::string_view::npos;

  bool fill() {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + block_bytes);
    const std::size_t count = input_.read(std::span{buffer_}.subspan(before));
    buffer_.resize(before + count);
    bytes_ += static_cast<std::int64_t>(count);
    return count > 0;
  }

  void drop(std::size_t count) {
    const std::string_view dropped{buffer_.data(), count};
    line_ += std::ranges::count(dropped, '\n');
    buffer_.erase(0, count);
  }

  /// Returns the number of bytes of the buffer that belong to complete records.
  std::size_t whole_records(bool more) {
    // Only a further line end completes a record.
    if (more && unfinished_ > 0 && buffer_.find('\n', unfinished_) == npos) return 0;
    if (!options_.format) recognise(more);
    if (!more) return buffer_.size();
    return options_.format ? data::whole_records(buffer_, *options_.format)
                           : buffer_.rfind('\n') + 1;
  }

  /// Recognises the format as soon as the buffer holds a line.
  void recognise(bool more) {
    const std::string_view text{buffer_};
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == npos || (more && text.find('\n', first) == npos)) return;
    const std::size_t line = text.rfind('\n', first) + 1;  // npos + 1 is 0
    options_.format = recognise_format(text.substr(line), name_);
  }

  template <class Visit, class Wrong>
  void show(std::string_view text, const Visit& visit, const Wrong& wrong) {
    Source source{.text = text, .name = name_, .first_line = line_};
    counted_ = text.data();
    counted_line_ = line_;
    source.may_have_mark = false;
    if (!open(std::move(source), wrong)) return;
    for (std::string_view rest = reader_->body(); !rest.empty(); skip_record(rest)) {
      bool visiting = false;
      try {
        reader_->read(std::string_view{rest}, [&](const Example& example) {
          visiting = true;
          ++records_;
          visit(example);
          visiting = false;
          rest.remove_prefix(end_of(example.record, rest));
        });
        return;
      } catch (const InputError& error) {
        if (visiting) throw;
        ++records_;
        wrong(error);
      }
    }
  }

  /// Continues with another text. The first time it also reads the header, or the fields of the
  /// first correct record. Returns false if there is none.
  template <class Wrong>
  bool open(Source source, const Wrong& wrong) {
    if (reader_) {
      reader_ = reader_->continued(std::move(source));
      return true;
    }
    while (options_.format == Format::lines || !is_blank(source.text)) {
      try {
        reader_.emplace(source, options_);
        return true;
      } catch (const InputError& error) {
        const bool record_is_wrong = error.where().line > 0;
        if (options_.format != Format::json_lines || !record_is_wrong) throw;
        ++records_;
        wrong(error);
      }
      std::string_view rest = source.text;
      skip_record(rest);
      source.first_line = source.line_of(rest);
      source.text = rest;
    }
    return false;
  }

  /// Returns the number of bytes of `text` up to the end of `record`, which is its first record.
  /// The lines that are skipped before the record and the line end after it count too.
  static std::size_t end_of(std::string_view record, std::string_view text) {
    const auto end = static_cast<std::size_t>(record.data() + record.size() - text.data());
    return record.ends_with('\n') ? end : whole_lines(text, end);
  }

  /// Takes the first record off. A record without an end counts as one line.
  void skip_record(std::string_view& text) const {
    const bool json = options_.format == Format::json_lines;
    const bool empty_lines = options_.format == Format::lines && options_.empty_lines;
    for (std::string_view after = text; !text.empty(); text = after) {
      const std::string_view line = take_line(after);
      if (json ? !is_blank(line) : !line.empty() || empty_lines) break;
    }
    const bool csv = options_.format == Format::csv;
    const std::size_t length = csv ? csv_record_length(text) : npos;
    text.remove_prefix(length == npos ? whole_lines(text, 0) : length);
  }

  template <class Wrong>
  void refuse_long_record(const Wrong& wrong) {
    ++records_;
    wrong(InputError{"a record is longer than 16 MiB", {.object = name_, .line = line_}});
    skipping_ = true;
    skip_line();
    unfinished_ = 0;
  }

  /// Drops the buffered part of a line that is longer than a record may be.
  void skip_line() {
    const std::size_t end = buffer_.find('\n');
    skipping_ = end == std::string::npos;
    drop(skipping_ ? buffer_.size() : end + 1);
  }

  Input input_;
  std::string name_;
  ReadOptions options_;
  std::optional<Reader> reader_;
  std::string buffer_;
  std::size_t unfinished_ = 0;     ///< bytes at the buffer's front that belong to one record
  std::int64_t line_ = 1;          ///< number of the line in which the buffer begins
  const char* counted_ = nullptr;  ///< up to here `counted_line_` counts the lines of the buffer
  std::int64_t counted_line_ = 1;
  std::int64_t bytes_ = 0;
  std::int64_t records_ = 0;
  bool begun_ = false;     ///< the input's start has been checked for a byte order mark
  bool skipping_ = false;  ///< the rest of a line is being skipped
};

}  // namespace seqtrain::data
