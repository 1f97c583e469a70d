#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/files.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/torch_file.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/compressed.hpp"
#include "support/environment.hpp"
#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::read_file;
using tests::run_example;
using tests::write_file;

const std::filesystem::path pairs =
    std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli";

/// Writes `count` of the bundled pairs into a file.
std::filesystem::path some_pairs(const std::filesystem::path& to, int count) {
  std::ifstream all{pairs / "train.jsonl"};
  std::string text;
  for (std::string line; count-- > 0 && std::getline(all, line);) text += line + "\n";
  return write_file(to, text);
}

class Mnli : public testing::Test {
 protected:
  void SetUp() override { SEQTRAIN_NEEDS_CHECKPOINT(); }

  [[nodiscard]] std::string flags(const std::string& output, const std::string& more = "",
                                  const std::string& epochs = "--epochs 1") const {
    return "--model " + tests::small_checkpoint().string() + " --train-file " + file_.string() +
           " --dev-file " + file_.string() + " --output-dir " + (directory_ / output).string() +
           " --max-length 24 --batch-size 8 --threads 1 --log-every 2 " + epochs + " " + more;
  }

  tests::TemporaryDirectory directory_;
  std::filesystem::path file_ = some_pairs(directory_ / "pairs.jsonl", 32);
};

TEST_F(Mnli, RepeatsARunFromItsRecord) {
  const auto archive = write_file(directory_ / "pairs.jsonl.gz", tests::gzipped(read_file(file_)));
  const auto first = run_example(
      "mnli", "--model_name_or_path " + tests::small_checkpoint().string() + " --train_file " +
                  archive.string() + " --dev-fraction 0.25 --output_dir " +
                  (directory_ / "first").string() +
                  " --max_seq_length 24 --per_device_train_batch_size 8 --num_train_epochs 1 "
                  "--threads 1 --do_train --do_eval true --learning-rate 3.1234567e-5");
  ASSERT_EQ(first.code, 0) << first.output;
  EXPECT_NE(first.output.find("\nTrain: 24 examples; tokens: "), std::string::npos) << first.output;
  EXPECT_NE(first.output.find("\nDev: 8 examples; tokens: "), std::string::npos);
  const auto again =
      run_example("mnli", "--config " + (directory_ / "first/metrics.json").string() +
                              " --output-dir " + (directory_ / "again").string());
  ASSERT_EQ(again.code, 0) << again.output;
  for (const char* name : {"model.pth", "predictions.jsonl"}) {
    EXPECT_EQ(read_file(directory_ / "first" / name), read_file(directory_ / "again" / name))
        << name;
  }
}

