#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/targets.hpp>

#include "support/encode_text.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

using Floats = std::vector<float>;

const Labels tags{{"red", "green", "blue"}, ProblemType::multi_label};

Floats targets_of(const EncodedSet& set) {
  Floats all;
  for (std::size_t row = 0; row < set.size(); ++row) {
    all.insert(all.end(), set.targets(row).begin(), set.targets(row).end());
  }
  return all;
}

EncodedSet with_targets(const std::string& text, const Labels& labels,
                        const EncodeFileOptions& options = {}) {
  return tests::encode_text({.text = text, .name = "f"}, tests::LetterTokenizer{}, labels, options)
      .set;
}

std::string problem_with(const std::string& text, const Labels& labels) {
  return tests::problem_of([&] { with_targets(text, labels); });
}

TEST(FiniteNumber, IsAllOfTheText) {
  EXPECT_EQ(finite_number("-2.5e-1"), -0.25F);
  EXPECT_EQ(finite_number("7"), 7.0F);
  for (const char* text : {"", " 1", "1 ", "1,5", "one", "nan", "inf", "-inf", "1e39", "1e999",
                           "0x1p3", "1.5.2", "+1", "\"1\"", "true"}) {
    EXPECT_FALSE(finite_number(text)) << text;
  }
}

TEST(Targets, OfRegressionAreNumbersInEveryFormat) {
  const Floats expected{2.5F, -1, 0.1F};
  const Labels number = Labels::regression();
  const char* const json = R"({"text": "a", "label": 2.5}
{"text": "b", "label": -1}
{"label": 0.1, "text": "c"})";
  EXPECT_EQ(targets_of(with_targets(json, number)), expected);
  EXPECT_EQ(targets_of(with_targets("text\tscore\na\t2.5\nb\t-1\nc\t0.1\n", number)), expected);
  EXPECT_EQ(targets_of(with_targets("label,text\n2.5,a\n\"-1\",b\n1e-1,c\n", number)), expected);
}

TEST(Targets, OfRegressionAreRefusedWithFileAndLine) {
  const Labels number = Labels::regression();
  EXPECT_EQ(problem_with("text\tlabel\na\t1\nb\thigh\n", number),
            "f:3: label: 'high' is not a finite number");
  for (const char* label : {"-", "nan", "inf", "1e39"}) {
    EXPECT_EQ(problem_with("text\tlabel\na\t" + std::string{label} + "\n", number),
              "f:2: label: '" + std::string{label} + "' is not a finite number");
  }
  for (const char* label : {R"("2.5")", "[1]", "true", "{}", "1e39"}) {
    const auto problem = problem_with(
        "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"b\", \"label\": " + std::string{label} + "}",
        number);
    EXPECT_TRUE(problem.starts_with("f:2: label: '")) << problem;
    EXPECT_NE(problem.find("' is not a finite number"), std::string::npos) << problem;
    EXPECT_EQ(problem.find("--labels") != std::string::npos, *label == '[' || *label == '{');
  }
  EXPECT_TRUE(problem_with(R"({"text": "a", "label": 1e999})", number).starts_with("f:1: "));
}

TEST(Targets, OfSeveralNumbersAreInEveryFormat) {
  const Labels numbers{{"valence", "arousal"}, ProblemType::regression};
  const Floats expected{3.5F, -1, 0.1F, 2};
  const EncodeFileOptions columns{.read = {.label_field = "valence,arousal"}};
  EXPECT_EQ(targets_of(with_targets(R"({"text": "a", "label": [3.5, -1]}
{"text": "b", "label": {"arousal": 2, "valence": 0.1}})",
                                    numbers)),
            expected);
  EXPECT_EQ(targets_of(with_targets("text\tlabel\na\t[3.5,-1]\nb\t[0.1, 2]\n", numbers)), expected);
  EXPECT_EQ(targets_of(with_targets("arousal,text,valence\n-1,a,3.5\n2,b,0.1\n", numbers, columns)),
            expected);
  EXPECT_EQ(targets_of(with_targets(R"({"text": "a", "valence": 3.5, "arousal": -1}
{"arousal": 2, "text": "b", "valence": 0.1})",
                                    numbers, columns)),
            expected);
}

TEST(Targets, OfSeveralNumbersAreRefusedWithFileAndLine) {
  const Labels numbers{{"valence", "arousal"}, ProblemType::regression};
  const auto problem = [&](const std::string& label) {
    return problem_with("{\"text\": \"a\", \"label\": " + label + "}", numbers);
  };
  const std::string begin = "f:1: label: ";
  EXPECT_EQ(problem("[1]"), begin + "1 numbers for 2 targets: valence, arousal");
  EXPECT_EQ(problem("[1, 2, 3]"), begin + "3 numbers for 2 targets: valence, arousal");
  EXPECT_EQ(problem("[]"), begin + "0 numbers for 2 targets: valence, arousal");
  EXPECT_EQ(problem("[1, null]"), begin + "the number of 'arousal' is missing");
  EXPECT_EQ(problem("[\"high\", 1]"), begin + "the value of 'valence' is not a finite number");
  EXPECT_EQ(problem("[1, 1e39]"), begin + "the value of 'arousal' is not a finite number");
  EXPECT_EQ(problem("{\"valence\": 1}"), begin + "1 numbers for 2 targets: valence, arousal");
  EXPECT_EQ(problem("{\"valence\": 1, \"joy\": 1}"),
            begin + "unknown label 'joy'; known are: valence, arousal");
  EXPECT_EQ(problem("2.5"), begin + "'2.5' is not a JSON array of numbers for valence, arousal");
}

