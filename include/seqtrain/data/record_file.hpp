#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/archive.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/data/reader.hpp>

namespace seqtrain::data {

/// A file of records, plain or compressed by gzip or zstd. A plain file is one text, which is
/// mapped; a compressed file is read as a row of texts of whole records, so that it takes no more
/// memory than two of them.
class RecordFile {
 public:
  /// About how many bytes a text of a compressed file has.
  static constexpr std::size_t block_bytes = std::size_t{1} << 24;

  /// Opens the file and recognises the format and the fields. Throws `InputError` if that cannot be
  /// done or the archive is damaged.
  explicit RecordFile(const std::filesystem::path& path, ReadOptions options = {})
      : file_{path}, name_{path.string()}, options_{std::move(options)} {
    const auto compression = compression_of(file_.text(), name_);
    if (compression == Compression::none) {
      reader_.emplace(Source{.text = file_.text(), .name = name_}, options_);
    } else {
      archive_.emplace(file_.text(), compression, name_);
      read_block();
    }
  }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Calls `visit(reader)` with a reader of each text, in order. Call it once. Throws `InputError`
  /// if the archive is damaged or cut off.
  template <class Visit>
  void each_text(const Visit& visit) {
    do {
      visit(std::as_const(*reader_));
    } while (archive_ && read_block());
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Fields& fields() const { return reader_->fields(); }
  /// Returns the size of the file, compressed if it is.
  [[nodiscard]] std::size_t bytes() const { return file_.size(); }

  /// Returns how many bytes of the file have been read when a part of the present text is done.
  [[nodiscard]] std::size_t end_of(std::string_view part) const {
    return archive_ ? archive_->position() : reader_->end_of(part);
  }

  /// Frees the memory of a part of a plain file. The part stays readable.
  void forget(std::string_view part) const {
    if (!archive_) file_.forget(part);
  }

 private:
  /// Reads the next text of an archive. Returns false at its end.
  bool read_block() {
    buffer_.erase(0, used_);
    const std::size_t before = buffer_.size();
    buffer_.resize(before + block_bytes);
    const std::size_t count = archive_->read(std::span{buffer_}.subspan(before));
    buffer_.resize(before + count);
    const bool more = count == block_bytes;
    if (!reader_) begin();
    const std::string_view text{buffer_};
    used_ = more ? whole_records(text, *options_.format) : text.size();
    if (used_ == 0 && more) {
      throw InputError{"a record is longer than 16 MiB", {.object = name_, .line = line_}};
    }
    if (reader_ && used_ == 0) return false;
    Source source{.text = text.substr(0, used_), .name = name_, .first_line = line_};
    line_ = source.line_of(text.substr(used_));
    if (reader_) {
      reader_ = reader_->continued(std::move(source));
    } else {
      reader_.emplace(std::move(source), options_);
    }
    return true;
  }

  /// Recognises the format, which tells where a record ends.
  void begin() {
    if (buffer_.starts_with(byte_order_mark)) buffer_.erase(0, byte_order_mark.size());
    if (!options_.format) options_.format = recognise_format(buffer_, name_);
  }

  MappedFile file_;
  std::string name_;
  ReadOptions options_;
  std::optional<ArchiveReader> archive_;
  std::optional<Reader> reader_;
  std::string buffer_;     ///< the present text of an archive, and what follows it
  std::size_t used_ = 0;   ///< bytes of the present text
  std::int64_t line_ = 1;  ///< number of the line in which the next text begins
};

}  // namespace seqtrain::data
