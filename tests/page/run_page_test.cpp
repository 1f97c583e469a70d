#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/page/run_page.hpp>
#include <seqtrain/predict/words.hpp>

#include "support/made_page.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::page {
namespace {

struct RunPageTest : testing::Test {
  std::string page(const tests::MadePage& made) {
    made.write(directory.path());
    const std::string text = tests::read_file(directory / "report.html");
    EXPECT_LE(text.size(), most_page_bytes);
    EXPECT_TRUE(text.ends_with("</html>\n"));
    EXPECT_EQ(text.find("nan"), text.npos);
    return text;
  }

  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  }

  const tests::TemporaryDirectory directory;
};

TEST_F(RunPageTest, ShowsEverythingOfASingleLabelRun) {
  const std::string text = page({.calibrated = true});
  for (const char* id :
       {"loss", "figures", "rate", "norm", "speed", "dev-confusion", "dev-labels",
        "dev-precision-recall", "dev-reliability", "lengths", "balance", "calibration", "run"}) {
    EXPECT_TRUE(has(text, "id=\"" + std::string{id} + "\"")) << id;
  }
  EXPECT_TRUE(has(text, "finished, step 400 of 400"));
  EXPECT_TRUE(has(text, "mnli --epochs 2"));
  EXPECT_TRUE(has(text, ">skipped</title>"));
  EXPECT_TRUE(has(text, ">best</title>"));
  EXPECT_TRUE(has(text, "data-cell=\"0-1\""));
  // Neighbouring examples have equal texts and different labels.
  EXPECT_TRUE(has(text, "Nearly equal texts with different labels"));
  EXPECT_TRUE(has(text, "more groups are not shown"));
}

TEST_F(RunPageTest, ShowsAdvice) {
  const std::string text = page({.advice = {{"still_falling", "more <epochs>"}, {"b", "second"}}});
  EXPECT_TRUE(has(text, "<h2>Advice</h2><ul><li>more &lt;epochs&gt;</li><li>second</li></ul>"));
  EXPECT_FALSE(has(page({}), "Advice"));
}

TEST_F(RunPageTest, ComparesTheModelWithSimpleOnes) {
  const std::string text = page(
      {.baseline = {{"on dev", "accuracy"}, {"this model", "0.5"}, {"most & frequent", "0.6"}}});
  EXPECT_TRUE(has(text, "Beside simple models"));
  EXPECT_TRUE(has(text, "most &amp; frequent"));
  EXPECT_TRUE(has(text, "a &lt;b&gt;simple&lt;/b&gt; model is better"));
  EXPECT_FALSE(has(page({}), "Beside simple models"));
}

TEST_F(RunPageTest, ShowsTheTrialsOfATuning) {
  const std::string text = page({.trials = {{"trial", "epochs"}, {"1", "<3>"}, {"2, best", "6"}}});
  EXPECT_TRUE(has(text, "has the best values of 2 trials."));
  EXPECT_TRUE(has(text, "&lt;3&gt;"));
  EXPECT_FALSE(has(page({}), "Trials"));
}

TEST_F(RunPageTest, ShowsHostileTextsAsText) {
  const std::string text = page({.texts = tests::hostile_texts()});
  EXPECT_FALSE(has(text, "<script>document"));
  EXPECT_FALSE(has(text, "<img"));
  EXPECT_FALSE(has(text, "<b>bold"));
  EXPECT_FALSE(has(text, std::string{'\0'}));
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_EQ(text.find("</table></script>"), text.npos);
  EXPECT_TRUE(has(text, "&lt;b&gt;bold&lt;/b&gt;"));
  EXPECT_TRUE(has(text, "line\\nbreak"));
  EXPECT_FALSE(has(text, "line\nbreak"));
}

TEST_F(RunPageTest, KeepsAScoreBesideItsLabel) {
  EXPECT_TRUE(has(page({}), "label 0&nbsp;0."));
}

TEST_F(RunPageTest, ShowsLineBreaksOfWindows) {
  const std::string text = page({.texts = {"first\r\nsecond"}});
  EXPECT_TRUE(has(text, "first\nsecond"));
  EXPECT_FALSE(has(text, "\xE2\x90\x8D")) << "the symbol of a carriage return";
}

/// Gives each word of a text a share of 1, and the first one a share of -2.
std::optional<predict::Explanation> shares_of(const data::Example& example) {
  predict::Explanation made;
  for (const auto& [begin, end] : predict::words_of(example.text)) {
    made.words.push_back({.begin = begin, .end = end, .share = made.words.empty() ? -2.0 : 1.0});
  }
  return made;
}

TEST_F(RunPageTest, ColoursTheWordsThatDecided) {
  std::size_t asked = 0;
  const auto count = [&asked](const data::Example& example) {
    ++asked;
    return shares_of(example);
  };
  const std::string text = page({.texts = {"so <i>bad</i>", "x > " + std::string(9000, 'y') + " z"},
                                 .explain = {.words = count}});
  EXPECT_EQ(asked, most_explained);
  EXPECT_TRUE(has(text,
                  "<bdi class=\"text\"><span class=\"against\" style=\"--share:1\" "
                  "title=\"-2.000\">so</span> <span class=\"for\" style=\"--share:0.5\" "
                  "title=\"+1.000\">&lt;</span><span"));
  EXPECT_TRUE(has(text, "blue words</span> raise the logit of the predicted label"));
  EXPECT_TRUE(has(text, "&gt;</span> yyyy"));  // a word that is longer than a cell is cut
  EXPECT_FALSE(has(text, std::string(4001, 'y')));
}

