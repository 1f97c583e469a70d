#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/baseline/judge.hpp>
#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/metrics/metric.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::baseline {
namespace {

struct Row {
  std::string text;
  std::string pair;
  std::int64_t label = 0;
};

/// The examples of examples/data/nli.
std::vector<Row> nli(const std::string& split) {
  const std::vector<std::string> labels{"entailment", "neutral", "contradiction"};
  std::ifstream file{std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli" /
                     (split + ".jsonl")};
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    const auto document = json::Document::parse(line, split);
    const auto text = [&](const char* name) {
      return std::string{document.root().at(name).string()};
    };
    const auto label = std::ranges::find(labels, text("gold_label")) - labels.begin();
    rows.push_back({text("sentence1"), text("sentence2"), label});
  }
  EXPECT_GT(rows.size(), 100U);
  return rows;
}

/// A task of tests/golden/baseline.py.
struct Task {
  LearnerOptions options = {};
  std::function<std::vector<float>(const Row&)> targets = [](const Row&) {
    return std::vector<float>{};
  };
  std::function<std::int64_t(const Row&)> label = [](const Row& row) { return row.label; };
  bool has_pairs = true;
};

std::optional<std::string_view> pair_of(const Task& task, const Row& row) {
  return task.has_pairs ? std::optional<std::string_view>{row.pair} : std::nullopt;
}
std::string text_of(const Task& task, const Row& row) {
  return task.has_pairs ? row.text : row.text + " " + row.pair;
}

Model learn(const Task& task, const std::vector<Row>& rows) {
  Learner learner{task.options};
  for (const Row& row : rows) {
    learner.add(text_of(task, row), pair_of(task, row), task.label(row), task.targets(row));
  }
  return learner.learn();
}

Scores judge(const Task& task, const Model& model, const std::vector<Row>& rows) {
  Judge judge{model, 3};
  for (const Row& row : rows) {
    judge.add(text_of(task, row), pair_of(task, row), task.label(row), task.targets(row));
  }
  return judge.scores();
}

/// Expects the figures of scikit-learn, and its decisions for the first rows.
void expect_golden(const std::string& name, const Task& task,
                   const std::vector<Row>& train = nli("train")) {
  const auto document = json::Document::load(tests::golden() / "baseline.json");
  const auto golden = document.root().at("tasks").at(name);
  const auto dev = nli("dev");
  const Model model = learn(task, train);
  const Scores scores = judge(task, model, dev);
  const bool is_number = task.options.problem_type == ProblemType::regression;
  const auto expect = [&](const char* which, const metrics::ClassificationReport& report) {
    const auto figures = golden.at(which).items();
    if (is_number) {
      EXPECT_NEAR(metrics::value_of(report.figures, "mean_squared_error"), figures[0].number(),
                  0.005);
      return;
    }
    EXPECT_NEAR(report.accuracy, figures[0].number(), 0.005) << name << ' ' << which;
    EXPECT_NEAR(report.macro_average().f1, figures[1].number(), 0.005) << name << ' ' << which;
  };
  expect("majority", scores.majority);
  expect("linear", scores.linear);
  auto scratch = model.scratch();
  std::vector<float> logits(model.labels());
  for (std::size_t row = 0; const auto& decision : golden.at("decisions").items()) {
    model.answer(text_of(task, dev[row]), pair_of(task, dev[row]), scratch, logits);
    ++row;
    if (is_number && decision.is_number()) {
      EXPECT_NEAR(logits[0], decision.number(), 0.05);
    } else if (!is_number && model.labels() == 2) {
      EXPECT_NEAR(logits[1] - logits[0], decision.number(), 0.1);
    } else {
      for (std::size_t k = 0; const auto& number : decision.items()) {
        EXPECT_NEAR(logits[k++], number.number(), 0.1) << name << " row " << row;
      }
    }
  }
}

TEST(Baseline, HasTheFiguresOfScikitLearnForPairs) {
  expect_golden("pairs", {.options = {.labels = 3}});
}

TEST(Baseline, HasTheFiguresOfScikitLearnForTexts) {
  expect_golden("texts", {.options = {.labels = 3}, .has_pairs = false});
}

TEST(Baseline, HasTheFiguresOfScikitLearnForTwoLabels) {
  expect_golden("two labels", {.label = [](const Row& row) { return row.label == 0 ? 1 : 0; }});
}

TEST(Baseline, HasTheFiguresOfScikitLearnForClassWeights) {
  std::vector<Row> rare;
  std::vector<double> counts(3), weights;
  for (std::size_t i = 0; const Row& row : nli("train")) {
    if (i++ % 10 == 0 || row.label == 0) rare.push_back(row);
  }
  for (const Row& row : rare) ++counts.at(static_cast<std::size_t>(row.label));
  for (const double count : counts) {
    weights.push_back(static_cast<double>(rare.size()) / (3 * count));
  }
  expect_golden("balanced", {.options = {.labels = 3, .class_weights = weights}}, rare);
}

TEST(Baseline, HasTheFiguresOfScikitLearnForSeveralLabels) {
  const auto marks = [](const Row& row) {
    std::istringstream words{row.pair};
    bool says_not = false;
    for (std::string word; words >> word;) says_not = says_not || word == "not";
    return std::vector<float>{row.label == 0 ? 1.0F : 0.0F, row.text.size() > 60 ? 1.0F : 0.0F,
                              says_not ? 1.0F : 0.0F};
  };
  expect_golden(
      "several labels",
      {.options = {.problem_type = ProblemType::multi_label, .labels = 3}, .targets = marks});
}