TEST_F(Mnli, LeavesAWholeRun) {
  const auto run =
      run_example("mnli", flags("run", "--test-file " + file_.string() + " --job_dir " +
                                           (directory_ / "job").string()));
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("Training with 32/32 examples."), std::string::npos);
  EXPECT_NE(run.output.find("Progress:  25% - Batch:    1/4    - Loss: "), std::string::npos)
      << run.output;
  EXPECT_TRUE(run.output.starts_with("`cuda` available: ")) << run.output;
  EXPECT_NE(run.output.find("\nCurrent Device: c"), std::string::npos) << run.output;
  for (const char* line : {"Starting evaluation...", "Done evaluation",
                           "Dev accuracy after epoch 1: ", "Test accuracy after epoch 1: "}) {
    EXPECT_NE(run.output.find(std::string{"\n"} + line), std::string::npos) << line;
  }

  const auto metrics = json::Document::load(directory_ / "run/metrics.json");
  EXPECT_EQ(metrics.root().at("train").at("steps").integer(), 4);
  EXPECT_EQ(metrics.root().at("test").at("examples").integer(), 32);
  EXPECT_EQ(metrics.root().at("flags").at("batch-size").string(), "8");
  const auto baseline = metrics.root().at("baseline");
  EXPECT_EQ(baseline.at("linear").at("accuracy").number(), 1);  // its own training examples
  EXPECT_LT(baseline.at("majority").at("accuracy").number(), 0.6);
  EXPECT_EQ(baseline.at("examples").integer(), 32);
  EXPECT_NE(run.output.find("\nTF-IDF + linear        1.0000    1.0000\n"), std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("a linear model on TF-IDF has the accuracy 1.0000 on the dev examples"),
            std::string::npos)
      << run.output;
  EXPECT_NE(read_file(directory_ / "run/report.html").find("Beside simple models"),
            std::string::npos);

  const weights::WeightsFolder saved{directory_ / "run/model"};
  const weights::TorchFile state{directory_ / "run/model.pth"};
  EXPECT_EQ(saved.names().size(), state.root().members().size());
  EXPECT_TRUE(saved.find("classifier.weight").has_value());
  EXPECT_TRUE(std::filesystem::exists(directory_ / "run/model/tokenizer.json"));

  std::ifstream log{directory_ / "run/train_log.jsonl"};
  int records = 0;
  for (std::string line; std::getline(log, line); ++records) {
    (void)json::Document::parse(line, "log").root().at("event");
  }
  EXPECT_GE(records, 6);

  int published = 0;
  for (const auto& folder : std::filesystem::directory_iterator{directory_ / "job"}) {
    EXPECT_TRUE(folder.path().filename().string().starts_with("model_2"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.pth"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "metrics.json"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "model/model.safetensors"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "manifest.json"));
    ++published;
  }
  EXPECT_EQ(published, 1);
}

TEST_F(Mnli, AdvisesInTheLogThePageAndTheFigures) {
  const auto write = [&](const char* name, const std::string& labels) {
    std::string rows = "text,label\n";
    for (int i = 0; i < 16; ++i) {
      rows +=
          "text number " + std::to_string(i) + "," + labels[static_cast<std::size_t>(i) % 2] + "\n";
    }
    return write_file(directory_ / name, rows).string();
  };
  const auto run = run_example(
      "mnli", "--model " + tests::small_checkpoint().string() + " --train-file " +
                  write("train.csv", "aa") + " --dev-file " + write("dev.csv", "ab") +
                  " --output-dir " + (directory_ / "run").string() +
                  " --labels a,b --calibrate yes --epochs 1 --max-length 24 --threads 1");
  ASSERT_EQ(run.code, 0) << run.output;
  const auto metrics = json::Document::load(directory_ / "run/metrics.json");
  const std::string text{metrics.root().at("advice").at("one_training_label").string()};
  EXPECT_TRUE(text.starts_with("all training examples have the label 'a'")) << text;
  EXPECT_NE(run.output.find(text), std::string::npos) << run.output;
  EXPECT_NE(read_file(directory_ / "run/report.html").find("<h2>Advice</h2><ul><li>all training"),
            std::string::npos);
  EXPECT_NE(run.output.find("Calibrated on dev: temperature "), std::string::npos) << run.output;
}

TEST_F(Mnli, LogsTheSameLossEverywhere) {
  const auto run = run_example("mnli", flags("run", "--log-format json"));
  ASSERT_EQ(run.code, 0) << run.output;
  std::vector<double> logged, recorded;
  std::istringstream lines{run.output};
  for (std::string line; std::getline(lines, line);) {
    const auto document = json::Document::parse(line, "output");
    if (document.root().at("message").string().starts_with("Progress: ")) {
      logged.push_back(document.root().at("loss").number());
    }
  }
  std::ifstream records{directory_ / "run/train_log.jsonl"};
  for (std::string line; std::getline(records, line);) {
    const auto document = json::Document::parse(line, "log");
    if (document.root().at("event").string() == "step") {
      recorded.push_back(document.root().at("loss").number());
    }
  }
  EXPECT_EQ(recorded.size(), 3U);  // the steps 1, 2 and 4
  EXPECT_EQ(logged, recorded);
}

TEST_F(Mnli, RefusesTextsWithoutAWordBeforeItWritesAnything) {
  std::string text;
  for (const char* label : {"entailment", "neutral"}) {
    text += R"({"gold_label": ")" + std::string{label} + R"(", "sentence1": " ", "sentence2": ""})";
    text += "\n";
  }
  file_ = write_file(directory_ / "blank.jsonl", text);
  const auto run = run_example("mnli", flags("run"));
  EXPECT_EQ(run.code, 2) << run.output;
  EXPECT_NE(run.output.find("blank.jsonl: no text has a word; name another field by --text-field"),
            std::string::npos)
      << run.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

TEST_F(Mnli, HasNoTestWithoutATestFile) {
  const auto run = run_example("mnli", flags("run", "--no-baseline"));
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_EQ(run.output.find("TF-IDF"), std::string::npos) << run.output;
  EXPECT_FALSE(json::Document::load(directory_ / "run/metrics.json").root().find("baseline"));
  EXPECT_NE(run.output.find("\nDev accuracy after epoch 1: "), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("Test"), std::string::npos) << run.output;
  EXPECT_FALSE(json::Document::load(directory_ / "run/metrics.json").root().find("test"));
  EXPECT_EQ(read_file(directory_ / "run/model/README.md").find("test file"), std::string::npos);
  EXPECT_EQ(read_file(directory_ / "run/report.html").find("Decisions on test"), std::string::npos);
}

TEST_F(Mnli, HoldsATenthOutOfAFileOfTexts) {
  std::string text = "text,label\n";
  for (int i = 0; i < 20; ++i) text += i % 2 == 0 ? "A fine day,good\n" : "It rains,bad\n";
  const auto mine = write_file(directory_ / "mine.csv", text).string();
  const auto directory = (directory_ / "run/").string();
  const auto run = run_example("mnli", "--model " + tests::small_checkpoint().string() +
                                           " --train-file " + mine + " --output-dir " + directory +
                                           " --max-length 24 --threads 1 --epochs 1");
  ASSERT_EQ(run.code, 0) << run.output;
  for (const std::string& line :
       {"No --dev-file: a tenth of " + mine + " is held out to evaluate on\n",
        std::string{"\nTrain: 18 examples; "}, std::string{"\nDev: 2 examples; "},
        "\nIts page:    " + directory + "report.html\nLabel texts: "}) {
    EXPECT_NE(run.output.find(line), std::string::npos) << line << run.output;
  }
  EXPECT_NE(read_file(directory_ / "run/report.html").find("<title>run</title>"),
            std::string::npos);
  const auto more = run_example("mnli", "--model " + directory + " --train-file " + mine +
                                            " --output-dir " + (directory_ / "more").string() +
                                            " --max-length 24 --threads 1 --epochs 1");
  EXPECT_EQ(more.code, 0) << more.output;
}

TEST_F(Mnli, LogsJsonOnStdoutAlone) {
  const auto errors = directory_ / "errors";
  const std::string to_errors = "--log-format json 2>" + errors.string();
  const auto run = run_example("mnli", flags("run", "--num-epochs 1 " + to_errors, ""));
  ASSERT_EQ(run.code, 0) << run.output;
  const auto wrong = run_example("mnli", "--unheard-of 1 " + to_errors);
  EXPECT_EQ(wrong.code, 2);
  const auto missing =
      run_example("mnli", "--model " + tests::small_checkpoint().string() +
                              " --train-file no/such/file.jsonl --output-dir x " + to_errors);
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(read_file(errors), "");
  std::map<std::string, int> severities;
  bool table = false;
  std::istringstream lines{run.output + wrong.output + missing.output};
  for (std::string line; std::getline(lines, line);) {
    const auto document = json::Document::parse(line, "log");
    const auto root = document.root();
    ++severities[std::string{root.at("severity").string()}];
    const auto message = root.at("message").string();
    if (message.starts_with("Progress: ")) {
      EXPECT_GT(root.at("loss").number(), 0);
    }
    table = table || message.find("precision") < message.find("\nmacro avg");
  }
  EXPECT_EQ(severities["ERROR"], 2);
  EXPECT_GE(severities["INFO"], 12);
  EXPECT_TRUE(table) << run.output;
}

TEST_F(Mnli, HasTheSameBitsAtAnyNumberOfLoaderWorkers) {
  std::vector<std::string> weights;
  for (const char* workers : {"0", "1", "3"}) {
    const std::string name = std::string{"run"} + workers;
    const auto run =
        run_example("mnli", flags(name, std::string{"--dataloader-num-workers "} + workers));
    ASSERT_EQ(run.code, 0) << run.output;
    weights.push_back(read_file(directory_ / name / "model.pth"));
  }
  EXPECT_FALSE(weights[0].empty());
  EXPECT_TRUE(weights[0] == weights[1]);
  EXPECT_TRUE(weights[0] == weights[2]);
}

TEST_F(Mnli, TrainsTheHeadAloneAndTakesTheOtherOptimizer) {
  const auto run = run_example("mnli", flags("run",
                                             "--freeze-encoder --optim adamw "
                                             "--weight-decay 0.1 --lr-scheduler-type cosine "
                                             "--warmup-ratio 0.5 --max-grad-norm 1 "
                                             "--gradient-accumulation-steps 3 "
                                             "--tokens-per-batch 96 --order file"));
  ASSERT_EQ(run.code, 0) << run.output;
  const weights::WeightsFolder before{tests::small_checkpoint()};
  const weights::WeightsFolder after{directory_ / "run/model"};
  const auto bytes = [](const auto& tensor) {
    return std::vector<std::byte>{tensor->bytes.begin(), tensor->bytes.end()};
  };
  const std::string frozen = "encoder.layer.0.attention.self.query.weight";
  EXPECT_EQ(bytes(before.find(frozen)), bytes(after.find("bert." + frozen)));
  EXPECT_NE(bytes(before.find("pooler.dense.weight")),
            bytes(after.find("bert.pooler.dense.weight")));
}

/// Returns the scores in each line of predictions.jsonl, or of what `predict` writes.
std::vector<std::vector<float>> scores_in(const std::string& lines) {
  std::vector<std::vector<float>> all;
  std::istringstream in{lines};
  for (std::string line; std::getline(in, line);) {
    const auto document = json::Document::parse(line, "answer");
    const auto scores = document.root().at("scores");
    all.emplace_back();
    const auto add = [&](const json::Value& score) {
      all.back().push_back(static_cast<float>(score.number()));
    };
    if (line.find("\"scores\": [") != line.npos || line.find("\"scores\":[") != line.npos) {
      for (const auto& score : scores.items()) add(score);
    } else {
      for (const auto& [label, score] : scores.members()) add(score);
    }
  }
  return all;
}

TEST_F(Mnli, PredictsLongTextsAsItHasTrained) {
  const auto file = write_file(directory_ / "texts.csv",
                               "text,label\nthe film began well and then it was a bad bad mess,no\n"
                               "a slow start but the end of it was as good as it gets,yes\n");
  std::vector<std::string> answers;
  for (const std::string way : {"", "truncate", "tail", "head-tail"}) {
    const auto output = directory_ / ("run" + way);
    const auto flags =
        "--model " + tests::small_checkpoint().string() + " --train-file " + file.string() +
        " --dev-file " + file.string() + " --output-dir " + output.string() +
        " --max-length 7 --epochs 2 --learning-rate 0.01 --precision fp32 --threads 1" +
        (way.empty() ? "" : " --long-texts " + way);
    const auto run = run_example("mnli", flags);
    ASSERT_EQ(run.code, 0) << run.output;
    answers.push_back(read_file(output / "predictions.jsonl"));
    EXPECT_EQ(
        read_file(output / "model/tokenizer_config.json").find("long_texts") != std::string::npos,
        way == "head-tail");
    const auto predicted =
        run_example("predict", "--model " + output.string() + " --threads 1 " + file.string());
    ASSERT_EQ(predicted.code, 0) << predicted.output;
    const auto again = scores_in(predicted.output), known = scores_in(answers.back());
    ASSERT_EQ(again.size(), 2u);
    ASSERT_EQ(known.size(), 2u);
    for (const std::size_t row : {0, 1}) EXPECT_NEAR(again[row][0], known[row][0], 1e-5) << way;
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_NE(answers[1], answers[2]);
  EXPECT_NE(answers[1], answers[3]);
  EXPECT_NE(answers[2], answers[3]);
  const auto wrong = run_example("mnli", flags("wrong", "--long-texts middle"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.output.find("--long-texts: must be truncate, tail, head-tail or windows"),
            std::string::npos)
      << wrong.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "wrong"));
}

/// Writes labelled texts of 3 to 60 words, or pairs of them and a word.
std::filesystem::path some_texts(const std::filesystem::path& to, bool paired = false) {
  std::string text = paired ? "text_pair,text,label\n" : "text,label\n";
  for (int row = 0; row < 16; ++row) {
    if (paired) text += "film,";
    for (int word = 0; word < 3 + row * 4; ++word) {
      text += word % 3 == 0 ? "film " : (row + word) % 5 < 2 ? "good " : "bad ";
    }
    text += row % 2 == 0 ? ",no\n" : ",yes\n";
  }
  return write_file(to, text);
}

/// Expects `predict` to answer the 16 records of a file as a run did that read some in windows.
void expect_predictions_of_windows(const std::filesystem::path& run,
                                   const std::filesystem::path& file) {
  const auto known = scores_in(read_file(run / "predictions.jsonl"));
  const auto predicted =
      run_example("predict", "--threads 1 --model " + run.string() + " " + file.string());
  ASSERT_EQ(predicted.code, 0) << predicted.output;
  const auto again = scores_in(predicted.output);
  ASSERT_EQ(again.size(), 16u);
  ASSERT_EQ(known.size(), 16u);
  for (std::size_t row = 0; row < 16; ++row) EXPECT_NEAR(again[row][0], known[row][0], 1e-5);
  EXPECT_NE(predicted.output.find(R"("window":{"index":)"), std::string::npos) << predicted.output;
}

TEST_F(Mnli, ReadsLongTextsInWindows) {
  file_ = some_texts(directory_ / "texts.csv");
  const std::string windows =
      "--long-texts windows --stride 4 --window-pooling max --precision fp32 ";
  const auto run = run_example("mnli", flags("run", windows + "--keep-last-checkpoint"));
  ASSERT_EQ(run.code, 0) << run.output;
  ASSERT_EQ(run_example("mnli", flags("few", windows + "--dataloader-num-workers 3")).code, 0);
  EXPECT_TRUE(read_file(directory_ / "run/model.pth") == read_file(directory_ / "few/model.pth"));
  ASSERT_EQ(run_example("mnli", flags("cut", "--long-texts truncate --precision fp32")).code, 0);
  EXPECT_FALSE(read_file(directory_ / "run/model.pth") == read_file(directory_ / "cut/model.pth"));
  expect_predictions_of_windows(directory_ / "run", file_);
  EXPECT_NE(read_file(directory_ / "run/report.html").find(" decided: "), std::string::npos);
  const std::string files = " --train-file " + file_.string() + " --dev-file " + file_.string();
  const auto further = run_example(
      "mnli", "--model " + (directory_ / "run/model").string() + files + " --epochs 1 --threads 1" +
                  " --output-dir " + (directory_ / "further").string());
  ASSERT_EQ(further.code, 0) << further.output;
  EXPECT_EQ(read_file(directory_ / "further/model/tokenizer_config.json"),
            read_file(directory_ / "run/model/tokenizer_config.json"));
  ASSERT_EQ(run_example("mnli", flags("whole", windows, "--epochs 2")).code, 0);
  ASSERT_EQ(run_example("mnli", flags("run", windows + "--resume auto", "--epochs 2")).code, 0);
  EXPECT_TRUE(read_file(directory_ / "whole/model.pth") == read_file(directory_ / "run/model.pth"));
}

TEST_F(Mnli, ReadsLongPairsInWindows) {
  file_ = some_texts(directory_ / "pairs.csv", true);
  const std::string windows = "--long-texts windows --stride 4 --precision fp32 ";
  const auto run = run_example("mnli", flags("run", windows));
  ASSERT_EQ(run.code, 0) << run.output;
  ASSERT_EQ(run_example("mnli", flags("few", windows + "--dataloader-num-workers 3")).code, 0);
  EXPECT_TRUE(read_file(directory_ / "run/model.pth") == read_file(directory_ / "few/model.pth"));
  expect_predictions_of_windows(directory_ / "run", file_);
}

TEST_F(Mnli, ShowsNoDecidingWindowOfARegression) {
  std::string text = read_file(some_texts(directory_ / "texts.csv"));
  for (const auto& [name, value] : {std::pair{",no\n", ",0.5\n"}, {",yes\n", ",1.5\n"}}) {
    for (auto at = text.find(name); at != text.npos; at = text.find(name)) {
      text.replace(at, std::string_view{name}.size(), value);
    }
  }
  file_ = write_file(directory_ / "numbers.csv", text);
  const auto run =
      run_example("mnli", flags("run", "--long-texts windows --problem-type regression"));
  ASSERT_EQ(run.code, 0) << run.output;
  const auto page = read_file(directory_ / "run/report.html");
  EXPECT_NE(page.find("finished"), std::string::npos) << run.output;
  EXPECT_EQ(page.find(" decided"), std::string::npos);
}

TEST_F(Mnli, TrainsOnATextOfAHundredThousandWords) {
  std::string text = "text,label\nshort,no\n";
  for (int word = 0; word < 100'000; ++word) text += word % 3 == 0 ? "film " : "bad ";
  file_ = write_file(directory_ / "texts.csv", text + ",yes\n");
  const auto run =
      run_example("mnli", flags("run", "--long-texts windows --tokens-per-batch 4096"));
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("longest 100002"), std::string::npos) << run.output;
}

TEST_F(Mnli, RefusesWindowsThatDoNotFit) {
  const auto problem = [&](const std::string& more) {
    const auto run = run_example("mnli", flags("wrong", more));
    EXPECT_EQ(run.code, 2) << run.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "wrong"));
    return run.output;
  };
  const auto expect = [&](const std::string& more, const std::string& part) {
    const auto output = problem(more);
    EXPECT_NE(output.find(part), std::string::npos) << output;
  };
  expect("--stride 4", "--stride: needs --long-texts windows");
  expect("--window-pooling max", "--window-pooling: needs --long-texts windows");
  expect("--long-texts windows --stride 24", "stride: 24 leaves no room for new ids");
  expect("--long-texts windows --stride 22", "stride: 22 leaves no room for new ids");
}

