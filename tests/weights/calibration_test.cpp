#include <gtest/gtest.h>

#include <seqtrain/weights/calibration.hpp>
#include <seqtrain/weights/write_config.hpp>

namespace seqtrain::weights {
namespace {

std::optional<Calibration> read(std::string_view text, std::size_t labels = 2) {
  return calibration_in(json::Document::parse(text, "config.json").root(), labels);
}

TEST(Calibration, IsWrittenAndReadBack) {
  const Calibration one{.temperature = 1.5}, two{.thresholds = {0.25, 1}};
  EXPECT_FALSE(read("{}"));
  const std::string once = with_calibration(R"({"model_type": "bert"})", one);
  EXPECT_EQ(read(once), one);
  const std::string twice = with_calibration(once, two);
  EXPECT_EQ(read(twice), two);
  EXPECT_NE(twice.find(R"("model_type": "bert")"), std::string::npos);
}

TEST(Calibration, RefusesWhatCannotBe) {
  EXPECT_THROW((void)read(R"({"seqtrain": {"temperature": 0}})"), InputError);
  EXPECT_THROW((void)read(R"({"seqtrain": {"thresholds": [0.5]}})"), InputError);
  EXPECT_THROW((void)read(R"({"seqtrain": {"thresholds": [0.5, 1.5]}})"), InputError);
}

TEST(Calibration, IsNotKeptByAModelThatIsTrainedOn) {
  const std::vector<std::string> labels{"a", "b"};
  const std::string source = with_calibration(R"({"model_type": "bert"})", {.temperature = 2});
  EXPECT_FALSE(read(classifier_config(source, "BertForSequenceClassification", labels)));
}

}  // namespace
}  // namespace seqtrain::weights
