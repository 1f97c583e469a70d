#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/text_sample.hpp>

#include "support/fake_predictor.hpp"

namespace seqtrain::predict {
namespace {

TEST(TextSample, KeepsTextsOfAllPartsOfALongStream) {
  constexpr std::size_t count = 10 * TextSample::most_texts;
  TextSample sample, again;
  for (std::size_t i = 0; i < count; ++i) {
    sample.add(std::to_string(i), {});
    again.add(std::to_string(i), {});
  }
  EXPECT_EQ(sample.seen(), count);
  ASSERT_EQ(sample.texts().size(), TextSample::most_texts);
  double sum = 0;
  for (std::size_t i = 0; i < sample.texts().size(); ++i) {
    EXPECT_EQ(sample.texts()[i].text, again.texts()[i].text);
    sum += std::stod(sample.texts()[i].text);
  }
  const auto texts = static_cast<double>(TextSample::most_texts);
  EXPECT_NEAR(sum / texts / static_cast<double>(count), 0.5, 0.02);  // five standard errors
}

TEST(TextSample, CutsLongTextsBetweenCharacters) {
  TextSample sample;
  std::string text = "x";
  for (int i = 0; i < 3000; ++i) text += "ä";
  sample.add(text, "b");
  EXPECT_EQ(sample.texts()[0].text.size(), TextSample::most_bytes - 1);
  EXPECT_EQ(sample.texts()[0].pair, "b");
  EXPECT_DOUBLE_EQ(sample.characters(), 3002);
}

TEST(WatchedPredictor, CountsLabelsAndSamplesTexts) {
  const tests::FakePredictor predictor;
  const Watched<tests::FakePredictor> watched{predictor};
  const std::vector<Encoded> texts{watched.encode("a", {}, 100), watched.encode("bb", {}, 100),
                                   watched.encode(std::string(200, 'c'), {}, 300)};
  (void)watched.predict(texts);
  EXPECT_EQ(watched.sample().seen(), 3U);
  EXPECT_EQ(watched.labels().texts(), 3U);
  const auto shares = watched.labels().shares();
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_NEAR(shares[0], 1 / 3.0, 1e-12);  // the long text; the others have the label of letters
  EXPECT_NEAR(shares[1], 2 / 3.0, 1e-12);
  const Watched<tests::FakePredictor> blind{predictor, false};
  (void)blind.predict(std::vector<Encoded>{blind.encode("a", {}, 100)});
  EXPECT_EQ(blind.sample().seen() + blind.labels().texts(), 0U);
}

TEST(PredictedLabelsOfTexts, LeaveOutWhatIsNotFinite) {
  tests::FakePredictor predictor;
  predictor.spoiled = 'z';
  const Watched<tests::FakePredictor> watched{predictor};
  (void)watched.predict(
      std::vector<Encoded>{watched.encode("z", {}, 9), watched.encode("a", {}, 9)});
  EXPECT_EQ(watched.labels().texts(), 1U);
  const Watched<tests::FakePredictor> none{predictor};
  (void)none.predict(std::vector<Encoded>{none.encode("z", {}, 9)});
  EXPECT_TRUE(none.labels().shares().empty());
}

TEST(PredictedLabelsOfTexts, HaveTheMeanOfEachValue) {
  metrics::Logits logits(2, 2);
  logits << 1, 5, 2, 7;
  PredictedLabels values;
  const Task targets{.labels = {"v", "a"}, .problem_type = ProblemType::regression};
  values.add(metrics::Logits(0, 2), targets);
  EXPECT_TRUE(values.means().empty());
  values.add(logits, targets);
  EXPECT_EQ(values.means(), (std::vector<double>{1.5, 6}));
  EXPECT_TRUE(values.shares().empty());
}

TEST(PredictedLabelsOfTexts, HaveTheMeanScoreOfOneOutput) {
  metrics::Logits logits(2, 1);
  logits << 0, 2;
  PredictedLabels identity, sigmoid;
  identity.add(logits, {.labels = {"LABEL_0"}, .one_output = OneOutput::identity});
  EXPECT_EQ(identity.means(), std::vector<double>{1});
  sigmoid.add(logits.topRows(1), {.labels = {"LABEL_0"}});
  EXPECT_EQ(sigmoid.means(), std::vector<double>{0.5});
}

TEST(TextSample, SaysWhichPlaceATextGets) {
  TextSample sample;
  for (std::size_t i = 0; i < 2 * TextSample::most_texts; ++i) {
    const auto place = sample.next_place();
    sample.add(std::to_string(i), {});
    if (place) {
      ASSERT_EQ(sample.texts()[*place].text, std::to_string(i));
    } else {
      ASSERT_GE(i, TextSample::most_texts);
    }
  }
}

}  // namespace
}  // namespace seqtrain::predict
