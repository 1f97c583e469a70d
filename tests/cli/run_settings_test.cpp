#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/cli/run_settings.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::cli {
namespace {

using tests::write_file;

TEST(Fingerprint, IsOfTheContentNotTheName) {
  const tests::TemporaryDirectory directory;
  const auto a = write_file(directory / "a", "123456789");
  const auto b = write_file(directory / "b", "123456789");
  EXPECT_EQ(fingerprint(a), "9 bytes, crc32c e3069283");
  EXPECT_EQ(fingerprint(a), fingerprint(b));
  EXPECT_NE(fingerprint(write_file(directory / "b", "123456780")), fingerprint(a));
  EXPECT_EQ(fingerprint(directory.path()).substr(0, 8), "18 bytes");
}

TEST(Fingerprint, OfATextFolderIsOfLabelsAndTexts) {
  const tests::TemporaryDirectory directory;
  for (const char* label : {"neg", "pos"}) {
    std::filesystem::create_directories(directory / label);
    write_file(directory.path() / label / "a.txt", "1234");
  }
  write_file(directory / "urls.txt", "http://");
  const std::string print = fingerprint_of_examples(directory.path());
  EXPECT_EQ(print.substr(0, 8), "14 bytes");
  std::filesystem::rename(directory / "neg/a.txt", directory / "neg/b.txt");
  EXPECT_EQ(fingerprint_of_examples(directory.path()), print);
  std::filesystem::rename(directory / "neg/b.txt", directory / "pos/b.txt");
  write_file(directory / "neg/a.txt", "");
  EXPECT_NE(fingerprint_of_examples(directory.path()), print);
  const auto file = write_file(directory / "train.jsonl", "1");
  EXPECT_EQ(fingerprint_of_examples(file), fingerprint(file));
}

TEST(RunSettings, HaveFingerprintsInPlaceOfPaths) {
  const tests::TemporaryDirectory directory;
  TrainFlags flags;
  flags.model = directory.path().string();
  flags.train_file = write_file(directory / "train.jsonl", "1").string();
  flags.dev_file = write_file(directory / "dev.jsonl", "22").string();
  const auto settings = run_settings({{"seed", "7"}, {"learning-rate", "1e-4"}}, flags, "bf16");
  const auto value = [&](const std::string& name) {
    const auto found =
        std::ranges::find(settings, name, [](const auto& pair) { return pair.first; });
    return found == settings.end() ? "unset" : found->second;
  };
  EXPECT_EQ(value("seed"), "7");
  EXPECT_EQ(value("learning-rate"), "1e-4");
  EXPECT_EQ(value("precision"), "bf16");
  EXPECT_EQ(value("train-file").substr(0, 7), "1 bytes");
  EXPECT_EQ(value("dev-file").substr(0, 7), "2 bytes");
  EXPECT_EQ(value("model").substr(0, 7), "3 bytes");
}

}  // namespace
}  // namespace seqtrain::cli
