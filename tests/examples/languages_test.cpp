#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/text/subword_tokenizer.hpp>
#include <seqtrain/weights/fastai.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
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

TEST_F(LanguagesExample, CrossValidatesAJob) {
  const std::string folds = "--lang en --language-model-epochs 0 --folds 3 ";
  const auto stopped =
      tests::run_command(std::string{SEQTRAIN_EXAMPLES_DIR} + "/languages " + flags(folds) +
                         " & pid=$!; while kill -0 $pid && [ ! -e " +
                         (directory_ / "work/fold-1/metrics.json").string() +
                         " ]; do sleep 0.005; done; kill -TERM $pid; wait $pid");
  ASSERT_EQ(stopped.code, 3) << stopped.output;
  const auto first = tests::read_file(directory_ / "work/fold-1/metrics.json");
  std::filesystem::create_directories(directory_ / "work/fold-1/data");  // as a kill leaves it
  write_file(directory_ / "work/fold-1/model.pth", "");
  const auto ended = run_example("languages", flags(folds));
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Fold 1 of 3 is finished"), std::string::npos) << ended.output;
  EXPECT_EQ(tests::read_file(directory_ / "work/fold-1/metrics.json"), first);
  const auto metrics = json::Document::load(directory_ / "work/metrics.json");
  const auto all = metrics.root().at("cross_validation");
  EXPECT_EQ(all.at("folds").integer(), 3);
  EXPECT_EQ(all.at("figures").at("accuracy").at("each").items().size(), 3U);
  EXPECT_EQ(metrics.root().at("dev").at("examples").integer(), 40);
  std::istringstream lines{tests::read_file(directory_ / "work/out_of_fold.jsonl")};
  std::int64_t rows = 0, right = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto document = json::Document::parse(line, "line");
    EXPECT_EQ(document.root().at("row").integer(), ++rows);
    EXPECT_EQ(document.root().at("scores").items().size(), 2U);
    right += document.root().at("gold").string() == document.root().at("predicted").string();
  }
  EXPECT_EQ(rows, 40);
  EXPECT_DOUBLE_EQ(metrics.root().at("dev").at("accuracy").number(),
                   static_cast<double>(right) / 40);
  for (const char* left : {"model.pth", "data", "ulmfit"}) {
    for (const char* fold : {"fold-1", "fold-2"}) {
      EXPECT_FALSE(std::filesystem::exists(directory_ / "work" / fold / left)) << fold << left;
    }
  }
  const auto place = published("models");
  EXPECT_TRUE(place.filename().string().starts_with("en_folds_")) << place;
  for (const char* file : {"metrics.json", "label_errors.csv", "report.html", "manifest.json"}) {
    EXPECT_TRUE(std::filesystem::exists(place / file)) << file;
  }
  const auto other =
      run_example("languages", flags("--lang en --language-model-epochs 0 --folds 4"));
  EXPECT_EQ(other.code, 2) << other.output;
  EXPECT_NE(other.output.find("holds a job with other settings"), std::string::npos);
}

TEST_F(LanguagesExample, RefusesFoldsThatDoNotFit) {
  const auto refused = [&](const std::string& more, const std::string& problem) {
    const auto ended = run_example("languages", flags("--lang en " + more, "other"));
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_NE(ended.output.find(problem), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "other/fold-1"));
  };
  refused("--folds 1", "--folds: must be 0, or 2 or more");
  refused("--folds 30", "fewer than --folds 30");
  std::filesystem::create_directories(root_ / "pretrained/en");
  write_file(root_ / "pretrained/en/labelled_dataset.csv", "text,categ1,categ2\na,1,0\nb,0,1\n");
  refused("--folds 2", "--folds: is not for a published layout");
}

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

/// Words of the French texts for the 40 rows of golden/awd_lstm/language.pth.
std::vector<std::string> forty_french_words() {
  std::vector<std::string> words{"xxunk", "xxpad", "xxbos"};
  std::istringstream list{
      ". le a , était je crois la valait 3 ! nous dit ma sœur lundi jardin soirée notre chambre ne "
      "rien mon billet sentait train leur café trop musée déçus sa chanson soupe guide parfait "
      "bien"};
  for (std::string word; list >> word;) words.push_back(word);
  EXPECT_EQ(words.size(), 40U);
  return words;
}

