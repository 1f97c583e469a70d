#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/compressed.hpp"
#include "support/environment.hpp"
#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::run_example;
using tests::write_file;

/// A model that was fine-tuned for one step, made once.
class Predict : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!std::filesystem::exists(tests::default_checkpoint())) return;
    directory_ = new tests::TemporaryDirectory;
    const auto file = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli/dev.jsonl";
    const auto run = run_example("mnli", "--model " + tests::small_checkpoint().string() +
                                             " --train-file " + file.string() + " --dev-file " +
                                             file.string() + " --fraction-of-train-data 0.05" +
                                             " --max-steps 1 --max-length 24 --threads 1" +
                                             " --output-dir " + (*directory_ / "run").string());
    ASSERT_EQ(run.code, 0) << run.output;
  }
  static void TearDownTestSuite() {
    delete directory_;
    directory_ = nullptr;
  }

  void SetUp() override { SEQTRAIN_NEEDS_CHECKPOINT(); }

  static tests::Ended predict(const std::string& lines, const std::string& flags = "") {
    const auto input = write_file(*directory_ / "input.jsonl", lines);
    return run_example("predict", "--threads 1 --model " + (*directory_ / "run/model").string() +
                                      " " + flags + " < " + input.string());
  }

  static inline tests::TemporaryDirectory* directory_ = nullptr;
};

constexpr const char* three_lines =
    R"({"text": "A man sleeps on a very long train to the north of the country.", )"
    R"("text_pair": "A man is awake."}
{"text": "Two dogs run.", "text_pair": "Dogs move."}
{"text": "No pair here"}
)";

TEST_F(Predict, KeepsTheOrderAtAnyBatchSize) {
  const auto one = predict(three_lines, "--batch-size 1 --device cpu");
  const auto all = predict(three_lines, "--batch-size 32");
  ASSERT_EQ(one.code, 0) << one.output;
  std::istringstream first{one.output};
  std::istringstream second{all.output};
  int lines = 0;
  for (std::string a, b; std::getline(first, a) && std::getline(second, b); ++lines) {
    const auto x = json::Document::parse(a, "a");
    const auto y = json::Document::parse(b, "b");
    const auto left = x.root().at("logits").items();
    const auto right = y.root().at("logits").items();
    ASSERT_EQ(left.size(), 3U);
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      EXPECT_NEAR(left[i].number(), right[i].number(), 1e-4);
      sum += x.root().at("scores").members()[i].second.number();
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_TRUE(x.root().at("scores").find(x.root().at("label").string()).has_value());
  }
  EXPECT_EQ(lines, 3);
}

TEST_F(Predict, TellsTheLineOfWrongInput) {
  const auto broken = predict(std::string{three_lines} + "not JSON\n");
  EXPECT_EQ(broken.code, 2);
  EXPECT_NE(broken.output.find("stdin:4"), std::string::npos) << broken.output;
  EXPECT_NE(broken.output.find("\"line\":4}\n"), std::string::npos) << broken.output;
  EXPECT_NE(broken.output.find("1 of 4 records are wrong"), std::string::npos) << broken.output;
  EXPECT_EQ(predict(three_lines, "--batch-size 0").code, 2);
  EXPECT_EQ(predict(three_lines, "--format xml").code, 2);
}

TEST_F(Predict, EndsAtTheFirstWrongRecordIfItIsStrict) {
  const std::string first{three_lines, std::string_view{three_lines}.find('\n') + 1};
  const auto strict = predict(first + "[]\n" + three_lines, "--strict");
  EXPECT_EQ(strict.code, 2);
  const auto lines = std::ranges::count(strict.output, '\n');
  EXPECT_EQ(lines, 2) << strict.output;
  EXPECT_NE(strict.output.find("error: stdin:2: expected a JSON object"), std::string::npos)
      << strict.output;
}

TEST_F(Predict, ReadsTablesAndPlainLines) {
  const auto expected = predict(three_lines).output;
  const auto pair = expected.substr(0, expected.find('\n') + 1);
  const std::string text = "A man sleeps on a very long train to the north of the country.";
  EXPECT_EQ(predict("text\ttext_pair\n" + text + "\tA man is awake.\n").output, pair);
  EXPECT_EQ(predict("text,text_pair\n\"" + text + "\",A man is awake.\n").output, pair);
  const auto single = predict("No pair here", "--format lines").output;
  EXPECT_EQ(single, predict(R"({"text": "No pair here"})").output);
  EXPECT_TRUE(expected.ends_with(single)) << single;
}