TEST_F(Mnli, TrainsAdaptersThatPredictAsTheMergedModelDoes) {
  const std::string lora = "--lora-rank 4 --lora-target attention --learning-rate 1e-2 ";
  const auto run = run_example("mnli", flags("run", lora));
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("LoRA: rank 4 on "), std::string::npos) << run.output;
  for (const char* name :
       {"adapter_config.json", "adapter_model.safetensors", "config.json", "vocab.txt"}) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / "run/model" / name)) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run/model/model.safetensors"));
  const auto whole = run_example("mnli", flags("whole", lora + "--merge-adapter"));
  ASSERT_EQ(whole.code, 0) << whole.output;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "whole/model/model.safetensors"));
  const auto predict = [&](const std::string& name) {
    return run_example("predict", "--threads 1 --model " + (directory_ / name).string() +
                                      " --file " + file_.string());
  };
  const auto answers = predict("run");
  ASSERT_EQ(answers.code, 0) << answers.output;
  EXPECT_EQ(answers.output, predict("whole").output);
  const auto again =
      run_example("mnli", "--model " + (directory_ / "run").string() + " --train-file " +
                              file_.string() + " --output-dir " + (directory_ / "again").string());
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.output.find("is an adapter; train from its base"), std::string::npos)
      << again.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "again"));
}

