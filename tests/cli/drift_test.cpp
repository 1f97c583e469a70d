#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/drift.hpp>

#include "support/fake_predictor.hpp"
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
  const std::string text =
      drift_text({.reference = {.name = "a"}, .current = {.name = "b"}}, number);
  EXPECT_NE(text.find("domain classifier: too few texts to tell\n"), std::string::npos) << text;
  EXPECT_NE(text.find("mean of the predicted values: 0.000 → 0.000\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("word differs"), std::string::npos) << text;
}

TEST(DriftOfRecords, LabelsASampleOfTheReference) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "a.csv", "text\nab\nabc\n");
  const tests::FakePredictor predictor;
  const predict::Watched<tests::FakePredictor> watched{predictor};
  (void)watched.predict(std::vector<predict::Encoded>{watched.encode("abcd", {}, 100)});
  const auto open = [&] {
    return AnyRecords{data::RecordStream{PredictInput::of_file(file.string()), file.string(),
                                         data::ReadOptions{.labelled = false}}};
  };
  const auto drift = drift_from({.reference = open(), .reference_name = "a", .max_length = 100},
                                predictor, predictor, watched, "new");
  EXPECT_EQ(drift.reference.texts, 2U);
  EXPECT_EQ(drift.reference.predicted, 2U);
  EXPECT_EQ(drift.current.name, "new");
  EXPECT_DOUBLE_EQ(drift.current.characters, 4);
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
  EXPECT_EQ(problem({"--reference-file=a"}), "");
}

}  // namespace
}  // namespace seqtrain::cli
