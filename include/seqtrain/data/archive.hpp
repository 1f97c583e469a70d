#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <zlib.h>
#include <zstd.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::data {

/// The compression of a file.
enum class Compression { none, gzip, zstd };

/// Recognises a file's compression by its name (`.gz` or `.zst`) or by its first bytes.
[[nodiscard]] inline Compression compression_of(std::string_view bytes, std::string_view name) {
  if (name.ends_with(".gz") || bytes.starts_with("\x1f\x8b")) return Compression::gzip;
  if (name.ends_with(".zst") || bytes.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return Compression::none;
}

namespace detail {

/// The result of one call of a decoder.
struct Decoded {
  std::size_t taken = 0;     ///< bytes of the archive that were read
  std::size_t made = 0;      ///< bytes of text that were written
  bool ended = false;        ///< a gzip member or a zstd frame is complete
  std::string problem = {};  ///< the damage of the archive; empty if there is none
};

/// Decodes the members of a gzip file.
class GzipDecoder {
 public:
  GzipDecoder() {
    constexpr int only_gzip = 16;
    if (inflateInit2(stream_.get(), MAX_WBITS + only_gzip) != Z_OK) throw std::bad_alloc{};
  }

  Decoded decode(std::string_view archive, std::span<char> out) {
    constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
    const auto in_size = static_cast<uInt>(std::min(archive.size(), most));
    const auto out_size = static_cast<uInt>(std::min(out.size(), most));
    // zlib only reads its input, although its type is not const.
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(archive.data()));
    stream_->avail_in = in_size;
    stream_->next_out = reinterpret_cast<Bytef*>(out.data());
    stream_->avail_out = out_size;
    const int code = inflate(stream_.get(), Z_NO_FLUSH);
    Decoded result{.taken = in_size - stream_->avail_in,
                   .made = out_size - stream_->avail_out,
                   .ended = code == Z_STREAM_END};
    if (result.ended) {
      inflateReset(stream_.get());
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      result.problem = stream_->msg == nullptr ? "wrong data" : stream_->msg;
    }
    return result;
  }

 private:
  struct End {
    void operator()(z_stream* stream) const {
      inflateEnd(stream);
      delete stream;
    }
  };
  std::unique_ptr<z_stream, End> stream_{new z_stream{}};
};

/// Decodes the frames of a zstd file. A frame may need a window of at most 2 ^ `window_log` bytes.
class ZstdDecoder {
 public:
  explicit ZstdDecoder(int window_log) {
    if (stream_ == nullptr) throw std::bad_alloc{};
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, window_log);
  }

  Decoded decode(std::string_view archive, std::span<char> out) {
    ZSTD_inBuffer from{archive.data(), archive.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t code = ZSTD_decompressStream(stream_.get(), &to, &from);
    Decoded result{.taken = from.pos, .made = to.pos, .ended = code == 0};
    if (ZSTD_isError(code) != 0) result.problem = ZSTD_getErrorName(code);
    return result;
  }

 private:
  struct End {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, End> stream_{ZSTD_createDStream()};
};

}  // namespace detail

/// Decompresses an archive piece by piece, with memory that does not depend on its size.
/// Consecutive gzip members or zstd frames form one text.
class ArchiveReader {
 public:
  /// `archive` must outlive the reader. Errors call it `name`. The reader takes at most about
  /// 2 ^ `window_log` bytes of memory for zstd, and refuses an archive that needs more.
  ArchiveReader(std::string_view archive, Compression compression, std::string name,
                int window_log = 27)
      : archive_{archive}, name_{std::move(name)} {
    if (compression == Compression::zstd) decoder_.emplace<detail::ZstdDecoder>(window_log);
  }

  /// Fills `out` unless the text ends before. Returns the number of bytes, which is 0 at the end.
  /// Throws `InputError` with the offset in bytes if the archive is damaged or cut off.
  std::size_t read(std::span<char> out) {
    std::size_t made = 0;
    while (made < out.size() && !at_end()) {
      const detail::Decoded step = std::visit(
          [&](auto& decoder) { return decoder.decode(archive_.substr(at_), out.subspan(made)); },
          decoder_);
      at_ += step.taken;
      made += step.made;
      ended_ = step.ended;
      if (!step.problem.empty()) fail("cannot be decompressed", step.problem);
      if (!ended_ && step.taken == 0 && step.made == 0)
        fail("is cut off", "more bytes are expected");
    }
    return made;
  }

  /// Returns the number of bytes of the archive that have been decompressed.
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  /// Tells whether the archive is complete. Zeros after the last gzip member do not count, as for
  /// the program gzip: they fill the last block of a tape.
  [[nodiscard]] bool at_end() {
    if (!ended_) return false;
    const bool padded = std::holds_alternative<detail::GzipDecoder>(decoder_);
    if (padded && archive_.find_first_not_of('\0', at_) == std::string_view::npos) {
      at_ = archive_.size();
    }
    return at_ == archive_.size();
  }

  [[noreturn]] void fail(const std::string& problem, const std::string& reason) const {
    throw InputError{problem + " at byte " + std::to_string(at_) + ": " + reason,
                     {.object = name_},
                     "fetch or make the file again"};
  }

  std::string_view archive_;
  std::string name_;
  std::variant<detail::GzipDecoder, detail::ZstdDecoder> decoder_;
  std::size_t at_ = 0;
  bool ended_ = false;  ///< a gzip member or a zstd frame ends at `at_`
};

}  // namespace seqtrain::data
