#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/describe.hpp>
#include <seqtrain/data/like_labels.hpp>

#include "support/encode_text.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/random_table.hpp"
#include "support/temporary_file.hpp"

namespace seqtrain::data {
namespace {

using tests::problem_of;
using Names = std::vector<std::string>;

/// Returns the labels found in a file with these labels.
Names found(const Names& labels, const JoinLabels& join = {}) {
  std::string text = "text\tlabel\n";
  for (const auto& label : labels) text += "x\t" + label + "\n";
  return find_labels(Reader{{.text = text, .name = "f"}}, join).names();
}

/// The labels that are joined, one group a line.
struct Joined {
  std::string text;

  JoinLabels join() {
    return [this](std::span<const LabelSpelling> spellings, const std::string& name) {
      text += name + ": " + to_text(spellings) + "\n";
    };
  }
};

TEST(FindLabels, KnowsTheOrderOfPublicTasks) {
  const Names nli{"entailment", "neutral", "contradiction"};
  EXPECT_EQ(found({"contradiction", "-", "neutral", "entailment"}), nli);
  EXPECT_EQ(found({"neutral", "contradiction"}), nli);
  EXPECT_EQ(found({"positive", "negative"}), (Names{"negative", "positive"}));
}

TEST(FindLabels, SortsNumbersByValueAndNamesByLetters) {
  EXPECT_EQ(found({"10", "9", "1", "9"}), (Names{"1", "9", "10"}));
  EXPECT_EQ(found({"b", "a", "10"}), (Names{"10", "a", "b"}));
  EXPECT_EQ(found({"0.0", "1.0", "10.0", "2.0"}), (Names{"0.0", "1.0", "2.0", "10.0"}));
  EXPECT_EQ(found({"10", "0.5", "5", "-2.5"}), (Names{"-2.5", "0.5", "5", "10"}));
  EXPECT_EQ(found({"9007199254740993", "9007199254740992"}),
            (Names{"9007199254740992", "9007199254740993"}));
  EXPECT_EQ(found({"10.0", "2.0", "nan"}), (Names{"10.0", "2.0", "nan"}));
  EXPECT_EQ(found({"not_entailment", "entailment"}), (Names{"entailment", "not_entailment"}));
}

TEST(FindLabels, TakeMinusOneForNoLabelBesideThreeIds) {
  EXPECT_EQ(found({"-1", "0", "1", "2"}), (Names{"0", "1", "2"}));
  EXPECT_EQ(found({"-1", "0", "1"}), (Names{"-1", "0", "1"}));
  EXPECT_EQ(found({"-1", "1"}), (Names{"-1", "1"}));
  EXPECT_EQ(found({"-1", "0", "1", "3"}), (Names{"-1", "0", "1", "3"}));
  EXPECT_EQ(found({"-1.0", "0.0", "1.0", "2.0"}), (Names{"0.0", "1.0", "2.0"}));
  EXPECT_EQ(found({"-1.0", "0.0", "1.0"}), (Names{"-1.0", "0.0", "1.0"}));
}

TEST(FindLabels, TakeAHyphenForAClassUnlessTheOthersAreMultiNlis) {
  EXPECT_EQ(found({"a", "-", "a"}), (Names{"-", "a"}));
  EXPECT_EQ(found({"-", "0", "1", "2"}), (Names{"-", "0", "1", "2"}));
  EXPECT_EQ(found({"-", "neutral", "contradiction"}),
            (Names{"entailment", "neutral", "contradiction"}));
}

TEST(FindLabels, JoinLabelsThatDifferInCaseOrBlanksIfAsked) {
  const Names labels{"good", "GOOD", "good ", "good", "bad", "BAD", "BAD"};
  EXPECT_EQ(found(labels), (Names{"BAD", "GOOD", "bad", "good", "good "}));
  Joined joined;
  EXPECT_EQ(found(labels, joined.join()), (Names{"BAD", "good"}));
  EXPECT_EQ(joined.text,
            "BAD: 'BAD' (2), 'bad' (1)\n"
            "good: 'good' (2), 'GOOD' (1), 'good ' (1)\n");
  EXPECT_EQ(found({"Positive", "negative", "positive", "positive"}, joined.join()),
            Labels::sentiment().names());
  EXPECT_EQ(found({"1", "1.0", "10", "2"}, joined.join()), (Names{"1", "2", "10"}));
  EXPECT_NE(problem_of([&] {
              found({"a", "A"}, joined.join());
            }).find("fewer than two"),
            std::string::npos);
}

TEST(FindLabels, JoinNamesInArrays) {
  const Source source{.text =
                          "{\"text\": \"x\", \"label\": [\"good\", \"Bad\"]}\n"
                          "{\"text\": \"y\", \"label\": [\"Good \", \"good\"]}\n",
                      .name = "f"};
  Joined joined;
  const Reader reader{source, {.problem_type = ProblemType::multi_label}};
  EXPECT_EQ(find_labels(reader, joined.join()).names(), (Names{"Bad", "good"}));
}

TEST(ChooseLabels, LeaveNamesOfTheUserAndTheModelAsTheyAre) {
  const tests::TemporaryFile file{"text\tlabel\nx\tq\ny\tQ\nz\tp\n"};
  Joined joined;
  const auto choose = [&](const Names& given, const Names& of_model) {
    return choose_labels(given, of_model, file.path(), {}, joined.join()).names();
  };
  EXPECT_EQ(choose({"Q", "q"}, {}), (Names{"Q", "q"}));
  EXPECT_EQ(choose({}, {"Q", "q"}), (Names{"Q", "q"}));
  EXPECT_EQ(joined.text, "");
  EXPECT_EQ(choose({}, {}), (Names{"p", "q"}));
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

/// Returns what a run finds in a text: the labels, what is joined, the warnings, and the id or the
/// targets of each example.
std::string found_in(const std::string& text, const std::string& name, bool several, bool join) {
  const auto type = several ? ProblemType::multi_label : ProblemType::single_label;
  const Source source{.text = text, .name = name};
  const ReadOptions read{.problem_type = type};
  Joined joined;
  const auto labels = find_labels(Reader{source, read}, join ? joined.join() : JoinLabels{});
  const auto encoded = tests::encode_text(source, tests::LetterTokenizer{}, labels);
  std::string result = joined.text;
  for (const auto& label : labels.names()) result += label + "\n";
  for (std::size_t row = 0; row < encoded.set.size(); ++row) {
    result += std::to_string(encoded.set.label(row));
    for (const float target : encoded.set.targets(row)) result += target > 0 ? " 1" : " 0";
    result += "\n";
  }
  const auto counts = label_counts(encoded.set, type, labels.size());
  return result + like_label_warning(labels.names(), counts, "join") +
         missing_label_warning(labels.names(), counts) + list_label_warning(labels.names(), counts);
}

TEST(FindLabels, AreTheSameInEveryFormat) {
  std::size_t alike = 0, joined = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const bool several = seed % 3 == 0, fits_tsv = seed % 2 == 0, join = seed % 5 < 2;
    const tests::RandomTable table{seed, several, fits_tsv};
    const auto lines = found_in(table.json_lines(), "f.jsonl", several, join);
    EXPECT_EQ(lines, found_in(table.csv(), "f.csv", several, join)) << seed;
    if (fits_tsv) {
      EXPECT_EQ(lines, found_in(table.tsv(), "f.tsv", several, join)) << seed;
    }
    if (!several) {
      EXPECT_EQ(lines, found_in(table.json_lines(true), "f.jsonl", false, join)) << seed;
    }
    const bool warns = lines.find("labels that differ only") != std::string::npos;
    EXPECT_FALSE(join && warns) << seed;  // Nothing is left to join.
    alike += warns ? 1 : 0;
    joined += join ? 1 : 0;
  }
  EXPECT_GT(alike, 50U);
  EXPECT_GT(joined, 35U);
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

TEST(FindLabels, NamesRegressionWhereLabelsAreManyNumbers) {
  Names numbers;
  for (int i = 0; i < 21; ++i) numbers.push_back(std::to_string(i) + ".5");
  EXPECT_EQ(problem_of([&] { found(numbers); }),
            "f: label: has 21 different labels in 21 examples, so it may hold numbers to predict; "
            "those are --problem-type regression; or name all labels with --labels");
}

TEST(ChooseLabels, TakesTheFieldsOfTheNumbersOfPeople) {
  const tests::TemporaryFile file{"text,good,bad\nx,3,1\n"};
  const auto choose = [&](const std::string& field) {
    return choose_labels({}, {}, file.path(), {.label_field = field, .soft_labels = true});
  };
  EXPECT_EQ(choose("good,bad").names(), (Names{"good", "bad"}));
  EXPECT_TRUE(choose("good,bad").soft());
  EXPECT_EQ(problem_of([&] { choose("good"); }),
            "labels: are needed: soft labels do not name all of them; give them with --labels, in "
            "the order of the probabilities");
}

TEST(ChooseLabels, OfARegressionAreItsTargets) {
  const tests::TemporaryFile file{"text,v,a,\"v,a\"\nx,3,1,2\n", ".csv"};
  const auto choose = [&](const std::string& field, const Names& given = {},
                          const Names& of_model = {}) {
    return choose_labels(given, of_model, file.path(),
                         {.label_field = field, .problem_type = ProblemType::regression});
  };
  EXPECT_EQ(choose("v"), Labels::regression());
  EXPECT_EQ(choose("v,a"), Labels::regression());  // is one field
  EXPECT_EQ(choose("a,v").names(), (Names{"a", "v"}));
  EXPECT_EQ(choose("a,v").problem_type(), ProblemType::regression);
  EXPECT_EQ(choose("a,v").targets(), 2U);
  EXPECT_EQ(choose("a,v", {"x", "y"}).names(), (Names{"x", "y"}));
  EXPECT_EQ(choose("v", {"x"}).names(), Names{"x"});
  EXPECT_EQ(choose("v", {}, {"x", "y"}).names(), (Names{"x", "y"}));
  EXPECT_EQ(choose("v", {}, {"x"}), Labels::regression());
  EXPECT_EQ(problem_of([&] { choose("a,a"); }), "labels: a label is repeated; there are: a, a");
}

}  // namespace
}  // namespace seqtrain::data
