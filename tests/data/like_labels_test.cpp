#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/like_labels.hpp>

namespace seqtrain::data {
namespace {

using Names = std::vector<std::string>;
using Counts = std::vector<std::size_t>;

std::string warning(const Names& names, const Counts& examples) {
  return like_label_warning(names, examples, "do this");
}

TEST(LikeLabelWarning, NamesEachGroupWithItsCounts) {
  EXPECT_EQ(
      warning({"BAD", "GOOD", "bad", "good", "good ", "so-so"}, {4, 4, 8, 8, 1, 3}),
      "labels that differ only in case, in blanks or in how a number is written are different "
      "labels to the model: 'bad' (8), 'BAD' (4); 'good' (8), 'GOOD' (4), 'good ' (1); do "
      "this");
  EXPECT_EQ(warning({"good", "bad"}, {4, 4}), "");
  EXPECT_EQ(warning({}, {}), "");
}

TEST(LikeLabelWarning, ShowsWhatCannotBeSeen) {
  EXPECT_NE(warning({"good", "good\u00a0", "x"}, {4, 3, 1}).find("'good' (4), 'good\\u00a0' (3)"),
            std::string::npos);
  EXPECT_NE(warning({"good", "good\n", "x"}, {4, 3, 1}).find("'good\\n' (3)"), std::string::npos);
}

TEST(LikeLabelWarning, NamesAtMostEightGroups) {
  Names names;
  for (char c = 'a'; c < 'k'; ++c) {
    names.emplace_back(1, c);
    names.push_back(std::string(1, c) + " ");
  }
  const std::string text = warning(names, Counts(names.size(), 1));
  EXPECT_NE(text.find("'h' (1), 'h ' (1); and 2 more; do this"), std::string::npos) << text;
}

TEST(JoinedName, IsTheMostFrequentSpellingWithoutBlanks) {
  EXPECT_EQ(joined_name(like_labels(Names{"GOOD", "good"}, Counts{5, 4})[0]), "GOOD");
  EXPECT_EQ(joined_name(like_labels(Names{"GOOD", "good"}, Counts{4, 4})[0]), "good");
  EXPECT_EQ(joined_name(like_labels(Names{"good ", "good"}, Counts{9, 1})[0]), "good");
  EXPECT_EQ(joined_name(like_labels(Names{"good ", " good", "GOOD"}, Counts{2, 2, 3})[0]), "good");
  EXPECT_EQ(joined_name(like_labels(Names{"1", "1.0", "01"}, Counts{2, 3, 1})[0]), "1.0");
  EXPECT_EQ(joined_name(like_labels(Names{" ", "  "}, Counts{1, 2})[0]), "  ");
}

TEST(MissingLabelWarning, NamesWhatProgramsWriteForMissingValues) {
  const Names missing{"nan", "NaN", "NULL", "null", "None", "\\N", "NA",
                      "N/A", "n/a", "<NA>", "#N/A", " ",    "NaT", "undefined"};
  for (const auto& name : missing) EXPECT_TRUE(stands_for_missing(name)) << name;
  for (const char* name : {"bad", "nano", "\n.", "-", "0", "not", "nine", "nanny"}) {
    EXPECT_FALSE(stands_for_missing(name)) << name;
  }
  EXPECT_EQ(missing_label_warning(Names{"NULL", "bad", "nan"}, Counts{3, 9, 1}),
            "labels that often stand for a missing value are labels to the model: 'NULL' (3), "
            "'nan' (1); leave out their rows if these have no label");
  EXPECT_EQ(missing_label_warning(Names{"bad", "good"}, Counts{3, 9}), "");
}

TEST(ListLabelWarning, NamesListsThatAreTakenForNames) {
  EXPECT_EQ(list_label_warning(Names{"[\"good\"]", "[\"bad\", \"good\"]", "x"}, Counts{2, 3, 4}),
            "labels that are lists are names to the model: '[\"good\"]' (2), '[\"bad\", \"good\"]' "
            "(3); several labels of an example are --problem-type multi_label_classification");
  EXPECT_NE(list_label_warning(Names{"['good']", "[]"}, Counts{2, 3}), "");
  EXPECT_EQ(list_label_warning(Names{"[good]", "[x", "good"}, Counts{2, 3, 4}), "");
}

}  // namespace
}  // namespace seqtrain::data