TEST_F(Predict, ShowsTheBestScoresOnly) {
  const auto best = predict("{\"text\": \"a\"}", "--top-k 2 --precision auto");
  ASSERT_EQ(best.code, 0) << best.output;
  const auto document = json::Document::parse(best.output, "a");
  const auto scores = document.root().at("scores").members();
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[0].first, document.root().at("label").string());
  EXPECT_GE(scores[0].second.number(), scores[1].second.number());
  EXPECT_FALSE(document.root().find("logits").has_value());
}

TEST_F(Predict, GivesLabelsForWhichTheModelWasNotTrained) {
  const std::string texts = "{\"text\": \"A dog runs.\"}\n{\"text\": \"Two men vote.\"}\n";
  const auto one = predict(texts, "--candidate-labels 'sport, politics'");
  ASSERT_EQ(one.code, 0) << one.output;
  EXPECT_EQ(std::ranges::count(one.output, '\n'), 2) << one.output;
  const auto answer = json::Document::parse(one.output.substr(0, one.output.find('\n')), "a");
  const auto scores = answer.root().at("scores").members();
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[1].first, "politics");
  EXPECT_NEAR(scores[0].second.number() + scores[1].second.number(), 1, 1e-9);
  EXPECT_EQ(predict(texts, "--candidate-labels sport,politics --batch-size 1").output, one.output);
  const auto alone = predict(texts,
                             "--candidate-labels sport,politics --multi-label "
                             "--hypothesis-template 'It is about {}.' --top-k 1");
  EXPECT_TRUE(alone.output.starts_with("{\"labels\":[")) << alone.output;
  const auto compared = predict(texts, "--candidate-labels sport,politics --compare bf16");
  EXPECT_NE(compared.output.find("fp32 compared with bf16: "), std::string::npos)
      << compared.output;
}

TEST_F(Predict, TellsWhichWordsDecided) {
  const auto explained = predict(three_lines, "--explain --explain-passes 40 --top-k 1");
  ASSERT_EQ(explained.code, 0) << explained.output;
  const auto plain = predict(three_lines, "--top-k 1");
  std::istringstream lines{explained.output}, answers{plain.output};
  std::vector<std::size_t> words;
  for (std::string line, answer; std::getline(lines, line) && std::getline(answers, answer);) {
    EXPECT_EQ(line.substr(0, answer.size() - 1), answer.substr(0, answer.size() - 1));
    const auto document = json::Document::parse(line, "a line");
    const auto each = document.root().at("explanations").items();
    ASSERT_EQ(each.size(), 1U);
    EXPECT_EQ(each[0].at("label").string(), document.root().at("label").string());
    EXPECT_LE(each[0].at("passes").integer(), 40);
    EXPECT_LT(each[0].at("gap").number(), 1e-5);
    double sum = 0;
    for (const auto& word : each[0].at("words").items()) sum += word.at("share").number();
    EXPECT_NEAR(sum, each[0].at("logit").number() - each[0].at("baseline").number(), 1e-5);
    words.push_back(each[0].at("words").items().size());
  }
  EXPECT_EQ(words, (std::vector<std::size_t>{20, 7, 3}));
  for (const char* flags :
       {"--explain --embed", "--explain --output-format csv", "--explain --compare bf16",
        "--explain-passes 50", "--explain --explain-passes 5", "--explain --most-uncertain 2"}) {
    EXPECT_EQ(predict(three_lines, flags).code, 2) << flags;
  }
}