std::string lines_of(const std::vector<std::string>& words) {
  std::string lines;
  for (const auto& word : words) lines += word + "\n";
  return lines;
}

/// Returns words as Python pickles a list of them.
std::string pickled(const std::vector<std::string>& words) {
  std::string pickle = "\x80\x02](";
  for (const auto& word : words) {
    pickle += {'X', static_cast<char>(word.size()), '\0', '\0', '\0'};
    pickle += word;
  }
  return pickle + "e.";
}

TEST_F(LanguagesExample, BeginsWithPretrainedWeights) {
  const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/awd_lstm";
  write_file(root_ / "fr/vocabulary.txt", lines_of(forty_french_words()));
  std::filesystem::copy_file(golden / "language.pth", root_ / "fr/pretrained.pth");
  const auto run = run_example(
      "languages", "--lang fr --epochs 1 --embedding 12 --hidden 16 --threads 1 --local " +
                       root_.path().string() + " --work-dir " + (directory_ / "work").string());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("Perplexity of the pre-trained model: "), std::string::npos);
  EXPECT_NE(run.output.find("Stage language_model_1\n"), std::string::npos);
  const auto wider = run_example("languages", flags("--lang fr", "wider"));
  EXPECT_EQ(wider.code, 2);
  EXPECT_NE(
      wider.output.find("the size of its embeddings is 12, the model's 8; give --embedding 12"),
      std::string::npos)
      << wider.output;
}

TEST_F(LanguagesExample, ReadsWordsThatFastaiHasPickled) {
  const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/awd_lstm";
  write_file(root_ / "fr/vocabulary.pkl", pickled(forty_french_words()));
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

TEST_F(LanguagesExample, RefusesALanguageModelOfAnotherLanguage) {
  const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/awd_lstm";
  std::filesystem::copy_file(golden / "language.pth", root_ / "fr/pretrained.pth");
  const auto expect_refused = [&](const std::string& file, const std::string& work) {
    const auto run = run_example("languages", flags("--lang fr", work));
    EXPECT_EQ(run.code, 2) << run.output;
    EXPECT_NE(run.output.find("fr/" + file +
                              ": knows 0 of 57 words or pieces of the texts; give "
                              "a language model of the texts' language"),
              std::string::npos)
        << run.output;
  };
  std::filesystem::copy_file(golden / "words.pkl", root_ / "fr/vocabulary.pkl");
  expect_refused("vocabulary.pkl", "pickle");
  const auto others = weights::read_pickled_words(golden / "words.pkl");
  write_file(root_ / "fr/vocabulary.txt", lines_of(others));
  expect_refused("vocabulary.txt", "list");
}

TEST_F(LanguagesExample, CutsTextsIntoSubwordsByAModel) {
  const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/subwords";
  std::filesystem::copy_file(golden / "unigram.model", root_ / "en/subwords.model");
  const auto run = run_example("languages", flags("--model-dir made"));
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
  EXPECT_NE(bad.output.find("subwords.model: is not a SentencePiece model"), std::string::npos);
}

TEST_F(LanguagesExample, RefusesWeightsThatAreNoLanguageModels) {
  ASSERT_EQ(run_example("languages", flags("--lang en --model-dir made")).code, 0);
  const auto folder = published("made");
  std::filesystem::copy_file(folder / "model.pth", root_ / "fr/pretrained.pth");
  const auto without = run_example("languages", flags("--lang fr", "without"));
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.output.find("vocabulary.txt: is missing"), std::string::npos) << without.output;
  write_file(root_ / "fr/vocabulary.txt", lines_of(forty_french_words()));
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
  EXPECT_TRUE(std::filesystem::exists(published("models") / "model.pth"));  // of both runs
  const auto other = run_example("languages", flags("--seed 2"));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.output.find("other settings"), std::string::npos) << other.output;
}

