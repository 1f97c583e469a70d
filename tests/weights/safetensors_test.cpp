#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/safetensors.hpp>

#include "support/corrupt.hpp"
#include "support/golden_file.hpp"
#include "support/golden_tensors.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

using tests::bytes_of;

/// Returns a file: the header's length, the header, and `data` zero bytes.
std::string file_of(const std::string& header, std::size_t data) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + std::string(data, '\0');
}

std::string refusal(const std::string& header, std::size_t data) {
  return tests::refusal([&] { parse_safetensors(bytes_of(file_of(header, data)), "m"); });
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& place) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + place + "}";
}

TEST(Safetensors, ReadsEveryDtype) {
  const SafetensorsFile file{tests::golden() / "weights/dtypes.safetensors"};
  tests::expect_golden(file.tensors(), tests::golden() / "weights/dtypes.json");
}

TEST(Safetensors, WritesWhatItReads) {
  const tests::TemporaryDirectory directory;
  const SafetensorsFile file{tests::golden() / "weights/dtypes.safetensors"};
  write_safetensors(directory / "copy.safetensors", file.tensors());
  const SafetensorsFile copy{directory / "copy.safetensors"};
  tests::expect_golden(copy.tensors(), tests::golden() / "weights/dtypes.json");
  // tests/golden/check_weights.py reads these bytes in Python.
  tests::expect_same_file(directory / "copy.safetensors",
                          tests::golden() / "weights/written/dtypes.safetensors");
}

TEST(Safetensors, KeepsTheOrderOfNamesAndAlignsTheData) {
  const tests::TemporaryDirectory directory;
  const std::array<std::uint8_t, 3> mask{1, 0, 1};
  const std::array<double, 2> numbers{0.5, -2};
  const std::vector<TensorView> tensors{
      {.name = "mask", .dtype = DType::u8, .shape = {3}, .bytes = std::as_bytes(std::span{mask})},
      {.name = "numbers",
       .dtype = DType::f64,
       .shape = {2},
       .bytes = std::as_bytes(std::span{numbers})}};
  write_safetensors(directory / "m", tensors);
  const MappedFile mapped{directory / "m"};
  const auto read = parse_safetensors(mapped.bytes(), "m");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].name, "mask");
  EXPECT_EQ(read[1].name, "numbers");
  EXPECT_EQ((read[1].bytes.data() - mapped.bytes().data()) % 8, 0);
  EXPECT_EQ(tests::elements(read[1]), (std::vector<double>{0.5, -2}));
  EXPECT_NE(mapped.text().find(R"("__metadata__":{"format":"pt"})"), std::string::npos);
}

TEST(Safetensors, WritesNoTensorsAtAll) {
  const tests::TemporaryDirectory directory;
  write_safetensors(directory / "m", {}, {});
  EXPECT_EQ(tests::read_file(directory / "m"), file_of("{}      ", 0));
  EXPECT_TRUE(SafetensorsFile{directory / "m"}.tensors().empty());
}

TEST(Safetensors, RefusesToWriteWhatDoesNotFit) {
  const tests::TemporaryDirectory directory;
  const std::vector<TensorView> tensors{{.name = "a", .shape = {2}}};
  EXPECT_THROW(write_safetensors(directory / "m", tensors), InputError);
  const std::vector<TensorView> reserved{{.name = "__metadata__", .shape = {0}}};
  EXPECT_THROW(write_safetensors(directory / "m", reserved), InputError);
  EXPECT_FALSE(std::filesystem::exists(directory / "m"));
}