TEST_F(Predict, WritesEmbeddings) {
  const std::string texts =
      "{\"text\": \"A dog runs.\", \"id\": 7}\n{\"text\": \"Two\", \"id\": 8}\n";
  const auto lines = predict(texts, "--embed --normalize --truncate-dim 3 --keep id");
  ASSERT_EQ(lines.code, 0) << lines.output;
  EXPECT_NE(lines.output.find("Embeddings: mean"), std::string::npos) << lines.output;
  const auto begin = lines.output.find('{');
  const auto size = lines.output.find('\n', begin) - begin;
  const auto first = json::Document::parse(lines.output.substr(begin, size), "a");
  EXPECT_EQ(first.root().at("id").integer(), 7);
  double square = 0;
  const auto numbers = first.root().at("embedding").items();
  for (const auto& number : numbers) square += number.number() * number.number();
  EXPECT_EQ(numbers.size(), 3U);
  EXPECT_NEAR(square, 1, 1e-6);
  const auto table = *directory_ / "embeddings.npy";
  const auto written =
      predict(texts, "--embed --truncate-dim 3 --normalize --output-file " + table.string());
  ASSERT_EQ(written.code, 0) << written.output;
  const auto bytes = tests::read_file(table);
  ASSERT_EQ(bytes.size(), 128U + 2 * 3 * sizeof(float));
  EXPECT_NE(bytes.find("'shape': (2, 3)"), std::string::npos);
  float number = 0;
  std::memcpy(&number, bytes.data() + 128, sizeof number);
  EXPECT_FLOAT_EQ(number, static_cast<float>(numbers[0].number()));
  const auto wrong = predict("{\"text\": \"a\"}\n{}\n", "--embed --output-file " + table.string());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(tests::read_file(table),
            bytes);  // a table has a row for each record, or is not written
}

TEST_F(Predict, RefusesFlagsThatDoNotGoWithEmbeddings) {
  const auto wrong = [](const std::string& flags, const std::string& problem) {
    const auto ended = predict("{\"text\": \"a\"}", flags);
    EXPECT_EQ(ended.code, 2) << flags;
    EXPECT_NE(ended.output.find(problem), std::string::npos) << ended.output;
  };
  wrong("--embed --top-k 2", "--top-k: is for labels, not for --embed");
  wrong("--embed --candidate-labels a,b", "--candidate-labels: is for labels");
  wrong("--embed --output-format csv", "--output-format: csv is for labels");
  wrong("--embed --output-format npy", "--output-format: npy needs an --output-file");
  wrong("--output-format npy --output-file x.npy", "--output-format: npy is for --embed");
  wrong("--output-file x.npy", "--output-file: npy is for --embed");
  wrong("--normalize", "--normalize: is for --embed");
  wrong("--embed --truncate-dim 100000", "numbers, fewer than 100000");
}

TEST_F(Predict, RefusesWrongCandidateLabels) {
  const auto wrong = [](const std::string& flags, const std::string& problem,
                        const std::string& line = "{\"text\": \"a\"}") {
    const auto ended = predict(line, flags);
    EXPECT_EQ(ended.code, 2) << flags;
    EXPECT_NE(ended.output.find(problem), std::string::npos) << ended.output;
  };
  wrong("--candidate-labels a,b,a", "--candidate-labels: names 'a' twice");
  wrong("--candidate-labels a,,b", "--candidate-labels: has an empty label");
  wrong("--candidate-labels a,b --hypothesis-template 'It is so.'",
        "--hypothesis-template: must have {} once");
  wrong("--multi-label", "--multi-label: is for --candidate-labels");
  wrong("--hypothesis-template 'It is {}.'", "--hypothesis-template: is for --candidate-labels");
  wrong("--candidate-labels a,b", "has a second text", "{\"text\": \"a\", \"text_pair\": \"b\"}");
}

TEST_F(Predict, AnswersBeforeTheInputEnds) {
  const auto program = std::string{SEQTRAIN_EXAMPLES_DIR} + "/predict --threads 1 --model " +
                       (*directory_ / "run").string();
  const auto pipe = (*directory_ / "pipe").string();
  const auto dialogue = tests::run_command(
      "mkfifo " + pipe + "; (echo '{\"text\": \"a\"}'; cat " + pipe + ") | " + program +
      " | (read line; echo \"$line\"; echo '{\"text\": \"b\"}' > " + pipe + "; cat)");
  EXPECT_EQ(dialogue.output,
            predict("{\"text\": \"a\"}").output + predict("{\"text\": \"b\"}").output);
}

TEST_F(Predict, EndsQuietlyWhenNobodyReads) {
  const auto program = std::string{SEQTRAIN_EXAMPLES_DIR} + "/predict --threads 1 --model " +
                       (*directory_ / "run").string();
  for (const char* trap : {"", "trap '' PIPE; "}) {
    const auto ended = tests::run_command(std::string{trap} + "yes '{\"text\": \"a\"}' 2>&- | " +
                                          program + " | head -n 2");
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(std::ranges::count(ended.output, '\n'), 2) << ended.output;
  }
}