TEST_F(LanguagesExample, ContinuesAStoppedJobToTheSameBits) {
  const auto whole = run_example("languages", flags("--model-dir whole", "whole"));
  ASSERT_EQ(whole.code, 0) << whole.output;
  int stops = 0;
  tests::Ended part;
  for (double seconds = 0.1; stops < 100; seconds += 0.1) {
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
  std::filesystem::create_directory_symlink(std::filesystem::absolute(tests::small_checkpoint()),
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

TEST_F(LanguagesExample, ReadsFilesWithoutAHeader) {
  const auto weights = [this](const std::string& name, const std::string& more) {
    const auto run = run_example("languages", flags("--lang en --model-dir " + name + more, name));
    EXPECT_EQ(run.code, 0) << run.output;
    return tests::read_file(published(name.c_str()) / "model.pth");
  };
  const auto with_header = weights("a", "");
  for (const char* file : {"train.csv", "valid.csv", "test.csv"}) {
    const auto text = tests::read_file(root_ / "en" / file);
    write_file(root_ / "en" / file, text.substr(text.find('\n') + 1));
  }
  EXPECT_EQ(weights("b", " --columns text,label"), with_header);
}

TEST_F(LanguagesExample, TellsWhatIsWrongWithItsInput) {
  const auto expect = [&](const std::string& more, const std::string& says) {
    const auto run = run_example("languages", flags(more));
    EXPECT_EQ(run.code, 2) << more << "\n" << run.output;
    EXPECT_NE(run.output.find(says), std::string::npos) << more << "\n" << run.output;
  };
  expect("--lang de", "for the language 'de'; there are: en, fr");
  expect("--lang en --bw", "--bw: is only for a published layout");
  expect("--lang en --pretrained nowhere", "--pretrained: is only for a published layout");
  expect("--lang ../en", "--lang");
  expect("--bucket-name UPPER", "UPPER");
  expect("--max-length 2", "--max-length");
  expect("--vocabulary 9", "--vocabulary");
  expect("--columns text,text", "--columns: names 'text' twice");
  expect("--language-model-epochs -2", "--language-model-epochs");
  write_file(root_ / "en/test.csv", "text,label\nThe soup,negative\nThe bread,mixed\n");
  expect("--lang en", "test.csv:3: label: unknown label 'mixed'");
  write_file(root_ / "en/train.csv", "text,label\nThe soup,negative\nThe bread,negative\n");
  expect("--lang en", "fewer than two different labels");
  write_file(root_ / "en/train.csv", "words,label\nThe soup,negative\n");
  expect("--lang en", "no known field for the text among: words, label");
}

/// A directory laid out as the bucket of a published job: texts with one-hot labels.
class PublishedLayout : public LanguagesExample {
 protected:
  void SetUp() override {
    std::string table = "text,categ1,categ2\n";
    for (int i = 0; i < 48; ++i) {
      const bool first = i % 2 == 0, second = i % 3 == 0;
      table += std::string{first ? "The soup was warm and good" : "The bread was cold and bad"} +
               (second ? " in the old town," : " at home,") + (first ? "1," : "0,") +
               (second ? "1\n" : "0\n");
    }
    std::filesystem::create_directories(root_ / "pretrained/en");
    write_file(root_ / "pretrained/en/labelled_dataset.csv", table);
  }

  /// French with a language model of quasi-recurrent layers over SentencePiece's pieces.
  void add_french(const std::string& direction, const std::vector<std::string>& words) const {
    const auto folder = root_ / "pretrained/fr";
    const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/subwords";
    std::filesystem::create_directories(folder / direction);
    std::filesystem::create_directories(folder / "spm");
    std::filesystem::copy_file(root_ / "pretrained/en/labelled_dataset.csv",
                               folder / "labelled_dataset.csv");
    std::filesystem::copy_file(golden / "unigram.model", folder / "spm/spm.model");
    write_file(folder / direction / "vocab.pkl", pickled(words));
    write_file(folder / direction / "config.json", R"({"emb_sz": 6, "n_hid": 10, "n_layers": 2})");
    const auto rows = static_cast<std::int64_t>(words.size());
    std::vector<std::vector<float>> numbers;
    std::vector<weights::TensorView> tensors;
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
      std::size_t count = 1;
      for (const auto size : shape) count *= static_cast<std::size_t>(size);
      auto& made = numbers.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i % 7) / 20 - 0.15F;
      tensors.push_back(
          {name, weights::DType::f32, std::move(shape), std::as_bytes(std::span{made})});
    };
    add("0.encoder.weight", {rows, 6});
    add("0.rnns.0.layers.0.linear.weight_raw", {30, 12});
    add("0.rnns.0.layers.0.linear.module.bias", {30});
    add("0.rnns.1.layers.0.linear.weight_raw", {18, 10});
    add("0.rnns.1.layers.0.linear.module.bias", {18});
    add("1.decoder.bias", {rows});
    weights::write_torch_file(folder / direction / "weights.pth", tensors);
  }

  /// The pieces of the SentencePiece model.
  [[nodiscard]] static std::vector<std::string> pieces() {
    const auto golden = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "golden/subwords";
    return text::load_subwords(golden / "unigram.model").pipeline().texts();
  }

  [[nodiscard]] tests::Ended job(const std::string& more, const std::string& work = "work") const {
    return run_example("languages", flags("--vocabulary 60 " + more, work));
  }
};

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

TEST_F(PublishedLayout, TrainsOnTheDataSetAlone) {
  const auto run = job("--lang en --model-dir out/it");
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_EQ(files_in(root_ / "out/it"),
            (std::vector<std::string>{"description.json", "fastai_model.pth", "label_scores.json",
                                      "manifest.json", "vocabulary.txt"}));
  const auto scores = json::Document::load(root_ / "out/it/label_scores.json");
  std::vector<std::string> labels;
  for (const auto& [label, of_label] : scores.root().members()) {
    labels.emplace_back(label);
    EXPECT_GE(of_label.at("Accuracy").number(), 0);
    EXPECT_TRUE(of_label.find("Recall"));
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"categ1", "categ2"}));
  for (const char* stage : {"language_model_frozen", "classifier_frozen"}) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / "work/ulmfit" /
                                        ("learning_rate_" + std::string{stage} + ".svg")));
  }
  const weights::FastaiFile model{root_ / "out/it/fastai_model.pth"};
  EXPECT_EQ(model.at("1.layers.1.2.weight").shape[0], 3);  // with `other`
  const auto predicted = tests::run_command("echo The soup was good | " SEQTRAIN_EXAMPLES_DIR
                                            "/predict --threads 1 --format lines --model " +
                                            (root_ / "out/it").string());
  EXPECT_EQ(predicted.code, 0) << predicted.output;
  EXPECT_NE(predicted.output.find("categ1"), std::string::npos) << predicted.output;
  const auto again = job("--lang en --model-dir out/it");
  EXPECT_EQ(again.code, 0) << again.output;
  EXPECT_NE(again.output.find("Stage classifier is done already"), std::string::npos);
}

