#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/data/archive.hpp>

#include "fuzz.hpp"

namespace seqtrain::fuzz {

/// Decompresses the first mebibyte of an archive in pieces of this size. Returns nothing if the
/// archive is refused.
std::optional<std::string> decompressed(std::string_view archive, data::Compression compression,
                                        std::size_t piece_size) {
  constexpr std::size_t most = std::size_t{1} << 20;
  data::ArchiveReader reader{archive, compression, "fuzz"};
  std::string all(most, '\0');
  std::size_t size = 0;
  const bool accepted = accepts([&] {
    while (size < most) {
      const auto piece = std::span{all}.subspan(size).first(std::min(piece_size, most - size));
      const std::size_t count = reader.read(piece);
      require(count <= piece.size());
      size += count;
      if (count < piece.size()) break;
    }
  });
  require(reader.position() <= archive.size());
  if (!accepted) return {};
  require(size == most || reader.position() == archive.size());
  all.resize(size);
  return all;
}

/// An archive must give equal texts in pieces of any size.
void run(Input input) {
  const auto compression =
      input.take() % 2 == 0 ? data::Compression::gzip : data::Compression::zstd;
  const std::size_t piece_size = 1 + input.take() * std::size_t{16};
  require(decompressed(input.text(), compression, piece_size) ==
          decompressed(input.text(), compression, std::size_t{1} << 20));
}

}  // namespace seqtrain::fuzz