TEST(Safetensors, RefusesAHeaderThatCannotBe) {
  const auto read = [](std::string_view text) { parse_safetensors(bytes_of(text), "m"); };
  EXPECT_THROW(read("\x02\0\0"), InputError);
  const std::string longer = "\xff" + std::string(7, '\0') + "{}";
  EXPECT_NE(tests::refusal([&] { read(longer); }).find("header longer than the file"),
            std::string::npos);
  EXPECT_THROW(read(std::string(8, '\xff') + "{}"), InputError);
  EXPECT_EQ(tests::refusal([&] { read("version https://git-lfs.github.com/spec/v1\nsize 9\n"); }),
            "m: is a pointer of git-lfs and not the file itself; fetch the file by: git lfs pull");
  EXPECT_NE(refusal("", 0).find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal("[1]", 0).find("expected an object"), std::string::npos);
  EXPECT_NE(refusal(R"({"a":)", 0).find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal(R"({"a":3})", 0).find("m: a: expected an object"), std::string::npos);
  EXPECT_NE(refusal(R"({"a":null})", 0).find("m: a: expected an object"), std::string::npos);
}

TEST(Safetensors, NamesTheTensorThatIsWrong) {
  const auto one = [](const std::string& tensor) { return R"({"w":)" + tensor + "}"; };
  const auto says = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(refusal(one(entry("F8_E4M3", "[1]", "[0,1]")), 1), "m: w.dtype: unknown dtype F8_E4M3");
  says(refusal(one(entry("F32", "[2]", "[0,4]")), 4), "w.data_offsets: 4 bytes do not fit");
  says(refusal(one(entry("F32", "[2]", "[0,8]")), 7), "w.data_offsets: out of bounds of the 7");
  says(refusal(one(entry("F32", "[1]", "[4,0]")), 4), "out of bounds");
  says(refusal(one(entry("F32", "[1]", "[-4,0]")), 4), "out of bounds");
  says(refusal(one(entry("F32", "[1]", "[0,4,8]")), 8), "expected two offsets");
  says(refusal(one(entry("F32", "[-1]", "[0,4]")), 4), "w.shape[0]: negative");
  says(refusal(one(entry("F32", "[1.5]", "[0,4]")), 4), "w.shape[0]: expected an integer");
  says(refusal(one(entry("F32", "3", "[0,4]")), 4), "w.shape: expected an array");
  says(refusal(one(entry("U8", "[4294967296,4294967296]", "[0,0]")), 0), "do not fit");
  says(refusal(one(R"({"dtype":"F32","shape":[]})"), 0), "w.data_offsets: missing");
  says(refusal(one(entry("U8", "[1]", "[0,18446744073709551615]")), 1), "expected an integer");
}

TEST(Safetensors, RefusesOverlapsGapsAndDuplicates) {
  const auto two = [](const char* second, const std::string& place) {
    return R"({"a":)" + entry("U8", "[2]", "[0,2]") + ",\"" + second +
           "\":" + entry("U8", "[2]", place) + "}";
  };
  EXPECT_NO_THROW(parse_safetensors(bytes_of(file_of(two("b", "[2,4]"), 4)), "m"));
  EXPECT_NE(refusal(two("b", "[1,3]"), 3).find("m: b: its bytes overlap"), std::string::npos);
  EXPECT_NE(refusal(two("b", "[0,2]"), 2).find("overlap"), std::string::npos);
  EXPECT_NE(refusal(two("b", "[3,5]"), 5).find("leave a gap"), std::string::npos);
  EXPECT_NE(refusal(two("b", "[2,4]"), 5).find("after the last tensor"), std::string::npos);
  EXPECT_NE(refusal(two("a", "[2,4]"), 4).find("m: a: named twice"), std::string::npos);
}

TEST(Safetensors, NoDamageIsDangerous) {
  const auto text = tests::read_file(tests::golden() / "weights/dtypes.safetensors");
  const auto read = [](const std::string& damaged) {
    for (const auto& tensor : parse_safetensors(bytes_of(damaged), "m")) tests::elements(tensor);
  };
  read(text);
  tests::expect_no_prefix_is_read(text, read);
  tests::survive_flipped_bits(text, 20'000, read);
}

TEST(Safetensors, AMissingFileIsNamed) {
  const auto open = [] { SafetensorsFile{"absent.safetensors"}; };
  EXPECT_NE(tests::refusal(open).find("absent.safetensors: "), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::weights
