#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/record_file.hpp>

#include "support/compressed.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"
#include "support/temporary_file.hpp"

namespace seqtrain::data {
namespace {

using tests::gzipped;
using tests::TemporaryFile;
using tests::zstd_compressed;

/// The texts of a file with their lines, and the number of texts of records that were read.
struct FileContent {
  std::vector<std::string> examples = {};
  std::size_t texts = 0;
  bool operator==(const FileContent&) const = default;
};

FileContent content_of(const std::filesystem::path& path) {
  RecordFile file{path};
  FileContent found;
  file.each_text([&](const Reader& reader) {
    ++found.texts;
    reader.read_all([&](const Example& example) {
      found.examples.push_back(std::to_string(reader.source().line_of(example.record)) + ": " +
                               std::string{example.text});
    });
  });
  return found;
}

FileContent content_of(std::string_view content, const std::string& suffix) {
  const TemporaryFile file{content, suffix};
  return content_of(file.path());
}

TEST(RecordFile, ReadsEveryFormatCompressedAsItReadsItPlain) {
  const std::vector<std::pair<std::string, std::string>> files{
      {".jsonl", "{\"text\":\"a\",\"label\":0}\n\n{\"text\":\"b\",\"label\":1}\n"},
      {".tsv", "text\tlabel\na\t0\nb\t1"},
      {".csv", "text,label\n\"a\nline\",0\r\nb,1\n"},
      {".csv", "\xEF\xBB\xBFtext,label\na,0\n"}};
  for (const auto& [suffix, text] : files) {
    const FileContent plain = content_of(text, suffix);
    EXPECT_GE(plain.examples.size(), 1u);
    EXPECT_EQ(content_of(gzipped(text), suffix + ".gz"), plain) << suffix;
    EXPECT_EQ(content_of(zstd_compressed(text), suffix + ".zst"), plain) << suffix;
    EXPECT_EQ(content_of(gzipped(text), suffix), plain) << "by its first bytes " << suffix;
  }
  const std::string two_marks = "\xEF\xBB\xBF\xEF\xBB\xBFtext,label\na,0\n";
  for (const auto& text : {two_marks, gzipped(two_marks)}) {
    EXPECT_NE(tests::problem_of([&] { content_of(text, ".csv"); }).find("no known field"),
              std::string::npos);
  }
}

TEST(RecordFile, ReadsTheFilesOfASplitOneAfterTheOther) {
  const tests::TemporaryDirectory directory;
  const auto path = [&](const char* name) { return (directory / name).string(); };
  tests::write_file(path("a-1.csv"), "text,label\na,0\nb,1\n");
  tests::write_file(path("a-2.csv.gz"), gzipped("label,text\n1,c\n"));
  tests::write_file(path("b.jsonl"), "{\"text\":\"d\",\"label\":1}\n{\"text\":\"e\",\"label\":0}");
  const std::vector<std::string> lines{"2: a", "3: b", "2: c", "1: d", "2: e"};
  EXPECT_EQ(content_of(path("a-*") + "," + path("b.jsonl")), (FileContent{lines, 3}));
  RecordFile file{path("a-1.csv") + "," + path("b.jsonl")};
  std::size_t end = 0;
  file.each_text([&](const Reader& reader) {
    for (const auto part : reader.parts(1)) {
      EXPECT_GT(file.end_of(part), end);
      end = file.end_of(part);
    }
  });
  EXPECT_EQ(end, file.bytes());
}

TEST(RecordFile, RefusesAFileWithOtherFields) {
  const tests::TemporaryDirectory directory;
  tests::write_file(directory / "1.csv", "text,label\na,0\n");
  tests::write_file(directory / "2.csv", "sentence,label\nb,0\n");
  tests::write_file(directory / "3.csv", "text,label\nc\n");
  const auto problem = [&](const std::string& files) {
    return tests::problem_of(
        [&] { content_of((directory / "1.csv").string() + "," + (directory / files).string()); });
  };
  EXPECT_NE(problem("2.csv").find("2.csv: has other fields than"), std::string::npos);
  EXPECT_NE(problem("3.csv").find("3.csv:2:"), std::string::npos);
  EXPECT_NE(problem("4.csv").find("4.csv"), std::string::npos);
}

TEST(RecordFile, CutsAnArchiveIntoTextsOfWholeRecords) {
  std::string json, csv = "text,label\n";
  const std::string filler(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    json += "{\"text\":\"" + filler + std::to_string(i) + "\",\"label\":0}\n";
    csv += "\"" + filler + "\n" + std::to_string(i) + "\",0\n";
  }
  for (const auto& [suffix, text] : {std::pair{".jsonl", &json}, std::pair{".csv", &csv}}) {
    const FileContent plain = content_of(*text, suffix);
    const FileContent compressed = content_of(zstd_compressed(*text), std::string{suffix} + ".zst");
    EXPECT_EQ(plain.texts, 1u);
    EXPECT_EQ(compressed.texts, 2u);
    EXPECT_EQ(compressed.examples.size(), 20u);
    EXPECT_TRUE(compressed.examples == plain.examples) << suffix;
  }
}

TEST(RecordFile, RefusesARecordThatNeverEnds) {
  const TemporaryFile file{gzipped("{\"text\":\"a\",\"label\":0}\n\n{" + std::string(1 << 27, ' ')),
                           ".jsonl.gz"};
  EXPECT_EQ(tests::problem_of([&] { content_of(file.path()); }),
            file.path().string() + ":3: a record is longer than 64 MiB");
}

TEST(RecordFile, ReadsALongRecordWhereverItLies) {
  const std::string text = "{\"text\":\"" + std::string((1 << 24) + 26, 'a') +
                           "\",\"label\":0}\n{\"text\":\"b\",\"label\":1}\n";
  const TemporaryFile file{gzipped(text), ".jsonl.gz"};
  EXPECT_EQ(content_of(file.path()).examples.size(), 2u);
}

TEST(RecordFile, RefusesAnArchiveThatIsDamaged) {
  const std::string text = "{\"text\":\"a\",\"label\":0}\n";
  const auto problem = [](std::string_view content) {
    const TemporaryFile file{content, ".jsonl.gz"};
    const std::string name = file.path().string();
    return tests::problem_of([&] { content_of(file.path()); }).substr(name.size());
  };
  EXPECT_EQ(problem(text),
            ": cannot be decompressed at byte 2: incorrect header check; fetch or make the file "
            "again");
  EXPECT_EQ(problem(gzipped("")), ": holds no example");
  const std::string archive = gzipped(text);
  EXPECT_EQ(problem(archive.substr(0, archive.size() - 3)),
            ": is cut off at byte " + std::to_string(archive.size() - 3) +
                ": more bytes are expected; fetch or make the file again");
  EXPECT_NE(problem(archive + "garbage").find(": cannot be decompressed at byte"),
            std::string::npos);
}

TEST(RecordFile, RefusesAFileThatIsRewrittenWhileItIsRead) {
  std::string text = "text,label\n";
  while (text.size() <= 2 * MappedFile::most_copied) text += "a long line of text,1\n";
  const TemporaryFile made{text, ".csv"};
  const auto read = [&](bool shortens) {
    RecordFile{made.path()}.each_text([&](const Reader& reader) {
      if (shortens) std::filesystem::resize_file(made.path(), 1000);
      reader.read_all([](const Example&) {});
    });
  };
  EXPECT_NO_THROW(read(false));
  EXPECT_NE(tests::problem_of([&] { read(true); }).find(".csv: was changed while it was read"),
            std::string::npos);
}

TEST(RecordFile, NamesTheLineOfAWrongRecord) {
  const TemporaryFile file{gzipped("{\"text\":\"a\",\"label\":0}\n{oops\n"), ".jsonl.gz"};
  EXPECT_EQ(tests::problem_of([&] { content_of(file.path()); }).find(file.path().string() + ":2: "),
            0u);
}

}  // namespace
}  // namespace seqtrain::data
