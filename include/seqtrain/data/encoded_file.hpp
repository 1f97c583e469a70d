#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>

namespace seqtrain::data {

/// The encoded examples of a file and the counts of its records.
struct EncodedFile {
  EncodedSet set;
  std::size_t total = 0;     ///< examples before `fraction` was applied
  std::size_t left_out = 0;  ///< records without a gold label
  /// Examples with a text of only whitespace, before `fraction` was applied.
  std::size_t empty_texts = 0;
  std::size_t max_length = 0;  ///< most ids that an example could have

  /// Returns the number of examples that were cut or have exactly the maximum length.
  [[nodiscard]] std::size_t at_max_length() const {
    std::size_t count = 0;
    for (std::size_t row = 0; row < set.size(); ++row)
      count += set.length(row) == max_length ? 1 : 0;
    return count;
  }
};

/// Returns the line about a training file for the log: `Training with 100/1000 examples.`
inline std::string describe(const EncodedFile& file) {
  return "Training with " + std::to_string(file.set.size()) + "/" + std::to_string(file.total) +
         " examples.";
}

namespace detail {

/// The first bytes of an encoded set's file. After it come the ids, padded to a multiple of 8
/// bytes; rows, labels and targets as in `EncodedSet::Arrays`; and the trailer. Numbers have the
/// machine's byte order.
struct EncodedHead {
  std::array<char, 24> name = {"seqtrain encoded set"};
  std::uint64_t version = 2;
};

/// The last bytes of an encoded set's file.
struct EncodedTrailer {
  std::array<char, 24> name = {"end of the encoded set"};
  std::uint64_t vocab_size = 0;
  std::uint64_t pad_id = 0;
  std::uint64_t targets_a_row = 0;
  std::uint64_t ids = 0;   ///< number of ids in all rows
  std::uint64_t rows = 0;  ///< number of rows in the file
  std::uint64_t kept = 0;  ///< number of rows to use, from the first on
  std::uint64_t left_out = 0;
  std::uint64_t empty_texts = 0;
  std::uint64_t max_length = 0;  ///< most ids that an example could have
  std::uint32_t checksum = 0;    ///< CRC-32C of all bytes before the trailer
  std::uint32_t own_checksum = 0;

  /// Returns the CRC-32C of the trailer without its last member, this checksum.
  [[nodiscard]] std::uint32_t sum() const {
    const auto bytes = std::as_bytes(std::span{this, 1});
    return Crc32c{}.update(bytes.first(offsetof(EncodedTrailer, own_checksum))).value();
  }
};
static_assert(std::has_unique_object_representations_v<EncodedHead> &&
              std::has_unique_object_representations_v<EncodedTrailer>);

/// Returns the number of bytes up to the next multiple of 8.
constexpr std::uint64_t bytes_to_fill(std::uint64_t size) {
  return (8 - size % 8) % 8;
}

/// Reads an encoded set's file and verifies all of it.
class EncodedFileReader {
 public:
  explicit EncodedFileReader(const std::filesystem::path& path)
      : path_{path}, file_{std::make_shared<const MappedFile>(path)}, rest_{file_->bytes()} {
    EncodedHead head;
    demand(file_->text().starts_with(head.name.data()), "is not an encoded set");
    demand(rest_.size() >= sizeof head + sizeof trailer_, "is cut off");
    std::memcpy(&head, rest_.data(), sizeof head);
    demand(head.version == EncodedHead{}.version, "has version " + std::to_string(head.version) +
                                                      " of the format, not " +
                                                      std::to_string(EncodedHead{}.version));
    std::memcpy(&trailer_, rest_.last(sizeof trailer_).data(), sizeof trailer_);
    demand(trailer_.name == EncodedTrailer{}.name && trailer_.own_checksum == trailer_.sum(),
           "is cut off or damaged at its end");
    rest_ = rest_.first(rest_.size() - sizeof trailer_);
  }

  [[nodiscard]] const EncodedTrailer& trailer() const { return trailer_; }