TEST(Targets, OfSeveralLabelsAreArraysOfNamesOrOfZerosAndOnes) {
  const char* const json = R"({"text": "a", "labels": ["blue", "red"]}
{"text": "b", "labels": []}
{"text": "c", "labels": [0, 1, 1.0]})";
  const Floats expected{1, 0, 1, 0, 0, 0, 0, 1, 1};
  EXPECT_EQ(targets_of(with_targets(json, tags)), expected);
  EXPECT_EQ(
      targets_of(with_targets("text\tlabel\na\t[\"blue\",\"red\"]\nb\t[]\nc\t[0, 1, 1]\n", tags)),
      expected);
  EXPECT_EQ(targets_of(with_targets("text,label\na,\"[\"\"blue\"\", \"\"red\"\"]\"\nb,[]\n"
                                    "c,\"[0,1,1]\"\n",
                                    tags)),
            expected);
}

TEST(Targets, OfSeveralLabelsAreNoSpans) {
  EXPECT_EQ(problem_with(R"({"text": "a", "label": [[0, 5, "red"]]})", tags),
            "f:1: label: holds spans of the text, [begin, end, label], not a label of the text");
}

TEST(Targets, OfSeveralLabelsMayBeNamesOrIdsWithCommasBetweenThem) {
  const Floats expected{1, 0, 1, 0, 1, 0, 0, 1, 1};
  EXPECT_EQ(targets_of(with_targets("text\tlabel\na\tblue, red\nb\tgreen\nc\t1,2\n", tags)),
            expected);
  EXPECT_EQ(targets_of(with_targets("{\"text\": \"a\", \"label\": \"blue,red\"}\n"
                                    "{\"text\": \"b\", \"label\": 1}\n"
                                    "{\"text\": \"c\", \"label\": \"1,2\"}\n",
                                    tags)),
            expected);
}

TEST(Targets, OfSeveralLabelsMayHaveAColumnEach) {
  EXPECT_EQ(targets_of(with_targets("text,blue,green\na,1,0\nb,1,1\n", tags,
                                    {.read = {.label_field = "blue,green"}})),
            (Floats{0, 0, 1, 0, 1, 1}));
}

TEST(Targets, OfSeveralLabelsAreRefusedWithFileAndLine) {
  const auto problem = [](const std::string& label) {
    return problem_with("{\"text\": \"a\", \"label\": " + label + "}", tags);
  };
  EXPECT_EQ(problem(R"(["red", "pink"])"),
            "f:1: label: unknown label 'pink'; known are: red, green, blue");
  EXPECT_EQ(problem("[1, 0]"), "f:1: label: 2 numbers for 3 labels");
  for (const char* label :
       {"\"\"", "\"red,\"", "[0, 1, 2]", "[0, 0.5, 1]", "[-1, 0, 0]", "[\"red\", 1]", "[[1, 0, 0]]",
        "[null, 1, 0]", "[true, true, false]", "{\"red\": 1}"}) {
    EXPECT_EQ(problem(label), "f:1: label: " + std::string{expected_label_array}) << label;
  }
  const auto cell_problem = [](const std::string& label) {
    return problem_with("text\tlabel\na\t" + label + "\n", tags);
  };
  for (const char* label : {"[", ",", "red,", "{red}"}) {
    EXPECT_EQ(cell_problem(label), "f:2: label: " + std::string{expected_label_array}) << label;
  }
  for (const std::string label : {"red|blue", "-", "3"}) {
    EXPECT_TRUE(cell_problem("red," + label).starts_with("f:2: label: ")) << label;
  }
}

TEST(Targets, AreNoNumbersWhereThereIsNoLabel) {
  const auto set = with_targets("{\"text\": \"a\"}", tags, {.read = {.labelled = false}});
  EXPECT_EQ(set.label(0), -1);
  ASSERT_EQ(set.targets(0).size(), 3U);
  for (const float number : set.targets(0)) EXPECT_TRUE(std::isnan(number));
  EXPECT_EQ(problem_with(R"({"text": "a", "label": null})", tags), "f:1: label: missing");
}

TEST(Targets, AreTheSameAtAnyNumberOfWorkers) {
  std::string text;
  Floats expected;
  for (int i = 0; i < 20'000; ++i) {
    text += R"({"text": "some words", "label": )" + std::to_string(i) + ".25}\n";
    expected.push_back(static_cast<float>(i) + 0.25F);
  }
  for (const std::size_t workers : {1, 2, 7}) {
    EXPECT_EQ(targets_of(with_targets(text, Labels::regression(), {.workers = workers})), expected);
  }
}