TEST_F(RunPageTest, ColoursHostileTexts) {
  const std::string text = page({.texts = tests::hostile_texts(), .explain = {.words = shares_of}});
  EXPECT_FALSE(has(text, "<script>document"));
  EXPECT_FALSE(has(text, "<img"));
  EXPECT_FALSE(has(text, "\x1b"));
}

TEST_F(RunPageTest, ColoursNoTextsThatItDoesNotShow) {
  const std::string text = page({.shows_texts = false, .explain = {.words = shares_of}});
  EXPECT_FALSE(has(text, "blue words"));
  EXPECT_FALSE(has(text, "<span class=\"for"));
}

TEST_F(RunPageTest, LeavesTextsOut) {
  const std::string text = page({.texts = {"a secret text"}, .shows_texts = false});
  EXPECT_FALSE(has(text, "secret"));
  EXPECT_FALSE(has(text, "A text"));
  EXPECT_TRUE(has(text, "id=\"example-table\""));
}

TEST_F(RunPageTest, OfOneEpochAndOfNoDevSet) {
  const std::string one = page({.epochs = 1});
  EXPECT_TRUE(has(one, "id=\"dev-confusion\""));
  EXPECT_FALSE(has(one, "id=\"figures\"")) << "a chart of one point";
  const std::string text = page({.dev = false});
  EXPECT_FALSE(has(text, "id=\"dev-confusion\""));
  EXPECT_TRUE(has(text, "no predictions for dev examples"));
}

TEST_F(RunPageTest, OfOtherProblems) {
  const std::string numbers = page({.problem_type = ProblemType::regression, .labels = 1});
  EXPECT_TRUE(has(numbers, "id=\"dev-scatter\""));
  EXPECT_FALSE(has(numbers, "id=\"balance\""));
  EXPECT_TRUE(has(numbers, "<p>Mean absolute error ")) << numbers;
  EXPECT_TRUE(has(numbers, ", R² "));
  EXPECT_TRUE(has(numbers, "<path class=\"faint\"")) << "the diagonal";
  EXPECT_FALSE(has(numbers, "Figures by target"));
  const std::string targets = page({.problem_type = ProblemType::regression, .labels = 14});
  EXPECT_TRUE(has(targets, "Figures by target"));
  EXPECT_TRUE(has(targets, "id=\"dev-scatter-11\""));
  EXPECT_FALSE(has(targets, "id=\"dev-scatter-12\""));
  EXPECT_TRUE(has(targets, "Predicted over true values of label 11"));
  EXPECT_TRUE(has(targets, "label 0_pearson"));
  EXPECT_TRUE(has(targets, "label 4&nbsp;")) << "the numbers of an example";
  const std::string several =
      page({.problem_type = ProblemType::multi_label, .labels = 4, .calibrated = true});
  EXPECT_TRUE(has(several, "id=\"dev-reliability\""));
  EXPECT_TRUE(has(several, "Thresholds"));
  EXPECT_FALSE(has(several, "id=\"dev-confusion\""));
}

TEST_F(RunPageTest, OfAModelScoredByItsLossSaysLess) {
  const std::string text =
      page({.problem_type = ProblemType::loss_alone, .labels = 1, .dev = false});
  for (const char* id : {"loss", "rate", "lengths", "run"}) {
    EXPECT_TRUE(has(text, "id=\"" + std::string{id} + "\"")) << id;
  }
  for (const char* part : {"id=\"balance\"", "Decisions", "predictions", "id=\"figures\""}) {
    EXPECT_FALSE(has(text, part)) << part;
  }
}

TEST_F(RunPageTest, OfHundredsOfLabels) {
  const std::string text = page({.labels = 200, .examples = 600, .steps = 4});
  EXPECT_FALSE(has(text, "id=\"dev-confusion\""));
  EXPECT_TRUE(has(text, "The most frequent confusions"));
  EXPECT_TRUE(has(text, "The most frequent labels, then those with the lowest F1"));
}

TEST_F(RunPageTest, ThinsCurvesOfManySteps) {
  const std::string text = page({.steps = 20'000});
  EXPECT_LT(text.size(), 700'000U);
  EXPECT_TRUE(has(text, "at most 99")) << "the spike in the loss";
}

TEST_F(RunPageTest, GoesOnWhereThePageCannotBeWritten) {
  run::KeptPredictions predictions;
  std::string warning;
  RunPage page{{.file = directory / "absent/report.html",
                .warn = [&](std::string_view text) { warning = text; }},
               predictions};
  page.on(train::FitEnd{1, 1});
  EXPECT_TRUE(has(warning, "the run goes on without its page")) << warning;
}

TEST(Escaped, ShowsWhatHtmlCannotHold) {
  EXPECT_EQ(html::escaped("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(html::escaped(std::string_view{"\0\x1b\n", 3}), "\xE2\x90\x80\xE2\x90\x9B\n");
  EXPECT_EQ(html::escaped("a\xff"
                          "b\xC2\x85\xEF\xBF\xBF"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(html::escaped("one\r\ntwo\rthree\n"), "one\ntwo\nthree\n");
  EXPECT_EQ(html::cut("a\xC3\xA4"
                      "b",
                      2),
            "a…");
  EXPECT_EQ(html::count(1234567), "1,234,567");
  EXPECT_EQ(html::count(-123), "-123");
}

}  // namespace
}  // namespace seqtrain::page
