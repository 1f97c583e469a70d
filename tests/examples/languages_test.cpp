#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/weights/fastai.hpp>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::run_example;
using tests::write_file;

/// A directory laid out like a bucket, with the bundled sets cut short.
class LanguagesExample : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string lang : {"en", "fr"}) {
      const auto from = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/languages";
      std::filesystem::create_directories(root_ / lang);
      for (const auto& [file, lines] : {std::pair{"train.csv", 41},
                                        {"valid.csv", 11},
                                        {"test.csv", 13},
                                        {"unlabelled.txt", 30}}) {
        std::string text = tests::read_file(from / lang / file);
        std::size_t end = 0;
        for (int line = 0; line < lines; ++line) end = text.find('\n', end) + 1;
        write_file(root_ / lang / file, text.substr(0, end));
      }
    }
  }

  [[nodiscard]] std::string flags(const std::string& more, const std::string& work = "work") const {
    return "--local " + root_.path().string() + " --work-dir " + (directory_ / work).string() +
           " --epochs 1 --embedding 8 --hidden 12 --batch-size 8 --threads 1 " + more;
  }

  /// The only folder below the models' one.
  [[nodiscard]] std::filesystem::path published(const char* folder) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator{root_ / folder}) {
      found.push_back(entry.path());
    }
    EXPECT_EQ(found.size(), 1U);
    return found.at(0);
  }

  tests::TemporaryDirectory directory_, root_;
};

void expect_performance(const std::filesystem::path& folder) {
  const auto document = json::Document::load(folder / "performance.json");
  const auto root = document.root();
  EXPECT_EQ(root.at("examples").integer(), 12);
  EXPECT_EQ(root.at("labels").at("negative").at("support").integer(), 6);
  EXPECT_GE(root.at("accuracy").number(), 0);
  EXPECT_GE(root.at("macro_average").at("f1").number(), 0);
}

/// Expects that `predict` is right about as many texts as the performance says.
void expect_predicted(const std::filesystem::path& folder, const std::filesystem::path& texts) {
  const auto run =
      run_example("predict", "--threads 1 --model " + folder.string() + " < " + texts.string());
  ASSERT_EQ(run.code, 0) << run.output;
  std::vector<std::string> labels;
  const MappedFile file{texts};
  const data::Reader reader{{.text = file.text(), .name = texts.string()}};
  reader.read_all([&](const data::Example& example) { labels.emplace_back(*example.label); });
  std::istringstream lines{run.output};
  double right = 0;
  for (const auto& label : labels) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << run.output;
    const auto document = json::Document::parse(line, "line");
    if (document.root().at("label").string() == label) ++right;
  }
  const auto performance = json::Document::load(folder / "performance.json");
  EXPECT_DOUBLE_EQ(right / static_cast<double>(labels.size()),
                   performance.root().at("accuracy").number());
}

TEST_F(LanguagesExample, TrainsUlmfitAndLeavesModelAndFigures) {
  const auto run = run_example("languages", flags("--lang fr --model-dir made"));
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("Perplexity of the fresh model: "), std::string::npos);
  EXPECT_NE(run.output.find("Perplexity of the fine-tuned model: "), std::string::npos);
  const auto folder = published("made");
  EXPECT_TRUE(folder.filename().string().starts_with("fr_2"));
  EXPECT_TRUE(std::filesystem::exists(folder / "vocabulary.txt"));
  EXPECT_TRUE(std::filesystem::exists(folder / "manifest.json"));
  expect_predicted(folder, root_ / "fr/test.csv");
  const weights::FastaiFile model{folder / "model.pth"};
  EXPECT_EQ(model.at("0.module.rnns.0.module.weight_ih_l0").shape,
            (std::vector<std::int64_t>{48, 8}));
  EXPECT_TRUE(model.find("1.layers.1.2.weight"));
  expect_performance(folder);
}