Labels chosen(const std::string& text, ProblemType type, const std::vector<std::string>& given = {},
              const std::vector<std::string>& of_model = {}) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "train.jsonl", text);
  return choose_labels(given, of_model, file, {.problem_type = type});
}

TEST(ChooseLabels, FindsThoseInArrays) {
  const auto labels = chosen(R"({"text": "a", "labels": ["b", "c"]}
{"text": "b", "labels": []}
{"text": "c", "labels": ["a", "b"]})",
                             ProblemType::multi_label);
  EXPECT_EQ(labels.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(labels.problem_type(), ProblemType::multi_label);
  const auto twelve =
      chosen(R"({"text": "a", "labels": [0,0,0,0,0,0,0,0,0,0,1,0]})", ProblemType::multi_label);
  EXPECT_EQ(twelve.size(), 12U);
  EXPECT_EQ(twelve.name(10), "10");
  const auto problem = [](const std::string& array) {
    return tests::problem_of(
        [&] { chosen("{\"text\": \"a\", \"labels\": " + array + "}", ProblemType::multi_label); });
  };
  EXPECT_NE(problem("[]").find("fewer than two"), std::string::npos);
  EXPECT_NE(problem("{}").find("train.jsonl:1: labels: " + std::string{expected_label_array}),
            std::string::npos)
      << problem("{}");
  EXPECT_EQ(chosen("{\"text\": \"a\", \"labels\": \"27,4\"}", ProblemType::multi_label).names(),
            (std::vector<std::string>{"4", "27"}));
}

TEST(ChooseLabels, KeepsTheProblemsTypeWhoeverNamesThem) {
  const std::vector<std::string> two{"x", "y"};
  EXPECT_EQ(chosen("", ProblemType::multi_label, two), (Labels{two, ProblemType::multi_label}));
  EXPECT_EQ(chosen("", ProblemType::multi_label, {}, two), (Labels{two, ProblemType::multi_label}));
  EXPECT_EQ(chosen("", ProblemType::regression, {}, two), (Labels{two, ProblemType::regression}));
  EXPECT_EQ(chosen("", ProblemType::regression, {}, {"x"}), Labels::regression());
}

const Labels soft{{"red", "green", "blue"}, ProblemType::single_label, true};

TEST(Targets, OfSoftLabelsAreProbabilitiesOrOneLabel) {
  const Floats expected{0.25F, 0.5F, 0.25F, 0, 0.125F, 0.875F, 0, 1, 0, 1, 0, 0};
  const char* const json = R"({"text": "a", "label": [0.25, 0.5, 0.25]}
{"text": "b", "label": {"blue": 0.875, "green": 0.125}}
{"text": "c", "label": "green"}
{"text": "d", "label": 0})";
  const auto set = with_targets(json, soft);
  EXPECT_EQ(targets_of(set), expected);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(set.label(row), std::vector<std::int32_t>({1, 2, 1, 0}).at(row)) << row;
  }
  EXPECT_EQ(targets_of(with_targets("text\tlabel\na\t[0.25, 0.5, 0.25]\n"
                                    "b\t{\"green\": 0.125, \"blue\": 0.875}\n"
                                    "c\tgreen\nd\t0\n",
                                    soft)),
            expected);
}

TEST(Targets, OfSoftLabelsAreRefusedWithFileAndLine) {
  const auto problem = [](const std::string& label) {
    return problem_with("{\"text\": \"a\", \"label\": " + label + "}\n", soft);
  };
  const std::string place = "f:1: label: ";
  for (const char* label :
       {"[0.5, 0.25, 0.2]", "[-0.5, 1, 0.5]", "[\"red\", 0.5, 0.5]", "[[1], 0, 0]",
        "{\"red\": 0.5}", "{\"red\": \"1\"}", "{\"red\": 0.5, \"red\": 0.5}"}) {
    EXPECT_EQ(problem(label), place + expected_distribution) << label;
  }
  EXPECT_EQ(problem("[0.5, 0.5]"), place + "2 probabilities for 3 labels");
  EXPECT_EQ(problem("[0.25, 0.25, 0.25, 0.25]"), place + "4 probabilities for 3 labels");
  EXPECT_EQ(problem("{\"pink\": 1}"), place + "unknown label 'pink'; known are: red, green, blue");
}

TEST(Targets, OfSoftLabelsLeaveExamplesWithoutALabelOut) {
  const auto set = with_targets(R"({"text": "a", "label": "-"}
{"text": "b", "label": "red"}
{"text": "c", "label": -1})",
                                soft);
  EXPECT_EQ(targets_of(set), (Floats{1, 0, 0}));
}

TEST(ChooseLabels, OfSoftLabelsAreNotLookedForInAFile) {
  EXPECT_EQ(
      tests::problem_of([] { (void)choose_labels({}, {}, "none.jsonl", {.soft_labels = true}); }),
      "labels: are needed: soft labels do not name all of them; give them with --labels, in "
      "the order of the probabilities");
  EXPECT_EQ(choose_labels({"a", "b"}, {}, "none.jsonl", {.soft_labels = true}).targets(), 2U);
}

}  // namespace
}  // namespace seqtrain::data
