#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/sink/manifest.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::sink {
namespace {

using tests::write_file;

struct ManifestTest : testing::Test {
  void SetUp() override {
    write_file(directory / "a.bin", "123456789");
    manifest.add(directory.path(), "a.bin");
    write_file(directory / "manifest.json", manifest.to_json());
  }

  const tests::TemporaryDirectory directory;
  Manifest manifest;
};

TEST_F(ManifestTest, ComesBackAndFits) {
  const auto read = Manifest::load(directory / "manifest.json");
  ASSERT_EQ(read.entries().size(), 1U);
  EXPECT_EQ(read.entries()[0].name, "a.bin");
  EXPECT_EQ(read.entries()[0].size, 9U);
  EXPECT_EQ(read.entries()[0].crc32c, 0xe3069283U);  // RFC 3720's check value
  EXPECT_NO_THROW(read.check(directory.path()));
}

TEST_F(ManifestTest, SeesOtherBytes) {
  const auto problem = [&] { return tests::problem_of([&] { manifest.check(directory.path()); }); };
  write_file(directory / "a.bin", "12345678");
  EXPECT_NE(problem().find("has 8 bytes, its manifest says 9"), std::string::npos) << problem();
  write_file(directory / "a.bin", "123456780");
  EXPECT_NE(problem().find("checksum"), std::string::npos) << problem();
  std::filesystem::remove(directory / "a.bin");
  EXPECT_NE(problem().find("a.bin"), std::string::npos) << problem();
}

TEST_F(ManifestTest, RefusesWhatIsNone) {
  for (const char* text : {"", "{}", R"({"files": [{"name": "../a", "size": 1, "crc32c": 1}]})",
                           R"({"files": [{"name": "/a", "size": 1, "crc32c": 1}]})",
                           R"({"files": [{"name": "a"}]})"}) {
    write_file(directory / "manifest.json", text);
    EXPECT_THROW(Manifest::load(directory / "manifest.json"), Error) << text;
  }
}

}  // namespace
}  // namespace seqtrain::sink
