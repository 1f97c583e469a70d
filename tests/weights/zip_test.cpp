#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/weights/zip.hpp>
#include <seqtrain/weights/zip_writer.hpp>

#include "support/corrupt.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

using tests::bytes_of;

template <class T>
std::string little_endian(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::string two(std::size_t number) {
  return little_endian(static_cast<std::uint16_t>(number));
}
std::string four(std::size_t number) {
  return little_endian(static_cast<std::uint32_t>(number));
}

struct Part {
  std::size_t flags = 0;
  std::size_t method = 0;
  std::size_t stored = 5;
  std::size_t size = 5;
  std::size_t offset = 0;
  std::string extra = "";
};

/// Returns an archive of 32 bits with the entry "a", "hello", which each of `parts` describes.
std::string archive(std::initializer_list<Part> parts, const std::string& comment = "") {
  std::string text = "PK\3\4" + std::string(22, '\0') + two(1) + two(3) + "a" + "pad" + "hello";
  const auto directory = text.size();
  for (const auto& part : parts) {
    text += "PK\1\2" + two(20) + two(20) + two(part.flags) + two(part.method) + four(0) + four(0);
    text += four(part.stored) + four(part.size) + two(1) + two(part.extra.size()) + two(0);
    text += two(0) + two(0) + four(0) + four(part.offset) + "a" + part.extra;
  }
  const auto size = text.size() - directory;
  text += "PK\5\6" + two(0) + two(0) + two(parts.size()) + two(parts.size());
  return text + four(size) + four(directory) + two(comment.size()) + comment;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string content(const std::string& zip) {
  return std::string{text_of(parse_zip(bytes_of(zip), "z").at("a"))};
}

std::string refusal_of(const std::string& zip) {
  return tests::refusal([&] { parse_zip(bytes_of(zip), "z"); });
}

TEST(Zip, ReadsStoredEntries) {
  EXPECT_EQ(content(archive({{}})), "hello");
  EXPECT_TRUE(parse_zip(bytes_of(archive({})), "z").empty());
}

TEST(Zip, ACommentMayFollowEvenOneThatLooksLikeAnEnd) {
  EXPECT_EQ(content(archive({{}}, "made by hand")), "hello");
  EXPECT_EQ(content(archive({{}}, "PK\5\6 and more than twenty-two bytes")), "hello");
}

TEST(Zip, TakesSizesFromTheZip64Field) {
  constexpr std::size_t look = 0xffffffff;
  const auto eight = [](std::uint64_t number) { return little_endian(number); };
  const std::string other = two(0x4246) + two(2) + "ZZ";
  EXPECT_EQ(
      content(archive({{.stored = look,
                        .size = look,
                        .offset = look,
                        .extra = other + two(1) + two(24) + eight(5) + eight(5) + eight(0)}})),
      "hello");
  EXPECT_EQ(content(archive({{.offset = look, .extra = two(1) + two(8) + eight(0)}})), "hello");
  EXPECT_NE(
      refusal_of(archive({{.offset = look, .extra = two(1) + two(4) + four(0)}})).find("broken"),
      std::string::npos);
  EXPECT_NE(
      refusal_of(archive({{.offset = look, .extra = two(1) + two(9) + eight(0)}})).find("broken"),
      std::string::npos);
  EXPECT_NE(
      refusal_of(archive({{.offset = look, .extra = two(1) + two(8) + std::string(8, '\xff')}}))
          .find("points past its end"),
      std::string::npos);
}

TEST(Zip, NamesWhatItCannotRead) {
  EXPECT_NE(refusal_of(archive({{.method = 8}})).find("z: entry a is compressed"),
            std::string::npos);
  EXPECT_NE(refusal_of(archive({{.flags = 1}})).find("z: entry a is encrypted"), std::string::npos);
  EXPECT_NE(refusal_of(archive({{.stored = 4}})).find("entry a has two sizes"), std::string::npos);
  EXPECT_NE(refusal_of(archive({{}, {}})).find("two entries named a"), std::string::npos);
  EXPECT_NE(refusal_of(archive({{.offset = 1}})).find("broken"), std::string::npos);
  EXPECT_NE(refusal_of(archive({{.stored = 500, .size = 500}})).find("points past its end"),
            std::string::npos);
  EXPECT_NE(refusal_of("plain text").find("no zip directory at its end"), std::string::npos);
  EXPECT_NE(refusal_of("").find("no zip directory at its end"), std::string::npos);
}

TEST(Zip, ReadsWhatItsWriterWrites) {
  const tests::TemporaryDirectory directory;
  ZipWriter writer{directory / "z"};
  writer.add("one", "first");
  writer.add("sub/two", "");
  EXPECT_FALSE(std::filesystem::exists(directory / "z"));
  writer.commit();
  const MappedFile mapped{directory / "z"};
  const auto entries = parse_zip(mapped.bytes(), "z");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(text_of(entries.at("one")), "first");
  EXPECT_EQ(text_of(entries.at("sub/two")), "");
}

TEST(Zip, NoDamageIsDangerous) {
  const auto read = [](const std::string& text) { parse_zip(bytes_of(text), "z"); };
  const auto text = archive({{}});
  tests::expect_no_prefix_is_read(text, read);
  tests::survive_flipped_bits(text, 20'000, read);
}

}  // namespace
}  // namespace seqtrain::weights
