#include <set>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/languages/places.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/storage/open.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::languages {
namespace {

using tests::write_into_folder;

TEST(LanguagesPlace, IsADirectoryOrABucket) {
  EXPECT_EQ((Languages{.local = "data"}.place_of("en")), "data/en");
  EXPECT_EQ((Languages{.bucket = "texts"}.place()), "gs://texts");
  EXPECT_EQ((Languages{.bucket = "texts"}.place_of("en")), "gs://texts/en");
  EXPECT_EQ((Languages{.bucket = "s3://texts/all/"}.place_of("en")), "s3://texts/all/en");
}

TEST(LanguagesPlace, HasALanguageForEachFolderOfEitherLayout) {
  const tests::TemporaryDirectory root;
  write_into_folder(root / "en/train.csv", "text,label\n");
  write_into_folder(root / "fr/other.csv", "text,label\n");
  write_into_folder(root / "pretrained/de/set.csv", "text,a\n");
  const Languages languages{.local = root.path().string()};
  const auto found = languages.find("set.csv", storage::Options{log::Log{}});
  EXPECT_EQ(found.plain, (std::set<std::string>{"en"}));
  EXPECT_EQ(found.published, (std::set<std::string>{"de"}));
  EXPECT_EQ(languages.fetch("en", found, storage::Options{log::Log{}}), root / "en");
  EXPECT_EQ(languages.fetch("de", found, storage::Options{log::Log{}}), root / "pretrained/de");
  const auto problem = tests::problem_of(
      [&] { static_cast<void>(languages.fetch("fr", found, storage::Options{log::Log{}})); });
  EXPECT_NE(problem.find("language 'fr'"), std::string::npos) << problem;
  EXPECT_NE(problem.find("there are: de, en"), std::string::npos) << problem;
}

TEST(LanguagesPlace, HasNoLanguagesIfItIsMissing) {
  const tests::TemporaryDirectory root;
  const Languages languages{.local = (root / "none").string()};
  const auto found = languages.find("set.csv", storage::Options{log::Log{}});
  EXPECT_TRUE(found.plain.empty() && found.published.empty());
  const auto problem = tests::problem_of(
      [&] { static_cast<void>(languages.fetch("en", found, storage::Options{log::Log{}})); });
  EXPECT_NE(problem.find("there are no languages"), std::string::npos) << problem;
}

}  // namespace
}  // namespace seqtrain::languages