TEST_F(PublishedLayout, TrainsOnOneLabelAndKeepsTheResultsWithoutAFolder) {
  const auto run =
      job("--lang en --label-list categ1 --other-label none --language-model-epochs 0");
  ASSERT_EQ(run.code, 0) << run.output;
  const auto scores = json::Document::load(directory_ / "work/label_scores.json");
  EXPECT_TRUE(scores.root().find("categ1"));
  EXPECT_FALSE(scores.root().find("none"));
  EXPECT_EQ(files_in(root_.path()), (std::vector<std::string>{"pretrained"}));
}

TEST_F(PublishedLayout, TrainsBackwardsFromAQuasiRecurrentModel) {
  add_french("backward", pieces());
  const auto run = job("--bw --model-dir out", "french");  // fr by default
  ASSERT_EQ(run.code, 0) << run.output;
  const weights::FastaiFile model{root_ / "out/fastai_model.pth"};
  EXPECT_EQ(model.at("0.module.rnns.0.layers.0.linear.weight_raw").shape,
            (std::vector<std::int64_t>{30, 12}));
  EXPECT_TRUE(std::filesystem::exists(root_ / "out/subwords.model"));
  const auto forward = job("--model-dir other", "forward");
  EXPECT_EQ(forward.code, 2);
  EXPECT_NE(forward.output.find("forward/weights.pth: is missing"), std::string::npos)
      << forward.output;
  write_file(root_ / "pretrained/fr/backward/config.json", R"({"emb_sz": 6, "n_hid": 11})");
  EXPECT_EQ(job("--bw", "wider").code, 2);
  std::filesystem::remove_all(root_ / "pretrained/fr");
  add_french("backward", {"xxunk", "xxpad", "xxbos"});
  const auto unfit = job("--bw", "unfit");
  EXPECT_EQ(unfit.code, 2);
  EXPECT_NE(unfit.output.find("with the vocabulary that belongs to its weights"), std::string::npos)
      << unfit.output;
  EXPECT_FALSE(std::filesystem::exists(root_ / "other"));
}

