#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/glob.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

bool glob_fits(const std::string& pattern, const std::string& path) {
  return hub::Glob{pattern}.fits(path);
}

TEST(HubGlob, AStarStaysInAName) {
  EXPECT_TRUE(glob_fits("data/train-*", "data/train-00000-of-00001.parquet"));
  EXPECT_TRUE(glob_fits("*.csv", "a.csv"));
  EXPECT_TRUE(glob_fits("a*b*c", "aXbXbc"));
  EXPECT_TRUE(glob_fits("data/t?ain.csv", "data/train.csv"));
  EXPECT_FALSE(glob_fits("*.csv", "data/a.csv"));
  EXPECT_FALSE(glob_fits("data/*", "data/a/b.csv"));
  EXPECT_FALSE(glob_fits("data/train-*", "data/test-1"));
  EXPECT_FALSE(glob_fits("data", "data/a.csv"));
  EXPECT_FALSE(glob_fits("data/a", "data"));
}

TEST(HubGlob, TwoStarsAreAnyFolders) {
  EXPECT_TRUE(glob_fits("**", "a/b/c"));
  EXPECT_TRUE(glob_fits("**/train/**", "train/a.csv"));
  EXPECT_TRUE(glob_fits("**/train/**", "x/train/y/a.csv"));
  EXPECT_TRUE(glob_fits("a/**/b/*.csv", "a/b/c/b/x.csv"));
  EXPECT_FALSE(glob_fits("**/train/**", "train"));
  EXPECT_FALSE(glob_fits("a/**/b", "a/c"));
  EXPECT_NE(problem_of([] { hub::Glob{"data/**.csv"}; }).find("data/**.csv"), std::string::npos);
}

TEST(HubGlob, BracketsAreOneCharacter) {
  EXPECT_TRUE(glob_fits("train[-._ 0-9]*", "train_1"));
  EXPECT_TRUE(glob_fits("train[-._ 0-9]*", "train-"));
  EXPECT_FALSE(glob_fits("train[-._ 0-9]*", "trainer"));
  EXPECT_TRUE(glob_fits("[!a-c]x", "dx"));
  EXPECT_FALSE(glob_fits("[!a-c]x", "bx"));
  EXPECT_TRUE(glob_fits("[]]", "]"));
  EXPECT_TRUE(glob_fits("a[b", "a[b"));
}

TEST(HubGlob, HiddenAndSpecialPlacesMustBeNamed) {
  EXPECT_FALSE(glob_fits("**", ".git/a"));
  EXPECT_FALSE(glob_fits("*", ".hidden"));
  EXPECT_TRUE(glob_fits(".*", ".hidden"));
  EXPECT_FALSE(glob_fits("**", "__MACOSX/a.csv"));
  EXPECT_TRUE(glob_fits("__MACOSX/*", "__MACOSX/a.csv"));
  EXPECT_TRUE(glob_fits("*", "__a.csv"));
}

TEST(HubGlob, HostilePatternsTakeNoTime) {
  std::string stars, folders;
  for (int i = 0; i < 200; ++i) stars += "a*", folders += "**/a/";
  EXPECT_FALSE(glob_fits(stars + "b", std::string(4000, 'a')));
  std::string path = "a";
  for (int i = 0; i < 2000; ++i) path += "/a";
  EXPECT_FALSE(glob_fits(folders + "b", path));
}

}  // namespace
}  // namespace seqtrain::tests
