#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/data/archive.hpp>

#include "support/compressed.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

using tests::gzipped;
using tests::problem_of;
using tests::zstd_compressed;

/// Decompresses an archive in pieces of `bytes` bytes.
std::string decompressed(std::string_view archive, std::size_t bytes = 1000) {
  ArchiveReader reader{archive, compression_of(archive, "f"), "f"};
  std::string all;
  for (std::string piece(bytes, '\0');;) {
    const std::size_t count = reader.read(piece);
    all.append(piece, 0, count);
    if (count < bytes) break;
  }
  EXPECT_EQ(reader.position(), archive.size());
  return all;
}

std::string text_to_compress() {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * i) + "\n";
  return text;
}

TEST(Archive, IsRecognisedByItsNameOrItsFirstBytes) {
  EXPECT_EQ(compression_of("{}", "a.jsonl"), Compression::none);
  EXPECT_EQ(compression_of("{}", "a.jsonl.gz"), Compression::gzip);
  EXPECT_EQ(compression_of("{}", "a.jsonl.zst"), Compression::zstd);
  EXPECT_EQ(compression_of(gzipped("a"), "a.jsonl"), Compression::gzip);
  EXPECT_EQ(compression_of(zstd_compressed("a"), "a"), Compression::zstd);
}

TEST(Archive, GivesTheTextInPiecesOfAnySize) {
  const std::string text = text_to_compress();
  for (const std::size_t bytes : {1, 7, 1000, 1'000'000}) {
    EXPECT_EQ(decompressed(gzipped(text), bytes), text) << bytes;
    EXPECT_EQ(decompressed(zstd_compressed(text), bytes), text) << bytes;
  }
  EXPECT_EQ(decompressed(gzipped("")), "");
  EXPECT_EQ(decompressed(zstd_compressed("")), "");
}

TEST(Archive, JoinsMembersAndFrames) {
  EXPECT_EQ(decompressed(gzipped("ab") + gzipped("") + gzipped("c")), "abc");
  EXPECT_EQ(decompressed(zstd_compressed("ab") + zstd_compressed("c")), "abc");
}

TEST(Archive, LeavesOutZerosAfterTheLastMember) {
  EXPECT_EQ(decompressed(gzipped("ab") + std::string(1000, '\0')), "ab");
  EXPECT_NE(problem_of([] { decompressed(gzipped("ab") + std::string(9, '\0') + "x"); }), "");
}

TEST(Archive, RefusesOneThatIsCutOffAnywhere) {
  const std::string text = text_to_compress();
  for (const std::string& archive : {gzipped(text), zstd_compressed(text)}) {
    for (std::size_t size = 4; size < archive.size(); size += 97) {
      const std::string_view cut{archive.data(), size};
      EXPECT_EQ(problem_of([&] { decompressed(cut); }),
                "f: is cut off at byte " + std::to_string(size) +
                    ": more bytes are expected; fetch or make the file again");
    }
  }
}

TEST(Archive, NamesTheByteFromWhichItIsNoArchive) {
  const std::string archive = gzipped("abc");
  EXPECT_EQ(problem_of([&] { decompressed(archive + "more"); }).find("f: cannot be decompressed"),
            0u);
  EXPECT_NE(problem_of([&] {
              decompressed(zstd_compressed("abc") + "more");
            }).find("f: cannot be decompressed at byte"),
            std::string::npos);
  std::string wrong = archive;
  wrong[wrong.size() - 6] ^= 1;  // damages the checksum
  EXPECT_NE(problem_of([&] { decompressed(wrong); }).find("incorrect data check"),
            std::string::npos);
}

TEST(Archive, TakesNoMoreMemoryThanItsPieces) {
  const std::string bomb = gzipped(std::string(10'000'000, '0'));
  EXPECT_LT(bomb.size(), 20'000u);
  ArchiveReader reader{bomb, Compression::gzip, "f"};
  std::string piece(100, '\0');
  EXPECT_EQ(reader.read(piece), 100u);
  EXPECT_LT(reader.position(), bomb.size());
}

}  // namespace
}  // namespace seqtrain::data
