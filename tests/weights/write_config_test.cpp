#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/write_config.hpp>

#include "support/corrupt.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

const std::vector<std::string> labels{"entailment", "neutral", "not \"so\""};

constexpr const char* architecture = "BertForSequenceClassification";
constexpr const char* source = R"({
  "architectures": ["BertModel"], "model_type": "bert", "layer_norm_eps": 1e-12,
  "hidden_dropout_prob": 0.1, "large": 12345678901234567, "flag": true, "nothing": null,
  "nested": {"list": [1, 2.5, "\u00e9\n"]}, "torch_dtype": "float16", "dtype": "float16",
  "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}, "num_labels": 1,
  "problem_type": "regression"})";

TEST(WriteConfig, SaysWhatTheClassifierIs) {
  const auto document =
      json::Document::parse(classifier_config(source, architecture, labels), "out");
  const auto root = document.root();
  EXPECT_EQ(root.at("architectures").items().at(0).string(), "BertForSequenceClassification");
  EXPECT_EQ(root.at("id2label").at("2").string(), "not \"so\"");
  EXPECT_EQ(root.at("label2id").at("neutral").integer(), 1);
  EXPECT_EQ(root.at("problem_type").string(), "single_label_classification");
  EXPECT_EQ(root.at("torch_dtype").string(), "float32");
  EXPECT_FALSE(root.find("dtype"));
  EXPECT_FALSE(root.find("num_labels"));
}

TEST(WriteConfig, KeepsEveryOtherKey) {
  const auto document =
      json::Document::parse(classifier_config(source, architecture, labels), "out");
  const auto root = document.root();
  EXPECT_EQ(root.at("layer_norm_eps").number(), 1e-12);
  EXPECT_EQ(root.at("hidden_dropout_prob").number(), 0.1);
  EXPECT_EQ(root.at("large").integer(), 12345678901234567);
  EXPECT_TRUE(root.at("flag").boolean());
  EXPECT_EQ(root.at("nested").at("list").items().at(2).string(), "\u00e9\n");
  EXPECT_EQ(root.members().size(), 12u);  // "nothing" too, though find() passes over it
}

TEST(WriteConfig, ReadsBackAsAConfig) {
  const tests::TemporaryDirectory directory;
  write_config(directory / "config.json", R"({"model_type": "roberta"})",
               "RobertaForSequenceClassification", labels);
  const auto config = read_config(ConfigFile{directory / "config.json"});
  EXPECT_EQ(config.labels, labels);
  EXPECT_EQ(config.model_type, "roberta");
  const auto text = tests::read_file(directory / "config.json");
  EXPECT_NE(text.find("RobertaForSequenceClassification"), std::string::npos);
}

TEST(WriteConfig, ASecondTimeChangesNothing) {
  const auto once = classifier_config(source, architecture, labels);
  EXPECT_EQ(classifier_config(once, architecture, labels), once);
}

TEST(WriteConfig, RefusesLabelsThatAreNone) {
  const auto refusal = [](const std::vector<std::string>& names) {
    return tests::refusal([&] { classifier_config(source, architecture, names); });
  };
  EXPECT_NE(refusal({"a"}).find("at least two labels"), std::string::npos);
  EXPECT_NE(refusal({"a", "b", "a"}).find("label 'a' twice"), std::string::npos);
}

TEST(WriteConfig, SaysWhatTheProblemIs) {
  const auto written = [](const std::vector<std::string>& names, ProblemType type) {
    return read_config(ConfigFile::parse(classifier_config(source, architecture, names, type)));
  };
  const auto number = written({"LABEL_0"}, ProblemType::regression);
  EXPECT_EQ(number.problem_type, ProblemType::regression);
  EXPECT_EQ(number.num_labels(), 1);
  EXPECT_EQ(written(labels, ProblemType::multi_label).problem_type, ProblemType::multi_label);
  EXPECT_EQ(written(labels, ProblemType::regression).labels, labels);
  EXPECT_EQ(written(labels, ProblemType::regression).problem(), ProblemType::regression);
  EXPECT_THROW(written({}, ProblemType::regression), InputError);
  EXPECT_THROW(written({"a"}, ProblemType::multi_label), InputError);
}

std::optional<Calibration> read(std::string_view text, std::size_t count = 2) {
  return calibration_in(json::Document::parse(text, "config.json").root(), count);
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
  const std::string text = with_calibration(R"({"model_type": "bert"})", {.temperature = 2});
  EXPECT_FALSE(read(classifier_config(text, architecture, labels)));
}

}  // namespace
}  // namespace seqtrain::weights