TEST_F(Mnli, ResumesAdaptersToTheSameBits) {
  const std::string lora =
      "--lora-rank 2 --lora-dropout 0.1 --keep-last-checkpoint --lr-scheduler-type constant ";
  ASSERT_EQ(run_example("mnli", flags("whole", lora, "--epochs 2")).code, 0);
  ASSERT_EQ(run_example("mnli", flags("parts", lora)).code, 0);
  const auto other = run_example(
      "mnli",
      flags("parts", "--lora-rank 3 --lr-scheduler-type constant --resume auto", "--epochs 2"));
  EXPECT_EQ(other.code, 2) << other.output;
  EXPECT_NE(other.output.find("lora-rank"), std::string::npos) << other.output;
  const auto rest = run_example("mnli", flags("parts", lora + "--resume auto", "--epochs 2"));
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_TRUE(read_file(directory_ / "whole/model.pth") ==
              read_file(directory_ / "parts/model.pth"));
  EXPECT_LT(std::filesystem::file_size(directory_ / "whole/model.pth"),
            std::filesystem::file_size(tests::small_checkpoint() / "model.safetensors") / 2);
}

TEST_F(Mnli, ResumesAveragesToTheSameBits) {
  const std::string averaged =
      "--ema-decay 0.9 --best-model --keep-last-checkpoint --lr-scheduler-type constant ";
  ASSERT_EQ(run_example("mnli", flags("whole", averaged, "--epochs 2")).code, 0);
  ASSERT_EQ(run_example("mnli", flags("parts", averaged)).code, 0);
  const auto rest = run_example("mnli", flags("parts", averaged + "--resume auto", "--epochs 2"));
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_TRUE(read_file(directory_ / "whole/model.pth") ==
              read_file(directory_ / "parts/model.pth"));
  ASSERT_EQ(run_example("mnli", flags("plain", "", "--epochs 2")).code, 0);
  EXPECT_FALSE(read_file(directory_ / "whole/model.pth") ==
               read_file(directory_ / "plain/model.pth"));
}

