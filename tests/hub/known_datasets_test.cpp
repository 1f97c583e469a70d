#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/read_options.hpp>
#include <seqtrain/hub/known_datasets.hpp>

namespace seqtrain::tests {
namespace {

TEST(HubKnownDatasets, HaveTheirUsualDevSplit) {
  EXPECT_EQ(hub::known_dataset("nyu-mll/multi_nli", "").dev_split, "validation_matched");
  EXPECT_EQ(hub::known_dataset("multi_nli", "default").dev_split, "validation_matched");
  EXPECT_EQ(hub::known_dataset("nyu-mll/glue", "mnli").dev_split, "validation_matched");
  EXPECT_EQ(hub::known_dataset("glue", "sst2").dev_split, "validation");
  EXPECT_EQ(hub::known_dataset("imdb", "").dev_split, "test");
  EXPECT_EQ(hub::known_dataset("org/imdb", "").dev_split, "validation");
}

TEST(HubKnownDatasets, OnlyStsbIsRegression) {
  EXPECT_EQ(hub::known_dataset("glue", "stsb").problem_type, "regression");
  EXPECT_EQ(hub::known_dataset("glue", "rte").problem_type, "");
  EXPECT_EQ(hub::known_dataset("other/set", "stsb").problem_type, "");
}

/// The columns of the sets with defaults are recognised, so they need no entry in the table.
TEST(HubKnownDatasets, HaveColumnsThatAreRecognised) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> sets{
      {{"sentence", "label", "idx"}, "sentence//label"},                          // cola, sst2
      {{"sentence1", "sentence2", "label", "idx"}, "sentence1/sentence2/label"},  // mrpc, stsb, rte
      {{"question1", "question2", "label", "idx"}, "question1/question2/label"},  // qqp
      {{"premise", "hypothesis", "label", "idx"}, "premise/hypothesis/label"},    // mnli
      {{"question", "sentence", "label", "idx"}, "question/sentence/label"},      // qnli
      {{"text", "label"}, "text//label"},                                         // imdb
      {{"promptID", "pairID", "premise", "premise_binary_parse", "premise_parse", "hypothesis",
        "hypothesis_binary_parse", "hypothesis_parse", "genre", "label"},
       "premise/hypothesis/label"}};  // multi_nli
  for (const auto& [columns, expected] : sets) {
    const auto fields = data::choose_fields(columns, {}, "set");
    const auto has_pair = std::ranges::count(columns, fields.pair) > 0;
    EXPECT_EQ(fields.text + "/" + (has_pair ? fields.pair : "") + "/" + fields.label, expected);
  }
}

}  // namespace
}  // namespace seqtrain::tests