TEST_F(Predict, RefusesAModelThatIsNotTrained) {
  const auto run =
      run_example("predict", "--model " + tests::small_checkpoint().string() + " < /dev/null");
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.output.find("classifier"), std::string::npos) << run.output;
}

TEST_F(Predict, ReadsAFileThatAnArgumentNames) {
  const auto texts = write_file(*directory_ / "new.csv", "text\nA man sleeps.\nDogs run.\n");
  const std::string flags = "--threads 1 --model " + (*directory_ / "run").string() + " ";
  const auto named = run_example("predict", flags + texts.string());
  ASSERT_EQ(named.code, 0) << named.output;
  EXPECT_EQ(std::ranges::count(named.output, '\n'), 2);
  EXPECT_EQ(run_example("predict", flags + "--strict - < " + texts.string()).output, named.output);
  const auto on_stdin = run_example("predict", flags + "< " + directory_->path().string());
  EXPECT_EQ(on_stdin.code, 2);
  EXPECT_NE(on_stdin.output.find("stdin: is a directory, not a file"), std::string::npos)
      << on_stdin.output;
  const auto without_texts = run_example("predict", flags + directory_->path().string());
  EXPECT_EQ(without_texts.code, 2);
  EXPECT_NE(without_texts.output.find(": holds no text"), std::string::npos)
      << without_texts.output;
  const auto missing = run_example("predict", flags + "no/such.csv");
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.output.find("no/such.csv: "), std::string::npos) << missing.output;
}

TEST_F(Predict, LooksAtTheFileBeforeItFetchesTheModel) {
  const tests::Environment offline{"HF_HUB_OFFLINE", "1"};
  const auto names = write_file(*directory_ / "names.csv", "comment,label\nfine,good\n");
  for (const auto& [file, says] :
       {std::pair{std::string{"no/such.csv"}, "no/such.csv: cannot be read: No such file"},
        {names.string(), "names.csv: no known field for the text"}}) {
    const auto run = run_example("predict", "--model no/such-model " + file);
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.output.find(says), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("no/such-model"), std::string::npos) << run.output;
  }
}

TEST_F(Predict, ReadsTheFieldsThatTheRunWasTrainedOn) {
  const auto run = *directory_ / "fields";
  std::filesystem::create_directories(run);
  std::filesystem::copy(*directory_ / "run/model", run / "model");
  const auto model = " --threads 1 --model " + run.string() + " ";
  const auto with_record = [&](const std::string& flags) {
    write_file(run / "metrics.json", R"({"flags": {)" + flags + "}}");
  };
  const auto answers = [&](const std::string& lines, const std::string& flags = "") {
    const auto input = write_file(*directory_ / "input.csv", lines);
    const auto named = run_example("predict", flags + model + input.string());
    EXPECT_EQ(named.code, 0) << named.output;
    EXPECT_EQ(run_example("predict", flags + model + "< " + input.string()).output, named.output);
    return named.output;
  };
  with_record(R"("text-field": "", "pair-field": "", "columns": "")");
  const auto dogs = answers("text\nDogs run.\n"), cats = answers("text\nCats sleep.\n");
  const auto pair = answers("text,text_pair\nDogs run.,Cats sleep.\n");
  ASSERT_NE(dogs, cats);
  with_record(R"("text-field": "comment", "pair-field": "title", "columns": "")");
  EXPECT_EQ(answers("text,comment,title\nx,Dogs run.,Cats sleep.\n"), pair);
  EXPECT_EQ(answers("text,comment\nCats sleep.,Dogs run.\n"), dogs);
  EXPECT_EQ(answers("text,comment\nCats sleep.,Dogs run.\n", "--text-field text"), cats);
  EXPECT_EQ(answers("text\tcomment\nCats sleep.\tDogs run.\n"), dogs);
  EXPECT_EQ(answers("{\"x\": \"a\", \"comment\": \"Dogs run.\"}\n"), dogs);
  EXPECT_EQ(answers("{\"text\": \"Cats sleep.\"}\n"), cats);
  with_record(R"("text-field": "", "pair-field": "", "columns": "label,text")");
  EXPECT_EQ(answers("good,Dogs run.\nbad,Cats sleep.\n"), dogs + cats);
  EXPECT_EQ(answers("text,label\nDogs run.,good\n"), dogs);
  EXPECT_EQ(answers("good,Dogs run.\n", "--columns text,-"), answers("text\ngood\n"));
  write_file(run / "metrics.json", "[1]");
  EXPECT_EQ(answers("text\nDogs run.\n"), dogs);
}

