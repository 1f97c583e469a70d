#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/archive.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/split_files.hpp>

namespace seqtrain::data {

/// A file of records, plain or compressed by gzip or zstd, or several files that form one split. A
/// plain file is mapped and is one text. A compressed file is read as a sequence of texts of whole
/// records, so that at most two of them are in memory.
class RecordFile {
 public:
  /// The approximate size in bytes of a text of a compressed file.
  static constexpr std::size_t block_bytes = std::size_t{1} << 24;
  /// The limit in bytes for a record of a compressed file. A record that exceeds it by less than a
  /// block may still be read; a longer one is an error.
  static constexpr std::size_t longest_record = std::size_t{1} << 26;

  /// Opens the first of the files that `split_files` finds, and recognises the format and the
  /// fields. Throws `InputError` if they are not clear or the archive is damaged.
  explicit RecordFile(const std::filesystem::path& place, ReadOptions options = {})
      : files_{split_files(place)},
        file_{map(demand_first(files_, place))},
        name_{place.string()},
        options_{std::move(options)},
        bytes_{bytes_of(files_)} {
    open();
  }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Calls `visit(reader)` with a reader for each text, in order. Call it only once. Throws
  /// `InputError` if an archive is damaged or cut off, or if a file has other fields than the first
  /// one, and `Error` if a file is rewritten meanwhile.
  template <class Visit>
  void each_text(const Visit& visit) {
    do {
      while_unchanged(file_, [&] { visit(std::as_const(*reader_)); });
    } while ((archive_ && read_block()) || open_next());
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Fields& fields() const { return reader_->fields(); }
  /// Returns the size of the files in bytes. Compressed files count with their compressed size.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Returns the number of bytes of the files that have been read when a part of the current text
  /// is done.
  [[nodiscard]] std::size_t end_of(std::string_view part) const {
    return bytes_before_ + (archive_ ? archive_->position() : reader_->end_of(part));
  }

  /// Releases the memory of a part of a plain file. The part can still be read.
  void forget(std::string_view part) const {
    if (!archive_) file_.forget(part);
  }

 private:
  static const std::filesystem::path& demand_first(const std::vector<std::filesystem::path>& files,
                                                   const std::filesystem::path& place) {
    if (files.empty()) throw InputError{"holds no records", {.object = place.string()}};
    return files.front();
  }

  static MappedFile map(const std::filesystem::path& file) {
    return MappedFile{file, MappedFile::Pages::read_only, MappedFile::Changes::watched};
  }

  /// Opens the current file.
  void open() {
    const std::string name = files_[at_].string();
    const auto compression = compression_of(file_.text(), name);
    format_ = options_.format;
    if (compression == Compression::none) {
      reader_.emplace(Source{.text = file_.text(), .name = name}, options_);
    } else {
      archive_.emplace(file_.text(), compression, name);
      read_block();
    }
  }

  /// Opens the next file. Returns false after the last one.
  bool open_next() {
    if (at_ + 1 == files_.size()) return false;
    const Fields fields = reader_->fields();
    bytes_before_ += file_.size();
    reader_.reset();
    archive_.reset();
    buffer_.clear();
    used_ = 0;
    line_ = 1;
    file_ = map(files_[++at_]);
    open();
    if (reader_->fields() == fields) return true;
    throw InputError{"has other fields than " + files_.front().string(),
                     {.object = files_[at_].string()}};
  }

  /// Reads the next text of an archive. Returns false at its end.
  bool read_block() {
    buffer_.erase(0, used_);
    bool more = read_into_buffer();
    if (!reader_) begin();
    while ((used_ = more ? whole_records(buffer_, *format_) : buffer_.size()) == 0 && more) {
      if (buffer_.size() > longest_record) {
        throw InputError{"a record is longer than 64 MiB",
                         {.object = files_[at_].string(), .line = line_}};
      }
      more = read_into_buffer();
    }
    if (reader_ && used_ == 0) return false;
    const std::string_view text{buffer_};
    Source source{.text = text.substr(0, used_), .name = files_[at_].string(), .first_line = line_};
    source.may_have_mark = false;
    line_ = source.line_of(text.substr(used_));
    if (reader_) {
      reader_ = reader_->continued(std::move(source));
    } else {
      auto options = options_;
      options.format = format_;
      reader_.emplace(std::move(source), options);
    }
    return true;
  }

  /// Appends a block of the archive to the buffer. Returns false at the end of the archive.
  bool read_into_buffer() {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + block_bytes);
    const std::size_t count = archive_->read(std::span{buffer_}.subspan(before));
    buffer_.resize(before + count);
    return count == block_bytes;
  }

  /// Recognises the format, which determines how a record ends.
  void begin() {
    if (buffer_.starts_with(byte_order_mark)) buffer_.erase(0, byte_order_mark.size());
    if (!format_) format_ = recognise_format(buffer_, files_[at_].string());
  }

  std::vector<std::filesystem::path> files_;
  std::size_t at_ = 0;  ///< index of the current file
  MappedFile file_;
  std::string name_;
  ReadOptions options_;
  std::size_t bytes_;
  std::size_t bytes_before_ = 0;  ///< size of the files before the current one
  std::optional<Format> format_;  ///< format of the current file
  std::optional<ArchiveReader> archive_;
  std::optional<Reader> reader_;
  std::string buffer_;     ///< the current text of an archive and the bytes after it
  std::size_t used_ = 0;   ///< bytes of the current text
  std::int64_t line_ = 1;  ///< number of the line at which the next text begins
};

}  // namespace seqtrain::data