  /// Reads the file. Throws `InputError` if a byte has changed since it was written, or if the
  /// content is not a valid set over its vocabulary.
  [[nodiscard]] EncodedFile read() {
    demand(trailer_.vocab_size >= 1 && trailer_.vocab_size <= std::size_t{1} << 31 &&
               trailer_.pad_id < trailer_.vocab_size && trailer_.kept <= trailer_.rows,
           "is damaged");
    take(sizeof(EncodedHead), 1);
    const auto ids = take(trailer_.ids, EncodedSet::bytes_an_id(trailer_.vocab_size));
    take(bytes_to_fill(ids.size()), 1);
    EncodedSet::Arrays arrays{.ids = ids, .rows = {}, .labels = {}, .targets = {}};
    arrays.rows = take_numbers<std::uint64_t>(trailer_.rows);
    arrays.labels = take_numbers<std::int32_t>(trailer_.rows);
    arrays.targets = take_numbers<float>(rest_.size() / sizeof(float));
    demand(rest_.empty(), "is damaged");
    check_bytes(ids);
    file_->expect_jumps({reinterpret_cast<const char*>(ids.data()), ids.size()});
    EncodedFile result{.set = set_over(arrays),
                       .total = trailer_.rows,
                       .left_out = trailer_.left_out,
                       .empty_texts = trailer_.empty_texts,
                       .max_length = trailer_.max_length};
    result.set.truncate(trailer_.kept);
    return result;
  }

  void demand(bool good, const std::string& problem) const {
    if (!good) throw InputError{problem, {.object = path_.string()}, "encode it again"};
  }

 private:
  std::span<const std::byte> take(std::uint64_t count, std::size_t size) {
    demand(count <= rest_.size() / size, "is cut off");
    const auto taken = rest_.first(count * size);
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  template <class T>
  std::span<const T> take_numbers(std::uint64_t count) {
    return {reinterpret_cast<const T*>(take(count, sizeof(T)).data()), count};
  }

  /// Reads all bytes once, from front to back, because a set may be larger than memory.
  void check_bytes(std::span<const std::byte> ids) const {
    constexpr std::size_t block = std::size_t{1} << 18;
    const auto all = file_->bytes().first(file_->size() - sizeof trailer_);
    Crc32c sum;
    std::uint32_t highest = 0;
    sum.update(all.first(sizeof(EncodedHead)));
    for (std::size_t at = 0; at < ids.size(); at += block) {
      const auto piece = ids.subspan(at, std::min(block, ids.size() - at));
      sum.update(piece);
      highest = std::max(highest, EncodedSet::bytes_an_id(trailer_.vocab_size) == 2
                                      ? highest_of<std::uint16_t>(piece)
                                      : highest_of<std::uint32_t>(piece));
    }
    sum.update(all.subspan(sizeof(EncodedHead) + ids.size()));
    demand(sum.value() == trailer_.checksum, "is damaged");
    demand(highest < trailer_.vocab_size, "has an id outside its vocabulary");
  }

  template <class Id>
  static std::uint32_t highest_of(std::span<const std::byte> bytes) {
    const auto* const ids = reinterpret_cast<const Id*>(bytes.data());
    Id highest = 0;
    for (std::size_t i = 0; i < bytes.size() / sizeof(Id); ++i) highest = std::max(highest, ids[i]);
    return highest;
  }

  EncodedSet set_over(const EncodedSet::Arrays& arrays) const {
    try {
      return {trailer_.vocab_size, static_cast<std::int32_t>(trailer_.pad_id),
              trailer_.targets_a_row, arrays, file_};
    } catch (const InputError& error) {
      throw InputError{error.what(), {.object = path_.string()}, "encode it again"};
    }
  }

  std::filesystem::path path_;
  std::shared_ptr<const MappedFile> file_;
  EncodedTrailer trailer_;
  std::span<const std::byte> rest_;  // bytes that are not parsed yet
};

}  // namespace detail

/// Opens a set that `encode_file` has written to a file, with its counts. The arrays stay in the
/// file: processes that open it share its memory, and a set may be larger than the memory. All
/// bytes are read and verified once. Throws `InputError` if the file is not an encoded set, is
/// damaged, or was made with another vocabulary or other labels. The file may be removed while the
/// set is in use, but must not be changed.
template <class T>
EncodedFile open_encoded_file(const std::filesystem::path& path, const T& tokenizer,
                              const Labels& labels) {
  detail::EncodedFileReader reader{path};
  const auto same = [&](std::uint64_t here, std::size_t expected, const char* what) {
    reader.demand(here == expected, "was encoded with " + std::string{what} + " " +
                                        std::to_string(here) + ", not " + std::to_string(expected));
  };
  same(reader.trailer().vocab_size, tokenizer.vocab_size(), "a vocabulary of");
  same(reader.trailer().pad_id, static_cast<std::size_t>(tokenizer.pad_id()), "the pad id");
  same(reader.trailer().targets_a_row, labels.targets(), "targets a row of");
  EncodedFile file = reader.read();
  const auto all = file.set.arrays().labels;
  const auto highest = std::ranges::max_element(all);
  reader.demand(highest == all.end() || *highest < static_cast<std::int64_t>(labels.size()),
                "has a label that is not among the " + std::to_string(labels.size()));
  return file;
}

}  // namespace seqtrain::data