TEST_F(Mnli, ResumesMomentsOfOneByteToTheSameBits) {
  const std::string bytes =
      "--optim adamw_8bit --ema-decay 0.9 --keep-last-checkpoint --lr-scheduler-type constant ";
  ASSERT_EQ(run_example("mnli", flags("whole", bytes, "--epochs 2")).code, 0);
  ASSERT_EQ(run_example("mnli", flags("parts", bytes)).code, 0);
  const auto other = run_example(
      "mnli", flags("parts", "--optim adamw --ema-decay 0.9 --resume auto", "--epochs 2"));
  EXPECT_EQ(other.code, 2) << other.output;
  EXPECT_NE(other.output.find("optim (adamw-8bit there, adamw here)"), std::string::npos)
      << other.output;
  const auto rest = run_example("mnli", flags("parts", bytes + "--resume auto", "--epochs 2"));
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_TRUE(read_file(directory_ / "whole/model.pth") ==
              read_file(directory_ / "parts/model.pth"));
  ASSERT_EQ(run_example("mnli", flags("plain", "--optim adamw --ema-decay 0.9", "--epochs 2")).code,
            0);
  EXPECT_FALSE(read_file(directory_ / "whole/model.pth") ==
               read_file(directory_ / "plain/model.pth"));
}

TEST_F(Mnli, RefusesAdaptersThatFitNothing) {
  const auto refused = [&](const std::string& more, const std::string& reason) {
    const auto run = run_example("mnli", flags("run", more));
    EXPECT_EQ(run.code, 2) << more;
    EXPECT_NE(run.output.find(reason), std::string::npos) << more << run.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
  };
  refused("--lora-rank 100000", "is above the sizes of bert.encoder.layer.0.attention.self.query");
  refused("--lora-rank 2 --lora-target q_lin",
          "'q_lin' fits no linear layer of the encoder; a map's name is ");
  refused("--lora-rank -1", "--lora-rank: must not be negative");
  refused("--lora-alpha 3", "--lora-rank: is needed for adapters");
  refused("--lora-rank 2 --lora-alpha 0", "--lora-alpha: must be a number above 0");
  refused("--lora-rank 2 --freeze-encoder", "--freeze-encoder: does not go with --lora-rank");
}

TEST_F(Mnli, TrainsOnAFewExamplesAsASentenceEncoder) {
  file_ = some_texts(directory_ / "texts.csv");
  const std::string few = "--few-shot --learning-rate 1e-3 --precision fp32 ";
  const auto run = run_example("mnli", flags("run", few));
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("Few-shot: the embedding of a text is the mean of its tokens, not "
                            "normalized"),
            std::string::npos)
      << run.output;
  const auto model = directory_ / "run/model";
  EXPECT_TRUE(std::filesystem::exists(model / "1_Pooling/config.json"));
  EXPECT_NE(read_file(model / "modules.json").find("\"2_Dense\""), std::string::npos);
  EXPECT_NE(read_file(model / "config.json").find("\"BertModel\""), std::string::npos);
  EXPECT_NE(read_file(model / "README.md").find("library_name: sentence-transformers"),
            std::string::npos);
  const auto metrics = json::Document::load(directory_ / "run/metrics.json");
  EXPECT_EQ(metrics.root().at("train").at("steps").integer(), 18);  // 2 · 72 pairs of 16 texts
  EXPECT_EQ(metrics.root().at("flags").at("lr-scheduler-type").string(), "linear");
  const auto known = scores_in(read_file(directory_ / "run/predictions.jsonl"));
  const auto predicted =
      run_example("predict", "--threads 1 --max-length 24 --model " +
                                 (directory_ / "run").string() + " " + file_.string());
  ASSERT_EQ(predicted.code, 0) << predicted.output;
  const auto again = scores_in(predicted.output);
  ASSERT_EQ(known.size(), 16u);
  ASSERT_EQ(again.size(), 16u);
  for (std::size_t row = 0; row < 16; ++row) EXPECT_NEAR(again[row][0], known[row][0], 1e-5);
  ASSERT_EQ(run_example("mnli", flags("workers", few + "--dataloader-num-workers 3")).code, 0);
  EXPECT_TRUE(read_file(directory_ / "run/model.pth") ==
              read_file(directory_ / "workers/model.pth"));
  // A second run begins with the encoder and the head of the first.
  for (const char* more : {"--few-shot", ""}) {
    const auto next = run_example(
        "mnli", "--model " + model.string() + " --train-file " + file_.string() + " --dev-file " +
                    file_.string() + " --epochs 1 --threads 1 " + more +
                    " --overwrite --output-dir " + (directory_ / "second").string());
    ASSERT_EQ(next.code, 0) << next.output;
    EXPECT_TRUE(std::filesystem::exists(directory_ / "second/model/2_Dense/model.safetensors"));
  }
}