TEST_F(PublishedLayout, TellsWhatIsWrongWithItsInput) {
  const auto expect = [&](const std::string& more, const std::string& says) {
    const auto run = job("--lang en --model-dir out " + more);
    EXPECT_EQ(run.code, 2) << more << "\n" << run.output;
    EXPECT_NE(run.output.find(says), std::string::npos) << more << "\n" << run.output;
  };
  expect("--label-list categ1,categ3", "categ3: no such column; there are: text, categ1, categ2");
  expect("--text-col words", "words: no such column");
  expect("--label-list categ1,categ1", "name 'categ1' twice");
  expect("--monitored-metric f2", "--monitored-metric");
  expect("--prediction-threshold 1", "--prediction-threshold");
  expect("--drop-mult -1", "--drop-mult");
  expect("--rate-ratio 0.5", "--rate-ratio");
  expect("--pretrained " + (root_ / "nowhere").string(), "nowhere/weights.pth: is missing");
  expect("--model-filename a/b", "--model-filename");
  expect("--columns text,label", "--columns: is not for a published layout");
  expect("--dataset-filename no.csv", "--dataset-filename: is only for a published layout");
  const auto file = root_ / "pretrained/en/labelled_dataset.csv";
  write_file(file, "text,categ1,categ2\nx,1,0\ny,1,2\n");
  expect("", "labelled_dataset.csv:3: categ2: expected 0 or 1");
  write_file(file, "text,categ1,categ2\nx,1,0\n,1,1\n");
  expect("", "labelled_dataset.csv: has 1 rows without missing values");
  write_file(file, "text,categ1,categ2\nx,1,0\n");
  expect("", "labelled_dataset.csv: has 1 rows without missing values");
  write_file(file, "text,categ1,categ2\n");
  expect("", "0 rows");
  EXPECT_FALSE(std::filesystem::exists(root_ / "out"));
}

TEST_F(PublishedLayout, LeavesFilesAloneThatAreNotItsOwn) {
  const std::string more = "--lang en --language-model-epochs 0";
  std::filesystem::create_directories(directory_ / "work/data");
  std::filesystem::create_directories(directory_ / "mine/published/data");
  write_file(directory_ / "work/data/train.csv", "mine");
  write_file(directory_ / "work/learning_rate_classifier_frozen.json", R"({"suggestion": 1})");
  const auto run = job(more);
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("The range test suggests"), std::string::npos) << run.output;
  EXPECT_EQ(tests::read_file(directory_ / "work/data/train.csv"), "mine");
  const auto kept = directory_ / "work/published/data/train.csv";
  const std::string before = tests::read_file(kept);
  write_file(root_ / "pretrained/en/labelled_dataset.csv",
             tests::read_file(root_ / "pretrained/en/labelled_dataset.csv") + "The tea,1,0\n");
  const auto other = job(more);
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.output.find("work/published: holds a job with other settings or inputs"),
            std::string::npos)
      << other.output;
  EXPECT_EQ(tests::read_file(kept), before);
  write_file(directory_ / "mine/published/data/train.csv", "mine");
  EXPECT_EQ(job(more, "mine").code, 2);
  EXPECT_EQ(tests::read_file(directory_ / "mine/published/data/train.csv"), "mine");
}

