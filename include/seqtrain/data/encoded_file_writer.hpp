#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/core/spool_file.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/encoded_set.hpp>

namespace seqtrain::data {
namespace detail {

/// Writes files without forcing them to the disk. If a power failure damages a file, its checksum
/// detects it and the set is encoded again.
struct UnforcedFiles : Files {
  void sync(Output&) const {}
  void sync_directory(const Path&) const {}
};

}  // namespace detail

/// Writes an encoded set to a file part by part, so that only one part is in memory. The file
/// appears complete at `commit`, or not at all. Throws `Error` with the file's name on failures
/// such as a full disk.
class EncodedFileWriter {
 public:
  /// `empty` is an empty set with the vocabulary, the pad id and the number of targets of all
  /// parts.
  EncodedFileWriter(const std::filesystem::path& path, const EncodedSet& empty,
                    std::size_t max_length)
      : file_{path}, rows_{path}, labels_{path}, targets_{path} {
    trailer_.vocab_size = empty.vocab_size();
    trailer_.pad_id = static_cast<std::uint64_t>(empty.pad_id());
    trailer_.targets_a_row = empty.targets_a_row();
    trailer_.max_length = max_length;
    const detail::EncodedHead head;
    put(std::as_bytes(std::span{&head, 1}));
  }

  /// Returns the number of rows so far.
  [[nodiscard]] std::size_t size() const noexcept { return trailer_.rows; }

  /// Adds the rows of a set over the same vocabulary.
  void append(const EncodedSet& part) {
    const EncodedSet::Arrays arrays = part.arrays();
    put(arrays.ids);
    shifted_.assign(arrays.rows.begin(), arrays.rows.end());
    for (std::uint64_t& row : shifted_) row += trailer_.ids << 24;
    rows_.write(std::as_bytes(std::span{shifted_}));
    labels_.write(std::as_bytes(arrays.labels));
    targets_.write(std::as_bytes(arrays.targets));
    trailer_.ids += part.tokens();
    trailer_.rows += part.size();
  }

  /// Makes the file visible. Readers get the first `kept` rows.
  void commit(std::size_t kept, std::size_t left_out, std::size_t empty_texts = 0) {
    const std::array<std::byte, 8> zeros = {};
    put(std::span{zeros}.first(detail::bytes_to_fill(file_.size())));
    for (SpoolFile* part : {&rows_, &labels_, &targets_}) {
      part->read([this](std::span<const std::byte> bytes) { put(bytes); });
    }
    trailer_.kept = kept;
    trailer_.left_out = left_out;
    trailer_.empty_texts = empty_texts;
    trailer_.checksum = sum_.value();
    trailer_.own_checksum = trailer_.sum();
    file_.write(std::as_bytes(std::span{&trailer_, 1}));
    file_.commit();
  }

 private:
  void put(std::span<const std::byte> bytes) {
    sum_.update(bytes);
    file_.write(bytes);
  }

  BasicAtomicFile<detail::UnforcedFiles> file_;
  SpoolFile rows_, labels_, targets_;  ///< follow the ids, whose number is known at the end
  Crc32c sum_;
  detail::EncodedTrailer trailer_;
  std::vector<std::uint64_t> shifted_;
};

}  // namespace seqtrain::data