TEST_F(Mnli, ResumesARunOnAFewExamplesToTheSameBits) {
  file_ = some_texts(directory_ / "texts.csv");
  const std::string few =
      "--few-shot --lr-scheduler-type constant --warmup-ratio 0 --keep-last-checkpoint ";
  ASSERT_EQ(run_example("mnli", flags("whole", few, "--epochs 2")).code, 0);
  ASSERT_EQ(run_example("mnli", flags("parts", few)).code, 0);
  const auto rest = run_example("mnli", flags("parts", few + "--resume auto", "--epochs 2"));
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_TRUE(read_file(directory_ / "whole/model.pth") ==
              read_file(directory_ / "parts/model.pth"));
}

TEST_F(Mnli, RefusesWhatFewExamplesCannotTrain) {
  file_ = some_texts(directory_ / "texts.csv");
  const auto refused = [&](const std::string& more, const std::string& reason) {
    const auto run = run_example("mnli", flags("run", "--few-shot " + more));
    EXPECT_EQ(run.code, 2) << more;
    EXPECT_NE(run.output.find(reason), std::string::npos) << more << run.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
  };
  refused("--labels no,yes,maybe", "has no example of the label 'maybe'");
  refused("--problem-type regression", "does not go with regression");
  refused("--problem-type multi_label_classification",
          "does not go with multi_label_classification");
  refused("--freeze-encoder", "--few-shot: does not go with --freeze-encoder");
  refused("--lora-rank 2", "--few-shot: does not go with --lora-rank");
  refused("--head-learning-rate 1", "--few-shot: does not go with --head-learning-rate");
  refused("--long-texts windows", "--few-shot: does not go with --long-texts windows");
  refused("--loss focal", "--few-shot: does not go with --loss");
  refused("--teacher " + file_.string(), "--few-shot: does not go with --teacher");
  refused("--order shuffle", "--few-shot: does not go with --order");
  refused("--bucket-pool 7", "--few-shot: does not go with --bucket-pool");
  file_ = write_file(directory_ / "pairs.jsonl",
                     "{\"text\": \"good\", \"label\": \"yes\"}\n"
                     "{\"text\": \"bad\", \"text_pair\": \"film\", \"label\": \"no\"}\n");
  refused("", "pairs.jsonl:2: has two texts; --few-shot embeds one text of each example");
}

TEST_F(Mnli, KeepsARunUnlessToldOtherwise) {
  std::filesystem::create_directories(directory_ / "run");
  write_file(directory_ / "run/metrics.json", "{}");
  const auto refused = run_example("mnli", flags("run"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.output.find("--overwrite"), std::string::npos);
  EXPECT_EQ(read_file(directory_ / "run/metrics.json"), "{}");
  EXPECT_EQ(run_example("mnli", flags("run", "--overwrite --max-steps 1")).code, 0);
  EXPECT_NE(read_file(directory_ / "run/metrics.json"), "{}");
}

/// Returns the folders of a run's checkpoints.
std::vector<std::string> checkpoints_in(const std::filesystem::path& run) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{run / "checkpoints"}) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("checkpoint-")) found.push_back(name);
  }
  return found;
}

TEST_F(Mnli, RemovesTheCheckpointsOfAFinishedRunUnlessAskedToKeepThem) {
  const auto other = directory_ / "run/checkpoints/all-MiniLM-L6-v2";
  std::filesystem::create_directories(other);
  ASSERT_EQ(run_example("mnli", flags("run", "--checkpoint-every 1")).code, 0);
  EXPECT_EQ(checkpoints_in(directory_ / "run"), std::vector<std::string>{});
  EXPECT_TRUE(std::filesystem::exists(other));
  const auto model = tests::read_file(directory_ / "run/model.pth");
  const auto refused = run_example("mnli", flags("run", "--resume auto --seed 5"));
  EXPECT_EQ(refused.code, 2) << refused.output;
  EXPECT_NE(refused.output.find("holds a finished run, but no checkpoint"), std::string::npos);
  EXPECT_EQ(tests::read_file(directory_ / "run/model.pth"), model);
  ASSERT_EQ(run_example("mnli", flags("kept", "--keep-last-checkpoint")).code, 0);
  EXPECT_EQ(checkpoints_in(directory_ / "kept"), std::vector<std::string>{"checkpoint-4"});
  const auto longer = run_example("mnli", flags("kept", "--resume auto", "--epochs 2"));
  ASSERT_EQ(longer.code, 0) << longer.output;
  EXPECT_NE(longer.output.find("extended from 4 to 8 steps"), std::string::npos) << longer.output;
}