TEST_F(PublishedLayout, RefusesALanguageModelThatDoesNotFitItself) {
  int jobs = 0;
  const auto expect = [&](const std::string& says) {
    const auto run = job("--lang fr --model-dir out", "work_" + std::to_string(++jobs));
    EXPECT_EQ(run.code, 2) << run.output;
    EXPECT_NE(run.output.find(says), std::string::npos) << says << "\n" << run.output;
    EXPECT_FALSE(std::filesystem::exists(root_ / "out"));
  };
  add_french("forward", pieces());
  const auto folder = root_ / "pretrained/fr/forward";
  write_file(folder / "config.json", R"({"emb_sz": 6, "n_hid": 11, "n_layers": 2})");
  expect("config.json: n_hid: is 11, but the weights in weights.pth have 10");
  write_file(folder / "config.json", R"({"emb_sz": 6, "n_hid": 10, "n_layers": 2, "qrnn": false})");
  expect("config.json: qrnn: the weights in weights.pth are those of quasi-recurrent layers");
  write_file(folder / "config.json", R"({"emb_sz": 65536, "n_hid": 65536, "n_layers": 2})");
  expect("emb_sz: is 65536, but the weights in weights.pth have 6");
  write_file(folder / "config.json", R"({"emb_sz": 6, "n_hid": 10, "n_layers": 65536})");
  expect("n_layers: is 65536, but the weights in weights.pth have 2");
  write_file(folder / "config.json", R"({"emb_sz": 6, "n_hid": 10, "n_layers": 2, "bidir": true})");
  expect("reads in both directions");
  write_file(folder / "config.json", R"({"emb_sz": 6, "n_hid": 10, "weight_p": 1.5})");
  expect("config.json: weight_p: must be at least 0 and below 1");
  write_file(folder / "config.json", R"({"emb_sz": 6, "n_hid": 10, "n_layers": 2})");
  auto longer = pieces();
  longer.emplace_back("more");
  write_file(folder / "vocab.pkl", pickled(longer));
  expect("has 160 rows, the vocabulary 161 words");
}

TEST_F(PublishedLayout, SaysWhyAScoreIsUndefined) {
  std::string table = "text,categ1,categ2\n";
  for (int i = 0; i < 40; ++i) {
    table += std::string{i % 2 == 0 ? "the soup was warm,1" : "the bread was cold,0"} + ",0\n";
  }
  write_file(root_ / "pretrained/en/labelled_dataset.csv", table);
  const auto run =
      job("--lang en --model-dir out --language-model-epochs 0 --prediction-threshold 0.999");
  ASSERT_EQ(run.code, 0) << run.output;
  const auto scores = json::Document::load(root_ / "out/label_scores.json");
  const auto categ2 = scores.root().at("categ2");
  EXPECT_FALSE(categ2.find("Precision"));
  EXPECT_FALSE(categ2.find("Recall"));
  EXPECT_EQ(categ2.at("Accuracy").number(), 1);
  EXPECT_NE(run.output.find("Precision of categ2 is undefined: no text of the test part was "
                            "predicted to have it"),
            std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("Recall of categ2 is undefined: no text of the test part has it"),
            std::string::npos)
      << run.output;
}

TEST_F(PublishedLayout, UnfreezesGraduallyAndTakesALanguageModelFromElsewhere) {
  add_french("forward", pieces());
  const auto elsewhere = directory_ / "elsewhere";
  std::filesystem::rename(root_ / "pretrained/fr/forward", elsewhere);
  const std::string more = "--model-dir out --pretrained " + elsewhere.string();
  const auto whole = job(more);
  ASSERT_EQ(whole.code, 0) << whole.output;
  EXPECT_EQ(whole.output.find("Stage classifier_2"), std::string::npos);
  const std::string weights = tests::read_file(root_ / "out/fastai_model.pth");
  const auto gradual = job(more + " --gradual-unfreezing --rate-ratio 2.6", "gradual");
  ASSERT_EQ(gradual.code, 0) << gradual.output;
  // The head, two layers and the embedding.
  for (const char* stage : {"_frozen", "_2", "_3", ""}) {
    EXPECT_NE(gradual.output.find("Stage classifier" + std::string{stage} + "\n"),
              std::string::npos)
        << stage << "\n"
        << gradual.output;
  }
  EXPECT_EQ(gradual.output.find("Stage classifier_4"), std::string::npos);
  EXPECT_NE(tests::read_file(root_ / "out/fastai_model.pth"), weights);
}

}  // namespace
}  // namespace seqtrain