TEST_F(LanguagesExample, BeginsWithPretrainedWeights) {
  const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/awd_lstm";
  std::string words;
  for (const auto& word : weights::read_pickled_words(golden / "words.pkl")) words += word + "\n";
  write_file(root_ / "fr/vocabulary.txt", words);
  std::filesystem::copy_file(golden / "language.pth", root_ / "fr/pretrained.pth");
  const auto run = run_example(
      "languages", "--lang fr --epochs 1 --embedding 12 --hidden 16 --threads 1 --local " +
                       root_.path().string() + " --work-dir " + (directory_ / "work").string());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("Perplexity of the pre-trained model: "), std::string::npos);
  EXPECT_NE(run.output.find("Stage language_model_1\n"), std::string::npos);
  const auto wider = run_example("languages", flags("--lang fr", "wider"));
  EXPECT_EQ(wider.code, 2);
  EXPECT_NE(wider.output.find("has shape [40, 12], the model [40, 8]"), std::string::npos)
      << wider.output;
}

TEST_F(LanguagesExample, ReadsWordsThatFastaiHasPickled) {
  const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/awd_lstm";
  std::filesystem::copy_file(golden / "words.pkl", root_ / "fr/vocabulary.pkl");
  std::filesystem::copy_file(golden / "language.pth", root_ / "fr/pretrained.pth");
  const std::string all =
      "--lang fr --epochs 1 --language-model-epochs 0 --embedding 12 --hidden 16"
      " --threads 1 --local " +
      root_.path().string();
  const auto run = run_example("languages", all + " --work-dir " + (directory_ / "work").string());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("Perplexity of the pre-trained model: "), std::string::npos);
  EXPECT_EQ(run.output.find("Stage language_model"), std::string::npos) << run.output;
  write_file(root_ / "fr/vocabulary.pkl",
             "\x80\x02"
             "cos\nsystem\n.");
  const auto bad = run_example("languages", all + " --work-dir " + (directory_ / "bad").string());
  EXPECT_EQ(bad.code, 2) << bad.output;
  EXPECT_NE(bad.output.find("'os.system' is not supported"), std::string::npos) << bad.output;
}

TEST_F(LanguagesExample, CutsTextsIntoSubwordsByAModel) {
  const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/subwords";
  std::filesystem::copy_file(golden / "unigram.model", root_ / "en/subwords.model");
  const auto run = run_example("languages", flags("--model-dir made"));
  if (SEQTRAIN_WITH_SUBWORDS == 0) {
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.output.find("-DSEQTRAIN_WITH_SENTENCEPIECE=ON"), std::string::npos);
    return;
  }
  ASSERT_EQ(run.code, 0) << run.output;
  const auto folder = published("made");
  EXPECT_EQ(weights::FastaiFile{folder / "model.pth"}.at("0.module.encoder.weight").shape,
            (std::vector<std::int64_t>{160, 8}));
  EXPECT_TRUE(tests::read_file(folder / "vocabulary.txt").starts_with("▁xxunk\n▁xxpad\n"));
  EXPECT_EQ(tests::read_file(folder / "subwords.model"),
            tests::read_file(golden / "unigram.model"));
  expect_predicted(folder, root_ / "en/test.csv");
  write_file(root_ / "en/subwords.model", "no model");
  const auto bad = run_example("languages", flags("", "bad"));
  EXPECT_EQ(bad.code, 2) << bad.output;
  EXPECT_NE(bad.output.find("subwords.model: is no SentencePiece model"), std::string::npos);
}

TEST_F(LanguagesExample, RefusesWeightsThatAreNoLanguageModels) {
  ASSERT_EQ(run_example("languages", flags("--lang en --model-dir made")).code, 0);
  const auto folder = published("made");
  std::filesystem::copy_file(folder / "model.pth", root_ / "fr/pretrained.pth");
  const auto without = run_example("languages", flags("--lang fr", "without"));
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.output.find("vocabulary.txt: is needed"), std::string::npos) << without.output;
  write_file(root_ / "fr/vocabulary.txt", "xxunk\nxxpad\n");
  const auto classifier = run_example("languages", flags("--lang fr", "classifier"));
  EXPECT_EQ(classifier.code, 2);  // the weights of a classifier, not of a language model
  EXPECT_NE(classifier.output.find("0.encoder.weight: there is no such tensor"), std::string::npos)
      << classifier.output;
}

