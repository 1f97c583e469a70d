#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/dataset_splits.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

using DatasetPaths = std::vector<std::string>;

std::string splits_of(const DatasetPaths& files, const std::string& card = "",
                      const std::string& config = "") {
  std::string text;
  for (const auto& [split, found] : hub::dataset_splits(files, card, config, "o/s").splits) {
    text += split + ":";
    for (const auto& file : found) text += " " + file;
    text += "\n";
  }
  return text;
}

const std::string two_configs =
    "---\nconfigs:\n- config_name: a\n  data_files:\n  - split: train\n    path: a/train-*\n"
    "  - split: dev\n    path: a/dev-*\n- config_name: b\n  data_files: b/x.csv\n---\n";

TEST(HubDatasetSplits, AreThoseOfTheCard) {
  const DatasetPaths files{"README.md",   "a/train-2.csv", "a/train-1.csv",
                           "a/dev-1.csv", "b/x.csv",       "b/README.md"};
  EXPECT_EQ(splits_of(files, two_configs, "a"),
            "train: a/train-1.csv a/train-2.csv\ndev: a/dev-1.csv\n");
  EXPECT_EQ(splits_of(files, two_configs, "b"), "train: b/x.csv\n");
}

TEST(HubDatasetSplits, OfTheDefaultConfig) {
  const DatasetPaths files{"x.csv", "y/train.csv", "y/test.csv"};
  EXPECT_EQ(splits_of(files, "---\nconfigs:\n- config_name: only\n  data_files: '*.csv'\n---\n"),
            "train: x.csv\n");
  EXPECT_EQ(splits_of(files,
                      "---\nconfigs:\n- config_name: x\n- config_name: default\n"
                      "  data_dir: y\n---\n"),
            "train: y/train.csv\ntest: y/test.csv\n");
}

TEST(HubDatasetSplits, AreThoseOfNamesWithoutACard) {
  EXPECT_EQ(splits_of({"README.md", "train.csv", "dev.csv.gz", "config.json"}),
            "train: train.csv\nvalidation: dev.csv.gz\n");
  EXPECT_EQ(
      splits_of({"sst2/train-00000-of-00001.parquet", "sst2/validation-00000-of-00001.parquet",
                 "cola/train-00000-of-00001.parquet"},
                "", "sst2"),
      "train: sst2/train-00000-of-00001.parquet\n"
      "validation: sst2/validation-00000-of-00001.parquet\n");
}

TEST(HubDatasetSplits, TakesTheFormatOfMostFiles) {
  EXPECT_EQ(splits_of({"train.csv", "test.csv", "train.png", "train.txt", "train.jsonl"}),
            "train: train.csv\ntest: test.csv\n");
  EXPECT_EQ(splits_of({"data.csv", "data.parquet"}), "train: data.parquet\n");
  EXPECT_EQ(splits_of({"a.jsonl.zst", "b.json", "c.ndjson.gz"}),
            "train: a.jsonl.zst b.json c.ndjson.gz\n");
}

TEST(HubDatasetSplits, TakesNoFileTwice) {
  EXPECT_EQ(splits_of({"my-train-train.csv", "train.csv"}),
            "train: train.csv my-train-train.csv\n");
}

TEST(HubDatasetSplits, SaysWhatThereIs) {
  const DatasetPaths files{"a/train-1.csv", "b/x.csv"};
  const auto problem = [&](const std::string& card, const std::string& config) {
    return problem_of([&] { splits_of(files, card, config); });
  };
  EXPECT_EQ(problem(two_configs, ""),
            "o/s: has several configs; there are: a, b; name one as o/s:a");
  EXPECT_EQ(problem(two_configs, "c"),
            "o/s: has no config 'c'; there are: a, b; name one as o/s:a");
  EXPECT_NE(problem("", "c").find("its README.md names none"), std::string::npos);
  const auto splits = hub::dataset_splits(files, two_configs, "a", "o/s");
  EXPECT_EQ(splits.files("train"), (DatasetPaths{"a/train-1.csv"}));
  EXPECT_EQ(problem_of([&] { (void)splits.files("test"); }),
            "o/s:a: has no split 'test'; there are: train, dev");
  EXPECT_NE(problem_of([&] { (void)splits.files("dev"); }).find("has no file of the split 'dev'"),
            std::string::npos);
}

TEST(HubDatasetSplits, RefusesWhatIsNotRead) {
  const auto problem = [](const DatasetPaths& files, const std::string& card = "") {
    return problem_of([&] { splits_of(files, card); });
  };
  EXPECT_NE(problem({}).find("has no data files"), std::string::npos);
  EXPECT_NE(problem({"a.txt", "b.zip"}).find("only: a.txt, b.zip"), std::string::npos);
  EXPECT_NE(problem({"set.py", "README.md"}).find("only: set.py"), std::string::npos);
  EXPECT_NE(problem({"a.csv"}, "---\nconfigs:\n- config_name: a\n  sep: ;\n---\n")
                .find("its README.md sets 'sep'"),
            std::string::npos);
  EXPECT_NE(problem({"a.csv"}, "---\nconfigs:\n- config_name: a\n  data_files: '**.csv'\n---\n")
                .find("**.csv"),
            std::string::npos);
}

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