TEST_F(Mnli, DoesNotWriteWhereAnotherProgramDoes) {
  const auto held = lock_directory(directory_ / "run");
  const auto checkpoints = (directory_ / "its own").string();
  const auto refused = run_example("mnli", flags("run", "--checkpoint-dir '" + checkpoints + "'"));
  EXPECT_EQ(refused.code, 2) << refused.output;
  EXPECT_NE(refused.output.find((directory_ / "run").string() +
                                ": another program writes its run here; wait for it"),
            std::string::npos)
      << refused.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run/model"));
}

TEST_F(Mnli, ReplacesTheCheckpointsOfAnOverwrittenRunByItsOwn) {
  const std::string keep = "--keep-last-checkpoint ";
  ASSERT_EQ(run_example("mnli", flags("run", keep + "--max-steps 1")).code, 0);
  EXPECT_EQ(checkpoints_in(directory_ / "run"), std::vector<std::string>{"checkpoint-1"});
  const std::string bad = "--max-steps 2 --overwrite --metric-for-best-model f7";
  EXPECT_EQ(run_example("mnli", flags("run", bad)).code, 2);
  EXPECT_EQ(checkpoints_in(directory_ / "run"), std::vector<std::string>{"checkpoint-1"});
  ASSERT_EQ(run_example("mnli", flags("run", keep + "--max-steps 2 --overwrite")).code, 0);
  EXPECT_EQ(checkpoints_in(directory_ / "run"), std::vector<std::string>{"checkpoint-2"});
}

TEST_F(Mnli, LeavesTheFilesOfARunThatGoesOnInAnotherProcess) {
  std::filesystem::create_directories(directory_ / "run/checkpoints");
  std::filesystem::create_directories(directory_ / "run/model.partial");
  const FileLock other{directory_ / "run/checkpoints/.lock"};
  const auto refused = run_example("mnli", flags("run", "--resume auto"));
  EXPECT_EQ(refused.code, 2) << refused.output;
  EXPECT_NE(refused.output.find("another process"), std::string::npos) << refused.output;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "run/model.partial"));
}

TEST_F(Mnli, TellsLinesAndFlagsOfWrongInput) {
  const auto broken = write_file(directory_ / "broken.jsonl", read_file(file_) + "{\"a\": \n");
  const auto unknown = write_file(
      directory_ / "unknown.jsonl",
      read_file(file_) + R"({"gold_label": "maybe", "sentence1": "a", "sentence2": "b"})" + "\n");
  const auto invalid =
      write_file(directory_ / "invalid.jsonl", read_file(file_) +
                                                   "{\"gold_label\": \"neutral\", \"sentence1\": "
                                                   "\"\xff\", \"sentence2\": \"b\"}\n");
  const auto empty = write_file(directory_ / "empty.jsonl", "");
  const struct {
    std::string flags;
    std::string says;
  } cases[] = {
      {"--train-file " + broken.string(), "broken.jsonl:33"},
      {"--train-file " + unknown.string(), "unknown.jsonl:33"},
      {"--train-file " + invalid.string(), "invalid.jsonl:33"},
      {"--train-file " + empty.string(), "empty.jsonl"},
      {"--train-file no/such/file.jsonl", "no/such/file.jsonl"},
      {"--model " + directory_.path().string(), "holds no model"},
      {"--batch-size 0", "--batch-size"},
      {"--fraction-of-train-data 0", "--fraction-of-train-data"},
      {"--fraction-of-train-data 1.5", "--fraction-of-train-data"},
      {"--learning-rate -1", "--learning-rate"},
      {"--learning-rate nan", "--learning-rate"},
      {"--threads 0", "--threads"},
      {"--max-length 513", "513"},
      {"--max-length 3", "special tokens"},
      {"--precision fp8", "fp8"},
      {"--device tpu", "tpu"},
      {"--labels a,b,c", "a, b, c"},
      {"--job-dir gs://", "gs://"},
      {"--train-file gs://UPPER/x.jsonl", "UPPER"},
      {"--output-dir /proc/nowhere", "/proc/nowhere"},
      {"--unheard-of 1", "unheard-of"},
  };
  for (const auto& [more, says] : cases) {
    // A flag may be given only once, so the flag of the case replaces the usual one.
    std::string all = flags("wrong");
    const std::string name = more.substr(0, more.find(' ') + 1);
    if (const auto usual = all.find(name); usual != std::string::npos) {
      const auto value = usual + name.size();
      all.erase(usual, all.find(' ', value) + 1 - usual);
    }
    const auto run = run_example("mnli", all + more);
    EXPECT_EQ(run.code, 2) << more << "\n" << run.output;
    EXPECT_NE(run.output.find(says), std::string::npos) << more << "\n" << run.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "wrong")) << more;
  }
}

TEST_F(Mnli, FindsWrongInputBeforeItFetchesTheModel) {
  const tests::Environment offline{"HF_HUB_OFFLINE", "1"};
  const auto good = write_file(directory_ / "good.csv", "text,label\na,x\nb,y\n").string();
  const auto line = write_file(directory_ / "line.csv", "text,label\na,x\nb\n").string();
  const auto empty = write_file(directory_ / "empty.csv", "text,label\na,x\nb,\n").string();
  const auto column = write_file(directory_ / "column.csv", "text\na\n").string();
  const auto used = directory_ / "used";
  std::filesystem::create_directories(used);
  write_file(used / "metrics.json", "{}");
  const std::pair<std::string, std::string> cases[] = {
      {"--train-file no/such.csv", "no/such.csv: "},
      {"--train-file " + line, "line.csv:3: expected 2 columns, found 1"},
      {"--train-file " + empty, "empty.csv:3: the label is empty"},
      {"--train-file " + good + " --dev-file no/dev.csv", "no/dev.csv: "},
      {"--train-file " + good + " --dev-file " + good + " --test-file " + column,
       "column.csv: no known field for the label"},
      {"--train-file " + good + " --output-dir " + used.string(), "already holds a run"}};
  for (const auto& [flags, says] : cases) {
    const auto run = run_example("mnli", "--model no/such-model " + flags);
    EXPECT_EQ(run.code, 2) << run.output;
    EXPECT_NE(run.output.find(says), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("no/such-model"), std::string::npos) << run.output;
  }
  const auto run = run_example("mnli", "--model no/such-model --train-file " + good);
  EXPECT_NE(run.output.find("no/such-model"), std::string::npos) << run.output;
}