TEST(Baseline, HasTheFiguresOfScikitLearnForNumbers) {
  const auto length = [](const Row& row) {
    std::istringstream words{row.text};
    float count = 0;
    for (std::string word; words >> word;) ++count;
    return std::vector<float>{count / 10};
  };
  expect_golden("numbers", {.options = {.problem_type = ProblemType::regression, .labels = 1},
                            .targets = length});
}

TEST(Baseline, HasTheFiguresOfScikitLearnForSeveralNumbers) {
  const auto count = [](const std::string& text) {
    std::istringstream words{text};
    return static_cast<float>(std::distance(std::istream_iterator<std::string>{words},
                                            std::istream_iterator<std::string>{}));
  };
  const auto lengths = [&](const Row& row) {
    return std::vector<float>{count(row.text) / 10, count(row.pair) / 10};
  };
  expect_golden(
      "several numbers",
      {.options = {.problem_type = ProblemType::regression, .labels = 2}, .targets = lengths});
}

TEST(TfidfBuilder, WeighsTermsAsScikitLearn) {
  const auto document = json::Document::load(tests::golden() / "baseline.json");
  TfidfBuilder builder{{.threads = 2}};
  const auto texts = document.root().at("texts").items();
  for (const auto& text : texts) builder.add(text.string());
  SparseRows rows;
  const Tfidf tfidf = builder.finish(rows);
  ASSERT_EQ(rows.size(), texts.size());
  TermReader reader;
  std::vector<CountedIndex> found;
  std::vector<Entry> row;
  std::vector<std::size_t> part_of_column(tfidf.columns());
  for (const KnownTerm& known : tfidf.terms()) part_of_column[known.column] = part_of(known.term);
  for (std::size_t i = 0; const auto& expected : document.root().at("weights").items()) {
    tfidf.find(texts[i].string(), {}, reader, found);
    tfidf.weigh(found, row);
    std::ranges::sort(row, {}, &Entry::column);
    EXPECT_TRUE(std::ranges::equal(row, rows[i], {}, &Entry::value, &Entry::value));
    for (std::size_t part = 0; part < 2; ++part) {
      std::vector<float> values;
      for (const Entry& entry : rows[i]) {
        if (part_of_column[entry.column] == part) values.push_back(entry.value);
      }
      std::ranges::sort(values);
      const auto numbers = expected.items()[part].items();
      ASSERT_EQ(values.size(), numbers.size()) << texts[i].string();
      for (std::size_t k = 0; k < values.size(); ++k) {
        EXPECT_NEAR(values[k], numbers[k].number(), 1e-5) << texts[i].string();
      }
    }
    ++i;
  }
}

TEST(TfidfBuilder, KeepsTheTermsThatMostTextsHave) {
  TfidfBuilder builder{{.terms = {.most_words = 1}, .most_columns = 1}};
  for (const char* text : {"aaaaaaa", "bb", "bb bb"}) builder.add(text);
  SparseRows rows;
  const Tfidf tfidf = builder.finish(rows);
  EXPECT_EQ(tfidf.columns(), 1U);
  EXPECT_TRUE(rows[0].empty());
  EXPECT_EQ(rows[1].size(), 1U);
  EXPECT_EQ(rows[2].size(), 1U);
}

TEST(TfidfBuilder, RefusesTextsWithoutAWord) {
  TfidfBuilder builder;
  builder.add(" ");
  builder.add("", "\n");
  SparseRows rows;
  EXPECT_EQ(tests::problem_of([&] { (void)builder.finish(rows); }),
            "training texts: no text has a word; name another field by --text-field");
}

TEST(Baseline, IsTheSameToTheBitOnAnyNumberOfThreads) {
  const auto train = nli("train"), dev = nli("dev");
  std::vector<float> first;
  for (const std::size_t threads : {1U, 2U, 5U}) {
    const Task task{.options = {.labels = 3, .threads = threads}};
    const Model model = learn(task, train);
    auto scratch = model.scratch();
    std::vector<float> all, logits(3);
    for (const Row& row : dev) {
      model.answer(row.text, row.pair, scratch, logits);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    if (first.empty()) first = all;
    EXPECT_EQ(first, all) << threads;
  }
}

TEST(Baseline, EndsItsSearchWhenItIsStopped) {
  std::stop_source stop;
  stop.request_stop();
  const auto train = nli("train");
  const Model model = learn({.options = {.labels = 3, .stop = stop.get_token()}}, train);
  for (const float weight : model.linear().weights) ASSERT_EQ(weight, 0);
}

TEST(Baseline, LearnsFromProbabilities) {
  const Task task{.targets = [](const Row& row) {
    const float one = row.label == 0 ? 0.75F : 0.25F;
    return std::vector<float>{1 - one, one};
  }};
  const auto train = nli("train");
  const Model model = learn(task, train);
  auto scratch = model.scratch();
  std::vector<float> logits(2);
  for (std::size_t i = 0; i < 300; ++i) {
    model.answer(train[i].text, train[i].pair, scratch, logits);
    EXPECT_LT(std::abs(logits[1] - logits[0]), 2.5);  // log(0.75 / 0.25) is 1.1
  }
}

TEST(Baseline, LearnsWithOneLabelAlone) {
  const Task task{.options = {.labels = 3}, .label = [](const Row&) { return 1; }};
  const auto train = nli("dev");
  const Model model = learn(task, train);
  EXPECT_EQ(judge(task, model, train).linear.accuracy, 1);
  EXPECT_EQ(judge(task, model, train).majority.accuracy, 1);
}

}  // namespace
}  // namespace seqtrain::baseline
