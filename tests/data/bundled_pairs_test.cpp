#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::tests {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> labels{"entailment", "neutral", "contradiction"};

struct Split {
  explicit Split(const std::string& name)
      : file{fs::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli" / (name + ".jsonl")} {
    std::ifstream in{file};
    for (std::string line; std::getline(in, line); ++rows) {
      const auto record = json::Document::parse(line, file.string());
      const auto text = [&record](const char* field) {
        return std::string{record.root().at(field).string()};
      };
      ++label_counts[text("gold_label")];
      ++hypotheses[text("sentence2")][text("gold_label")];
      pairs.emplace(text("sentence1"), text("sentence2"));
    }
  }

  fs::path file;
  std::size_t rows = 0;
  std::map<std::string, std::size_t> label_counts;
  std::map<std::string, std::map<std::string, int>> hypotheses;
  std::set<std::pair<std::string, std::string>> pairs;
};

struct BundledPairs : testing::Test {
  const Split train{"train"};
  const Split dev{"dev"};
  const Split test{"test"};
};

TEST_F(BundledPairs, AreSmall) {
  EXPECT_EQ(train.rows, 3000U);
  EXPECT_EQ(dev.rows, 600U);
  EXPECT_EQ(test.rows, 600U);
  EXPECT_LT(fs::file_size(train.file) + fs::file_size(dev.file) + fs::file_size(test.file),
            600'000U);
}

TEST_F(BundledPairs, HaveEachLabelEquallyOften) {
  for (const auto* split : {&train, &dev, &test}) {
    ASSERT_EQ(split->label_counts.size(), labels.size());
    for (const auto& [label, count] : split->label_counts) {
      EXPECT_TRUE(labels.contains(label)) << label;
      EXPECT_EQ(count, split->rows / 3) << label;
    }
  }
}

TEST_F(BundledPairs, AHypothesisAloneTellsNothing) {
  for (const auto* split : {&train, &dev, &test}) {
    for (const auto& [hypothesis, counts] : split->hypotheses) {
      EXPECT_EQ(counts.size(), labels.size()) << hypothesis;
      for (const auto& [label, count] : counts) EXPECT_EQ(count, 1) << hypothesis;
    }
  }
}

TEST_F(BundledPairs, AreAllDifferent) {
  EXPECT_EQ(train.pairs.size(), train.rows);
  for (const auto* split : {&dev, &test}) {
    EXPECT_EQ(split->pairs.size(), split->rows);
    for (const auto& [hypothesis, counts] : split->hypotheses) {
      EXPECT_FALSE(train.hypotheses.contains(hypothesis)) << hypothesis;
    }
  }
}

}  // namespace
}  // namespace seqtrain::tests