TEST_F(Mnli, AsksForAFileToTrainOn) {
  for (const char* const command : {"/seqtrain train --threads 1", "/seqtrain mnli --threads 1"}) {
    const auto run = tests::run_command("cd " + directory_.path().string() + " && " +
                                        SEQTRAIN_EXAMPLES_DIR + command);
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.output.find("error: --train-file: is needed; name a .csv"), std::string::npos)
        << run.output;
  }
  const auto run = tests::run_command("cd " SEQTRAIN_TESTS_DIR "/.. && " SEQTRAIN_EXAMPLES_DIR
                                      "/seqtrain train --model no/such-model --threads 1");
  EXPECT_NE(run.output.find("--train-file: is needed"), std::string::npos) << run.output;
}

TEST_F(Mnli, CutsAPremiseOfAMegabyte) {
  const std::string word = "premise ";
  std::string premise;
  while (premise.size() < 1'000'000) premise += word;
  write_file(file_, read_file(file_) + R"({"gold_label": "neutral", "sentence1": ")" + premise +
                        R"(", "sentence2": "A short one."})" + "\n");
  const auto run = run_example("mnli", flags("run", "--max-steps 1"));
  EXPECT_EQ(run.code, 0) << run.output;
}

TEST_F(Mnli, TakesAllExamplesOfAFileThatNamesTheirSplits) {
  std::string rows = "title,body,label,part,who\n";
  for (int i = 0; i < 40; ++i) {
    const std::string label = i % 8 == 7 ? "" : i % 2 == 0 ? "good" : "bad";
    const char* part = i % 5 == 4 ? "test" : i % 5 == 3 ? "Validation" : "train";
    rows += "Title " + std::to_string(i) + ",A text about " + label + " things," + label + "," +
            part + ",w" + std::to_string(i / 4) + "\n";
  }
  const auto file = write_file(directory_ / "all.csv", rows).string();
  const std::string base = "--model " + tests::small_checkpoint().string() + " --train-file " +
                           file +
                           " --text-field title,body --skip-unlabelled --max-length 24 --threads 1 "
                           "--max-steps 2 --batch-size 8 ";
  const auto run = run_example(
      "mnli", base + "--split-field part --output-dir " + (directory_ / "by_split").string());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("Training with 21/21 examples"), std::string::npos) << run.output;
  const auto metrics = json::Document::load(directory_ / "by_split/metrics.json");
  EXPECT_EQ(metrics.root().at("data").at("dev").at("examples").integer(), 7);
  EXPECT_TRUE(metrics.root().find("test").has_value());
  const std::string predictions = tests::read_file(directory_ / "by_split/predictions.jsonl");
  EXPECT_EQ(std::ranges::count(predictions, '\n'), 14);
  // The rows are those of the file, whose parts are mixed.
  EXPECT_EQ(predictions.find(R"("split":"dev","row":1,)"), std::string::npos) << predictions;

  const auto by_group =
      run_example("mnli", base + "--group-field who --dev-fraction 0.3 " + "--output-dir " +
                              (directory_ / "by_group").string());
  EXPECT_EQ(by_group.code, 0) << by_group.output;

  for (const auto& [more, says] :
       {std::pair{"--split-field who", "who: record 1 is in an unknown split, 'w0'"},
        {"--split-field none", "none: no such field; there are: title, body, label, part, who"},
        {"--group-field none", "none: no such field; there are: "},
        {"--columns a", "title: no such field; there are: a"},
        {"--split-field part --dev-fraction 0.5", "names records for dev"}}) {
    const auto wrong =
        run_example("mnli", base + more + " --output-dir " + (directory_ / "wrong").string());
    EXPECT_EQ(wrong.code, 2) << more << wrong.output;
    EXPECT_NE(wrong.output.find(says), std::string::npos) << more << "\n" << wrong.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "wrong")) << more;
  }
}

TEST_F(Mnli, SamplesALabelOfASortedFileAsOftenAsTheOther) {
  std::string rows = "text,label\n";
  for (int i = 0; i < 200; ++i) {
    rows += "Text number " + std::to_string(i) + (i < 150 ? ",a\n" : ",b\n");
  }
  const auto file = write_file(directory_ / "sorted.csv", rows).string();
  const auto run = run_example(
      "mnli", "--model " + tests::small_checkpoint().string() + " --train-file " + file +
                  " --dev-file " + file + " --fraction-of-train-data 0.04 --max-length 16 " +
                  "--threads 1 --max-steps 1 --output-dir " + (directory_ / "sample").string());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_NE(run.output.find("a 6 (75.0 %), b 2 (25.0 %)"), std::string::npos) << run.output;
}

TEST_F(Mnli, FindsTooManyExamplesForFewShotBeforeItEncodesOne) {
  std::string rows = "text,label\n";
  for (int i = 0; i < 3400; ++i) rows += i % 2 == 0 ? "good,a\n" : "bad,b\n";
  const auto file = write_file(directory_ / "many.csv", rows).string();
  const auto run = run_example("mnli", "--model " + tests::small_checkpoint().string() +
                                           " --train-file " + file + " --few-shot --threads 1" +
                                           " --output-dir " + (directory_ / "many").string());
  EXPECT_EQ(run.code, 2) << run.output;
  EXPECT_NE(run.output.find("--few-shot: lists all pairs, and those of 3060 examples"),
            std::string::npos)
      << run.output;
  EXPECT_EQ(run.output.find("Training with"), std::string::npos) << run.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "many"));
}

}  // namespace
}  // namespace seqtrain
