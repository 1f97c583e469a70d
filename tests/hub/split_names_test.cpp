#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/split_names.hpp>

namespace seqtrain::tests {
namespace {

std::string split_names_of(const std::vector<std::string>& files) {
  std::string names;
  for (const auto& [split, patterns] : hub::splits_by_names(files)) names += split + " ";
  return names;
}

TEST(HubSplitNames, ShardsComeFirst) {
  EXPECT_EQ(
      split_names_of({"data/unsupervised-00000-of-00001.parquet",
                      "data/test-00000-of-00001-ab12.parquet", "data/train-00000-of-00002.parquet",
                      "data/train-00001-of-00002.parquet", "other/dev.csv"}),
      "train test unsupervised ");
  const auto splits = hub::splits_by_names({"data/a-00000-of-00001-x-00000-of-00001.parquet"});
  ASSERT_EQ(splits.size(), 1U);
  EXPECT_EQ(splits[0].split, "a-00000-of-00001-x");
}

TEST(HubSplitNames, FoldersComeBeforeFiles) {
  EXPECT_EQ(split_names_of({"train/a.csv", "dev/b.csv", "x-test.csv"}), "train validation ");
  EXPECT_EQ(split_names_of({"my_training_set/a.csv"}), "train ");
}

TEST(HubSplitNames, AreWordsInFileNames) {
  EXPECT_EQ(split_names_of({"train.csv", "validation.csv", "test.csv"}), "train validation test ");
  EXPECT_EQ(split_names_of({"my-val.jsonl", "a/eval_0.jsonl"}), "validation test ");
  // No name has one of the words, so all files are a split.
  EXPECT_EQ(split_names_of({"trainer.csv", "detest.csv"}), "train ");
  EXPECT_EQ(split_names_of({"reviews.csv"}), "train ");
  EXPECT_EQ(split_names_of({".gitattributes"}), "");
}

}  // namespace
}  // namespace seqtrain::tests
