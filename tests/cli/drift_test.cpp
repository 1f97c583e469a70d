#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/answer_records.hpp>
#include <seqtrain/cli/drift.hpp>

#include "support/fake_predictor.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::cli {
namespace {

TEST(DriftText, SaysWhatDiffers) {
  const predict::Task task{.labels = {"no", "yes"}};
  const predict::Drift drift{
      .reference = {.name = "a",
                    .texts = 9000,
                    .sampled = 5000,
                    .characters = 10,
                    .tokens_a_word = 1,
                    .shares = {0.5, 0.5}},
      .current = {.name = "b",
                  .texts = 7,
                  .sampled = 7,
                  .characters = 20.25,
                  .tokens_a_word = 2,
                  .shares = {0.25, 0.75}},
      .domain = {.area = 0.75, .standard_error = 0.01},
      .stability_index = 0.27,
      .words = {{.word = "soup", .reference = 0.5, .current = 0.25, .z = -9}}};
  EXPECT_EQ(drift_text(drift, task),
            "From a (5000 of 9000 texts) to b (7 texts):\n"
            "  domain classifier: ROC AUC 0.750 ± 0.020, a clear difference\n"
            "  characters of a text: 10.0 → 20.2\n"
            "  tokens a word: 1.00 → 2.00\n"
            "  predicted labels: population stability index 0.270, a great change\n"
            "    no  50.0 % → 25.0 %\n"
            "    yes  50.0 % → 75.0 %\n"
            "  words, with the shares of the texts that have them:\n"
            "    soup  50.0 % → 25.0 %\n");
}

TEST(DriftText, SaysWhatItCannotTell) {
  const predict::Task number{.labels = {"x"}, .problem_type = ProblemType::regression};
  const std::string text = drift_text(
      {.reference = {.name = "a", .means = {0.5}}, .current = {.name = "b", .means = {1}}}, number);
  EXPECT_NE(text.find("domain classifier: too few texts to tell\n"), std::string::npos) << text;
  EXPECT_NE(text.find("mean of the predicted values: 0.500 → 1.000\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("word differs"), std::string::npos) << text;
}

TEST(DriftText, HasTheMeanOfEachTarget) {
  const predict::Task targets{.labels = {"v", "a"}, .problem_type = ProblemType::regression};
  const std::string text =
      drift_text({.reference = {.means = {1, 2}}, .current = {.means = {1.5, 0}}}, targets);
  EXPECT_NE(text.find("  means of the predicted values:\n"
                      "    v  1.000 → 1.500\n"
                      "    a  2.000 → 0.000\n"),
            std::string::npos)
      << text;
}

class DriftOfRecords : public testing::Test {
 protected:
  /// Returns the drift from a file to one text, by a model that reads at most `max_length` ids.
  predict::Drift drift(const std::string& reference, const std::string& text,
                       std::size_t max_length = 100) {
    const auto file = tests::write_file(directory_ / "a.csv", reference);
    const predict::Watched<tests::FakePredictor> watched{predictor_};
    (void)watched.predict(std::vector<predict::Encoded>{watched.encode(text, {}, max_length)});
    AnyRecords records{data::RecordStream{PredictInput::of_file(file.string()), file.string(),
                                          data::ReadOptions{.labelled = false}}};
    return drift_from(
        {.reference = std::move(records), .reference_name = "a", .max_length = max_length},
        predictor_, predictor_, watched, "new");
  }

  tests::TemporaryDirectory directory_;
  tests::FakePredictor predictor_;
};

TEST_F(DriftOfRecords, LabelsASampleOfTheReference) {
  const auto drift = this->drift("text\nab\nabc\n", "abcd");
  EXPECT_EQ(drift.reference.texts, 2U);
  EXPECT_EQ(drift.reference.predicted, 2U);
  EXPECT_EQ(drift.current.name, "new");
  EXPECT_DOUBLE_EQ(drift.current.characters, 4);
}

TEST_F(DriftOfRecords, ReadsLongTextsOfBothFilesInTheSameWay) {
  const std::string text(5000, 'a');  // the label is that of the length if all of it is read
  predictor_.task_.labels = {"length", "letter", "nothing"};
  const auto drift = this->drift("text\n" + text + "\n", text, 10'000);
  EXPECT_EQ(drift.reference.means, drift.current.means);
  ASSERT_EQ(predictor_.batches.size(), 2U);
  EXPECT_EQ(predictor_.batches[0], predictor_.batches[1]);
}

/// A tokenizer that has no ids for a text that begins with x.
struct PickyTokenizer : tests::LetterTokenizer {
  std::size_t encode(std::string_view text, std::optional<std::string_view> pair,
                     text::EncodeOptions options, Scratch& scratch,
                     std::vector<text::Id>& out) const {
    if (text.starts_with('x')) return 0;
    return LetterTokenizer::encode(text, pair, options, scratch, out);
  }
};

TEST_F(DriftOfRecords, LeavesOutWhatTheModelCannotEncode) {
  predictor_.encode_ = predict::TextEncoder{PickyTokenizer{}};
  const auto drift = this->drift("text\nab\nxbc\nabc\n", "abcd");
  EXPECT_EQ(drift.reference.texts, 2U);
  EXPECT_EQ(drift.reference.predicted, 2U);
  EXPECT_EQ(tests::problem_of([&] { (void)this->drift("text\nxa\n", "a"); }),
            "a: has no text to compare");
}

TEST_F(DriftOfRecords, DoesNotEmbedTheReference) {
  predictor_.task_ = {.pooling = "mean", .embedding_size = 3};
  const auto drift = this->drift("text\nab\n", "abcd");
  EXPECT_EQ(drift.reference.texts, 1U);
  EXPECT_EQ(predictor_.batches.size(), 1U) << "of the new text";
}

TEST(CheckOfAnswers, IsMadeThoughTheDriftFails) {
  const PredictFlags flags{.file = "in", .min_score = 0.5};
  const auto fail = [] { throw InputError{"no drift"}; };
  testing::internal::CaptureStderr();
  EXPECT_EQ(tests::problem_of([&] {
              check_answered_after(fail, {.records = 9, .wrong = 2, .answered = 3, .abstained = 1},
                                   flags);
            }),
            "in: 2 of 9 records are wrong; their answers say why");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "no drift\n1 of 3 texts get no label: their best score is below 0.5\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(
      tests::problem_of([&] { check_answered_after(fail, {.records = 9, .answered = 9}, flags); }),
      "no drift");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "0 of 9 texts get no label: their best score is below 0.5\n");
}

TEST(PredictFlagsOfDrift, NeedAReference) {
  const auto problem = [](std::vector<const char*> flags) {
    std::vector<const char*> argv{"predict", "--model=m"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    try {
      (void)PredictFlags{}.parse(static_cast<int>(argv.size()), argv.data());
    } catch (const InputError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(problem({"--drift-file=a"}), "--drift-file: needs a --reference-file to compare with");
  EXPECT_EQ(problem({"--reference-file=-"}), "--reference-file: is a file, not stdin");
  EXPECT_EQ(problem({"--reference-file=a", "--explain"}),
            "--reference-file: does not go with --explain: give them in turn");
  EXPECT_EQ(problem({"--reference-file=a", "--compare=bf16"}),
            "--reference-file: does not go with --compare: give them in turn");
  EXPECT_EQ(problem({"--reference-file=a", "--most-diverse=3"}),
            "--reference-file: does not go with --most-diverse, which answers a choice of texts");
  EXPECT_EQ(problem({"--reference-file=a", "--drift-file=/no/such/d.json"}),
            "--drift-file: is in a directory that does not exist: /no/such");
  EXPECT_EQ(problem({"--reference-file=a", "--file=c", "--output-file=./b", "--drift-file=b"}),
            "--drift-file: is the --output-file: name another");
  EXPECT_EQ(problem({"--reference-file=a", "--drift-file=./a"}),
            "--drift-file: is the --reference-file: name another");
  EXPECT_EQ(problem({"--reference-file=a", "--file=c", "--drift-file=c"}),
            "--drift-file: is the input: name another");
  EXPECT_EQ(problem({"--reference-file=a", "--drift-file=/tmp"}), "--drift-file: is a directory");
  EXPECT_EQ(problem({"--reference-file=a", "--output-file=a"}),
            "--output-file: is the --reference-file, which is read after the answers are written");
  EXPECT_EQ(problem({"--reference-file=a", "--file=a", "--drift-file=d"}), "");
  EXPECT_EQ(problem({"--reference-file=a"}), "");
}

}  // namespace
}  // namespace seqtrain::cli
