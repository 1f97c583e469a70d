#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/labels.hpp>

namespace seqtrain::data {
namespace {

TEST(Labels, FindNamesNumbersAndOtherLetterCase) {
  const Labels labels = Labels::nli();
  EXPECT_EQ(labels.find("entailment"), 0);
  EXPECT_EQ(labels.find("contradiction"), 2);
  EXPECT_EQ(labels.find("1"), 1);
  EXPECT_EQ(labels.find("NEUTRAL"), 1);
  for (const char* unknown : {"3", "-1", "", "-", "1.5", "entail", "99999999999999999999"}) {
    EXPECT_FALSE(labels.find(unknown)) << unknown;
  }
}

TEST(Labels, IgnoreBlanksAroundALabelAndTheFormOfAWholeNumber) {
  const Labels labels = Labels::nli();
  EXPECT_EQ(labels.find(" neutral\u00a0"), 1);
  EXPECT_EQ(labels.find("\ufeffNeutral"), 1);
  EXPECT_EQ(labels.find("1.0"), 1);
  EXPECT_EQ(labels.find("1 "), 1);
  const Labels umlauts{{"Ärger", "gut"}};
  EXPECT_EQ(umlauts.find("ÄRGER "), 0);
  EXPECT_EQ(umlauts.find("A\u0308rger"), 0);
  const Labels alike{{"good", "good ", "bad"}};
  EXPECT_EQ(alike.find("good "), 1);
  EXPECT_FALSE(alike.find(" good"));  // matches two names
  const Labels blanks{{"1 ", "2 "}};
  EXPECT_EQ(blanks.find("1"), 0);  // not the id 1
}

TEST(Labels, MeanNoGoldLabelByMinusOneAsPandasWritesIt) {
  EXPECT_TRUE(Labels::nli().is_no_label("-1"));
  EXPECT_TRUE(Labels::nli().is_no_label("-1.0"));
  EXPECT_FALSE(Labels::nli().is_no_label("-1.5"));
  EXPECT_FALSE((Labels{{"-1", "0", "1"}}.is_no_label("-1.0")));
}

TEST(Labels, PreferANameToANumberAndTheExactCase) {
  const Labels stars{{"1", "2", "3"}};
  EXPECT_EQ(stars.find("1"), 0);
  EXPECT_EQ(stars.find("3"), 2);
  const Labels cases{{"us", "US", "it"}};
  EXPECT_EQ(cases.find("US"), 1);
  EXPECT_FALSE(cases.find("Us"));  // matches two names
  EXPECT_EQ(cases.find("IT"), 2);
}

TEST(Labels, TakeNoNumberForAnIdWhereANameIsANumber) {
  const Labels stars{{"1", "2", "3"}};
  const Labels gap{{"0", "2"}};
  const Labels mixed{{"10", "few", "many"}};
  const Labels decimals{{"0.5", "1.0"}};
  EXPECT_FALSE(stars.find("0"));
  EXPECT_FALSE(gap.find("1"));
  EXPECT_FALSE(mixed.find("1"));
  EXPECT_FALSE(decimals.find("0"));
  EXPECT_EQ(stars.problem_with("0"), "unknown label '0'; known are: 1, 2, 3");
}

TEST(Labels, CompareNumbersByTheirWholeValue) {
  const Labels stars{{"1", "2", "30"}};
  EXPECT_EQ(stars.find("01"), 0);
  EXPECT_EQ(stars.find("2.0"), 1);
  EXPECT_EQ(stars.find("3e1"), 2);
  for (const char* unknown : {"1.5", "-1", "nan", "inf", "1e999", "2 2"}) {
    EXPECT_FALSE(stars.find(unknown)) << unknown;
  }
  EXPECT_EQ((Labels{{"0.0", "1.0"}}.find("1")), 1);
  EXPECT_FALSE((Labels{{"1", "01", "2"}}.find("1.0")));  // matches two names
  EXPECT_FALSE((Labels{{"9007199254740993", "1"}}.find("9007199254740992")));
}

TEST(Labels, AreNoNumbersForBeginningWithOneOrReadingLikeOne) {
  EXPECT_EQ((Labels{{"1 star", "2 stars"}}.find("1")), 1);
  EXPECT_EQ((Labels{{"nan", "inf"}}.find("1")), 1);
}

TEST(Labels, SayWhatIsWrong) {
  const Labels labels = Labels::sentiment();
  EXPECT_EQ(labels.problem_with("7"), "label 7 is out of range 0 to 1");
  EXPECT_EQ(labels.problem_with("so-so"), "unknown label 'so-so'; known are: negative, positive");
  EXPECT_EQ((Labels{{"a\nb", "c"}}.problem_with("x\ty")),
            "unknown label 'x\\ty'; known are: a\\nb, c");
}

TEST(Labels, ShortenALongList) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("n" + std::to_string(i));
  EXPECT_TRUE(Labels{names}.listed().ends_with("n19, …"));
}

TEST(Labels, RefuseNamesThatAreNone) {
  EXPECT_THROW(Labels{{}}, InputError);
  EXPECT_THROW(Labels{{"alone"}}, InputError);
  EXPECT_THROW((Labels{{"a", ""}}), InputError);
  EXPECT_THROW((Labels{{"a", "b", "a"}}), InputError);
}

TEST(Labels, OfAModelScoredByItsLossAreOneWithoutTargets) {
  const Labels none = Labels::none();
  EXPECT_EQ(none.problem_type(), ProblemType::loss_alone);
  EXPECT_EQ(none.size(), 1U);
  EXPECT_EQ(none.targets(), 0U);
  EXPECT_FALSE(has_labels(none.problem_type()));
  EXPECT_THROW((Labels{{"a", "b"}, ProblemType::loss_alone}), InputError);
}

TEST(Labels, OfRegressionAreOne) {
  EXPECT_EQ(Labels::regression().size(), 1U);
  EXPECT_EQ(Labels::regression().targets(), 1U);
  EXPECT_EQ((Labels{{"a", "b"}, ProblemType::multi_label}.targets()), 2U);
  EXPECT_EQ(Labels::nli().targets(), 0U);
  EXPECT_EQ((Labels{{"a", "b"}, ProblemType::regression}.targets()), 2U);
  EXPECT_THROW((Labels{{}, ProblemType::regression}), InputError);
  EXPECT_THROW((Labels{{"a", "a"}, ProblemType::regression}), InputError);
  EXPECT_THROW((Labels{{"a"}, ProblemType::multi_label}), InputError);
}

}  // namespace
}  // namespace seqtrain::data