TEST_F(Predict, ReadsArchivesAndDirectoriesOfTexts) {
  const std::string flags = "--threads 1 --top-k 1 --model " + (*directory_ / "run").string() + " ";
  const std::string rows = "text\nA man sleeps.\nDogs run.\n";
  const auto plain =
      run_example("predict", flags + write_file(*directory_ / "a.csv", rows).string());
  ASSERT_EQ(plain.code, 0) << plain.output;
  for (const auto& [name, bytes] : {std::pair{"a.csv.gz", tests::gzipped(rows)},
                                    {"a.csv.zst", tests::zstd_compressed(rows)},
                                    {"noname", tests::gzipped(rows)}}) {
    const auto file = write_file(*directory_ / name, bytes);
    EXPECT_EQ(run_example("predict", flags + file.string()).output, plain.output) << name;
  }
  const auto texts = *directory_ / "texts";
  std::filesystem::create_directories(texts / "pos");
  write_file(texts / "1.txt", "A man sleeps.");
  write_file(texts / "pos/1.txt", "Dogs run.");
  const auto named = run_example("predict", flags + texts.string());
  EXPECT_EQ(named.code, 0) << named.output;
  EXPECT_EQ(named.output, "{\"file\":\"1.txt\"," + plain.output.substr(1, plain.output.find('\n')) +
                              "{\"file\":\"pos/1.txt\"," +
                              plain.output.substr(plain.output.find('\n') + 2));
  const auto kept = run_example("predict", flags + "--keep id " + texts.string());
  EXPECT_EQ(kept.code, 2);
  EXPECT_NE(kept.output.find("id: has no fields"), std::string::npos) << kept.output;
}

TEST_F(Predict, WritesFieldsOfTheInputToAFile) {
  const std::string flags = "--threads 1 --model " + (*directory_ / "run").string() + " ";
  const auto rows = write_file(*directory_ / "kept.csv", "id,text\n\"7,5\",Dogs run.\n8\n9,Cats\n");
  const auto output = *directory_ / "labels.csv";
  const auto ended = run_example("predict", flags + "--keep id --top-k 1 --output-file " +
                                                output.string() + " " + rows.string());
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.output.find("1 of 3 records are wrong"), std::string::npos) << ended.output;
  const std::string text = tests::read_file(output);
  EXPECT_TRUE(text.starts_with("id,label,score,error\n\"7,5\",")) << text;
  EXPECT_NE(text.find("\n,,,\""), std::string::npos) << text;
  EXPECT_NE(text.find("\n9,"), std::string::npos) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);

  const auto other = *directory_ / "other.csv";
  const auto no_field = run_example(
      "predict", flags + "--keep date --output-file " + other.string() + " " + rows.string());
  EXPECT_EQ(no_field.code, 2);
  EXPECT_NE(no_field.output.find("date: no such field; there are: id, text"), std::string::npos)
      << no_field.output;
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST_F(Predict, LeavesTextsWithoutALabelAndChoosesUncertainOnes) {
  const auto none = predict(three_lines, "--min-score 1 --top-k 1");
  EXPECT_EQ(none.code, 0) << none.output;
  EXPECT_NE(none.output.find("{\"label\":null,\"abstained\":true,"), std::string::npos);
  EXPECT_NE(none.output.find("3 of 3 texts get no label: their best score is below 1"),
            std::string::npos)
      << none.output;
  const auto two = predict(three_lines, "--most-uncertain 2 --uncertainty margin --keep text");
  EXPECT_EQ(two.code, 0) << two.output;
  std::istringstream lines{two.output};
  std::vector<double> found;
  for (std::string line; std::getline(lines, line);) {
    const auto answer = json::Document::parse(line, "a");
    found.push_back(answer.root().at("uncertainty").number());
    const auto number = static_cast<std::size_t>(answer.root().at("line").integer());
    EXPECT_TRUE(number >= 1 && number <= 3);
    EXPECT_NE(std::string_view{three_lines}.find(answer.root().at("text").string()),
              std::string_view::npos);
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_GE(found[0], found[1]);
}

}  // namespace
}  // namespace seqtrain
