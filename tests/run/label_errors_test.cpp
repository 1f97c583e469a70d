#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/run/label_errors.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::run {
namespace {

class LabelErrorFiles : public testing::Test {
 protected:
  tests::TemporaryDirectory directory_;
  std::vector<DoubtfulLabel> labels_{{.row = 7,
                                      .fold = 2,
                                      .text = "a \"good\", long\ntext",
                                      .label = "bad",
                                      .suggested = "good",
                                      .score = 0.125,
                                      .suggested_score = 0.75},
                                     {.row = 1, .fold = 1, .text = "", .label = "=b"}};
};

TEST_F(LabelErrorFiles, AreCsvThatASpreadsheetReads) {
  const auto file = directory_ / "errors.csv";
  write_label_errors(file, labels_);
  EXPECT_EQ(tests::read_file(file),
            "row,fold,text,label,suggested,score,suggested_score\n"
            "7,2,\"a \"\"good\"\", long\ntext\",bad,good,0.125,0.75\n"
            "1,1,\"\",=b,\"\",0,0\n");
  labels_[1].pair = "second";
  write_label_errors(file, labels_);
  EXPECT_EQ(tests::read_file(file),
            "row,fold,text,text_pair,label,suggested,score,suggested_score\n"
            "7,2,\"a \"\"good\"\", long\ntext\",\"\",bad,good,0.125,0.75\n"
            "1,1,\"\",second,=b,\"\",0,0\n");
}

TEST_F(LabelErrorFiles, AreTasksOfLabelStudio) {
  const auto file = directory_ / "errors.json";
  write_label_studio(file, labels_);
  const auto document = json::Document::load(file);
  const auto tasks = document.root().items();
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].at("data").at("text").string(), labels_[0].text);
  EXPECT_EQ(tasks[0].at("data").at("row").integer(), 7);
  const auto choice = [](const json::Value& from) {
    const auto result = from.items().front().at("result").items().front();
    EXPECT_EQ(result.at("type").string(), "choices");
    return std::string{result.at("value").at("choices").items().front().string()};
  };
  EXPECT_EQ(choice(tasks[0].at("annotations")), "bad");
  EXPECT_EQ(choice(tasks[0].at("predictions")), "good");
  EXPECT_EQ(tasks[0].at("predictions").items().front().at("score").number(), 0.75);
}

TEST_F(LabelErrorFiles, HaveEqualTextsInGroups) {
  const std::vector<EqualText> texts{{.group = 1, .row = 2, .text = "x", .label = "a"},
                                     {.group = 1, .row = 9, .text = "x", .label = "b"}};
  write_equal_texts(directory_ / "equal.csv", texts);
  EXPECT_EQ(tests::read_file(directory_ / "equal.csv"), "group,row,text,label\n1,2,x,a\n1,9,x,b\n");
}

}  // namespace
}  // namespace seqtrain::run