TEST_F(LanguagesExample, DoesNoStageTwice) {
  ASSERT_EQ(run_example("languages", flags("")).code, 0);
  const auto again = run_example("languages", flags(""));
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_NE(again.output.find("Stage classifier_5 is done already"), std::string::npos);
  published("models");  // by both together
  const auto other = run_example("languages", flags("--seed 2"));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.output.find("other settings"), std::string::npos) << other.output;
}

TEST_F(LanguagesExample, ContinuesAStoppedJobToTheSameBits) {
  const auto whole = run_example("languages", flags("--model-dir whole", "whole"));
  ASSERT_EQ(whole.code, 0) << whole.output;
  int stops = 0;
  tests::Ended part;
  for (double seconds = 0.4; stops < 100; seconds += 0.2) {
    part = tests::run_example_for(seconds, "languages", flags("--model-dir made"));
    if (part.code == 0) break;
    // 143: before the program handles signals
    ASSERT_TRUE(part.code == 3 || part.code == 143) << part.code << part.output;
    ++stops;
  }
  EXPECT_EQ(part.code, 0) << part.output;
  EXPECT_GT(stops, 0);
  EXPECT_TRUE(tests::read_file(published("made") / "model.pth") ==
              tests::read_file(published("whole") / "model.pth"));
}

TEST_F(LanguagesExample, TrainsBertByAnotherAlias) {
  SEQTRAIN_NEEDS_CHECKPOINT();
  std::filesystem::create_directory_symlink(std::filesystem::absolute(tests::default_checkpoint()),
                                            root_ / "en/model");
  const auto run = run_example("languages_bert", flags("--model-dir made --max-length 16"));
  ASSERT_EQ(run.code, 0) << run.output;
  const weights::FastaiFile model{published("made") / "model.pth"};
  EXPECT_TRUE(model.find("classifier.weight"));
  expect_performance(published("made"));
}

TEST_F(LanguagesExample, KeepsAnEmptyText) {
  write_file(root_ / "en/test.csv", "text,label\n,negative\nThe soup,positive\n");
  const auto run = run_example("languages", flags("--model-dir made"));
  ASSERT_EQ(run.code, 0) << run.output;
  const auto document = json::Document::load(published("made") / "performance.json");
  EXPECT_EQ(document.root().at("examples").integer(), 2);
}

TEST_F(LanguagesExample, TellsWhatIsWrongWithItsInput) {
  const auto expect = [&](const std::string& more, const std::string& says) {
    const auto run = run_example("languages", flags(more));
    EXPECT_EQ(run.code, 2) << more << "\n" << run.output;
    EXPECT_NE(run.output.find(says), std::string::npos) << more << "\n" << run.output;
  };
  expect("--lang de", "for the language 'de'; there are: en, fr");
  expect("--lang ../en", "--lang");
  expect("--bucket-name UPPER", "UPPER");
  expect("--max-length 2", "--max-length");
  expect("--vocabulary 9", "--vocabulary");
  expect("--language-model-epochs -2", "--language-model-epochs");
  write_file(root_ / "en/test.csv", "text,label\nThe soup,negative\nThe bread,mixed\n");
  expect("--lang en", "test.csv:3: label: unknown label 'mixed'");
  write_file(root_ / "en/train.csv", "text,label\nThe soup,negative\nThe bread,negative\n");
  expect("--lang en", "fewer than two different labels");
  write_file(root_ / "en/train.csv", "words,label\nThe soup,negative\n");
  expect("--lang en", "no known field for the text among: words, label");
}

}  // namespace
}  // namespace seqtrain
