#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/choose_labels.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_file.hpp"

namespace seqtrain::data {
namespace {

using tests::problem_of;
using Names = std::vector<std::string>;

/// Returns the labels found in a file with these labels.
Names found(const Names& labels) {
  std::string text = "text\tlabel\n";
  for (const auto& label : labels) text += "x\t" + label + "\n";
  return find_labels(Reader{{.text = text, .name = "f"}}).names();
}

TEST(FindLabels, KnowsTheOrderOfPublicTasks) {
  const Names nli{"entailment", "neutral", "contradiction"};
  EXPECT_EQ(found({"contradiction", "-", "neutral", "entailment"}), nli);
  EXPECT_EQ(found({"neutral", "contradiction"}), nli);
  EXPECT_EQ(found({"positive", "negative"}), (Names{"negative", "positive"}));
}

TEST(FindLabels, SortsNumbersByValueAndNamesByLetters) {
  EXPECT_EQ(found({"10", "9", "1", "9"}), (Names{"1", "9", "10"}));
  EXPECT_EQ(found({"b", "a", "10"}), (Names{"10", "a", "b"}));
  EXPECT_EQ(found({"not_entailment", "entailment"}), (Names{"entailment", "not_entailment"}));
}

TEST(FindLabels, TakeMinusOneForNoLabelBesideThreeIds) {
  EXPECT_EQ(found({"-1", "0", "1", "2"}), (Names{"0", "1", "2"}));
  EXPECT_EQ(found({"-1", "0", "1"}), (Names{"-1", "0", "1"}));
  EXPECT_EQ(found({"-1", "1"}), (Names{"-1", "1"}));
  EXPECT_EQ(found({"-1", "0", "1", "3"}), (Names{"-1", "0", "1", "3"}));
}

TEST(FindLabels, TakeAHyphenForAClassUnlessTheOthersAreMultiNlis) {
  EXPECT_EQ(found({"a", "-", "a"}), (Names{"-", "a"}));
  EXPECT_EQ(found({"-", "0", "1", "2"}), (Names{"-", "0", "1", "2"}));
  EXPECT_EQ(found({"-", "neutral", "contradiction"}),
            (Names{"entailment", "neutral", "contradiction"}));
}

TEST(FindLabels, AreTheColumnsIfEachLabelHasOne) {
  const Source source{.text = "text,b,a\nx,1,0\n", .name = "f.csv"};
  const auto labels =
      find_labels(Reader{source, {.label_field = "b,a", .problem_type = ProblemType::multi_label}});
  EXPECT_EQ(labels, Labels({"b", "a"}, ProblemType::multi_label));
}

TEST(FindLabels, RefusesWhatCannotBeLabels) {
  EXPECT_NE(problem_of([] {
              found({"a", "a"});
            }).find("f: label: has fewer than two"),
            std::string::npos);
  Names many;
  for (int i = 0; i < 10'001; ++i) many.push_back(std::to_string(i));
  EXPECT_NE(problem_of([&] { found(many); }).find("f:10002: label: too many"), std::string::npos);
}

TEST(FindLabels, NameTheLineOfAnEmptyLabel) {
  const Source source{.text =
                          "{\"text\": \"x\", \"label\": [\"a\"]}\n"
                          "{\"text\": \"y\", \"label\": [\"b\", \"\"]}\n",
                      .name = "f"};
  const Reader reader{source, {.problem_type = ProblemType::multi_label}};
  EXPECT_EQ(problem_of([&] { find_labels(reader); }), "f:2: label: the label is empty");
}

TEST(ChooseLabels, AsksTheUserThenTheModelThenTheFile) {
  const tests::TemporaryFile file{"text\tlabel\nx\tq\ny\tp\n"};
  const auto choose = [&](const Names& given, const Names& of_model) {
    return choose_labels(given, of_model, file.path(), {}).names();
  };
  EXPECT_EQ(choose({"1", "2"}, {"3", "4"}), (Names{"1", "2"}));
  EXPECT_EQ(choose({}, {"4", "3"}), (Names{"4", "3"}));
  EXPECT_EQ(choose({}, {}), (Names{"p", "q"}));
}

TEST(FindLabels, AreInferencesWhereTheFieldIsMultiNlis) {
  const Source source{.text = R"({"gold_label": "maybe", "sentence1": "a", "sentence2": "b"})",
                      .name = "a.jsonl"};
  EXPECT_EQ(find_labels(Reader{source, {}}).names(), Labels::nli().names());
}

TEST(FindLabels, RefusesAsManyLabelsAsExamples) {
  Names texts;
  for (int i = 0; i < 21; ++i) texts.push_back("text " + std::to_string(i));
  EXPECT_EQ(problem_of([&] { found(texts); }),
            "f: label: has 21 different labels in 21 examples, so it may hold the texts; name the "
            "field of the labels with --label-field and that of the texts with --text-field, or "
            "all labels with --labels a,b,c");
  Names few{texts.begin(), texts.begin() + 20};
  EXPECT_EQ(found(few).size(), 20U);
  Names twice = texts;
  twice.insert(twice.end(), texts.begin(), texts.end());
  EXPECT_EQ(found(twice).size(), 21U);
}

}  // namespace
}  // namespace seqtrain::data
