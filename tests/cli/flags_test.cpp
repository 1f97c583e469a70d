#include <array>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/log/log.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_file.hpp"

namespace seqtrain::cli {
namespace {

struct Values {
  std::int64_t batch_size = 16;
  double learning_rate = 5e-5;
  std::string job_dir = "";
  bool freeze_encoder = false;
  std::vector<std::string> labels = {};
};

struct Parsed {
  Values values;
  bool go_on = false;
  train::Pairs texts;
  train::Pairs changed;
  std::string command;
  std::string command_without_job_dir;
};

Parsed parse(std::vector<const char*> arguments) {
  Parsed parsed;
  Flags flags{"program", "does something"};
  flags.add("batch-size", parsed.values.batch_size, "")
      .add("learning-rate", parsed.values.learning_rate, "")
      .add("job-dir", parsed.values.job_dir, "")
      .add_switch("freeze-encoder", parsed.values.freeze_encoder, "")
      .add("labels", parsed.values.labels, "");
  flags.add_for_training();
  arguments.insert(arguments.begin(), "program");
  parsed.go_on = flags.parse(static_cast<int>(arguments.size()), arguments.data());
  parsed.texts = flags.values();
  parsed.changed = flags.changed_values();
  parsed.command = flags.command();
  parsed.command_without_job_dir = flags.command(std::array<std::string_view, 1>{"job-dir"});
  return parsed;
}

TEST(Flags, RefuseANameThatNobodyCouldGive) {
  const auto problem = [](const std::string& name) {
    double value = 0;
    Flags flags{"program", "does something"};
    return tests::problem_of([&] { flags.add(name, value, ""); });
  };
  for (const char* const name :
       {"", "--alpha", "-", "rate-", "second_rate", "Alpha", "a b", "a=b"}) {
    EXPECT_EQ(problem(name), "'" + std::string{name} +
                                 "': is no name of a flag; use small letters, digits and - between "
                                 "them, without the -- before it");
  }
  EXPECT_EQ(problem("config"), "--config: is declared twice; give a flag of your own another name");
  std::int64_t epochs = 1, others = 1;
  Flags flags{"program", "does something"};
  flags.add("epochs", epochs, "").add("num-train-epochs", others, "");
  EXPECT_EQ(tests::problem_of([&] { flags.add_for_training(); }),
            "--num-train-epochs: is another name of --epochs; give a flag of your own another "
            "name");
}

TEST(Flags, TheValueOfAProgramCountsAsAChange) {
  double rate = 5e-5;
  Flags flags{"program", "does something"};
  flags.add("learning-rate", rate, "");
  const char* const none = "program";
  ASSERT_TRUE(flags.parse(1, &none));
  flags.count_as_changed("learning-rate");
  EXPECT_EQ(flags.changed_values(), (train::Pairs{{"learning-rate", "5e-05"}}));
}

TEST(Flags, KeepTheVariablesValueAsDefault) {
  const auto parsed = parse({});
  EXPECT_TRUE(parsed.go_on);
  EXPECT_EQ(parsed.values.batch_size, 16);
  EXPECT_EQ(parsed.values.job_dir, "");
}

TEST(Flags, TakeDashAndUnderscoreAlike) {
  EXPECT_EQ(parse({"--batch_size", "32"}).values.batch_size, 32);
  EXPECT_EQ(parse({"--batch-size=8"}).values.batch_size, 8);
  EXPECT_TRUE(parse({"--freeze_encoder"}).values.freeze_encoder);
}

TEST(Flags, LeaveUnderscoresInValuesAlone) {
  EXPECT_EQ(parse({"--job_dir=a_b-c"}).values.job_dir, "a_b-c");
  EXPECT_EQ(parse({"--job-dir", "my_dir/with space"}).values.job_dir, "my_dir/with space");
}

TEST(Flags, TakeOtherNames) {
  for (const char* argument :
       {"--per-device-train-batch-size=8", "--per_device_train_batch_size=8"}) {
    const auto parsed = parse({argument});
    EXPECT_EQ(parsed.values.batch_size, 8) << argument;
    EXPECT_EQ(parsed.texts[0].first, "batch-size");
  }
  EXPECT_EQ(parse({"--per_device_train_batch_size", "8", "--job-dir", "bs"}).values.job_dir, "bs");
}

TEST(Flags, RefuseTwoNamesOfOneFlagWithDifferentValues) {
  EXPECT_EQ(tests::problem_of([] {
              parse({"--batch_size", "8", "--per-device-train-batch-size=9"});
            }),
            "--per-device-train-batch-size: has another value than --batch-size, which is the same "
            "flag");
  EXPECT_EQ(parse({"--batch_size", "8", "--per-device-train-batch-size=8"}).values.batch_size, 8);
  EXPECT_THROW(parse({"--batch-size=8", "--batch-size=8"}), InputError);
}

TEST(Flags, TellWhatIsNotItsDefault) {
  const auto parsed = parse({"--freeze-encoder", "--per-device-train-batch-size=8",
                             "--learning-rate=5e-5", "--job-dir", "a b's"});
  EXPECT_EQ(parsed.changed,
            (train::Pairs{{"batch-size", "8"}, {"job-dir", "a b's"}, {"freeze-encoder", "true"}}));
  EXPECT_TRUE(parse({}).changed.empty());
}

TEST(Flags, MakeTheCommandThatRepeatsThem) {
  const std::vector<const char*> arguments{
      "--freeze-encoder", "--batch-size=8", "--job-dir", "a b's", "--labels", "no,yes"};
  const auto parsed = parse(arguments);
  EXPECT_EQ(parsed.command,
            R"(program --batch-size 8 --job-dir 'a b'\''s' --freeze-encoder --labels no,yes)");
  EXPECT_EQ(parsed.command_without_job_dir,
            "program --batch-size 8 --freeze-encoder --labels no,yes");
  EXPECT_EQ(parse({}).command, "program");
}

TEST(Flags, HaveTheNameUnderWhichTheCommandSeqtrainStartsTheProgram) {
  std::int64_t size = 1;
  Flags flags{"program", "does something"};
  flags.add("size", size, "");
  const std::array<const char*, 2> arguments{"seqtrain train", "--size=2"};
  ASSERT_TRUE(flags.parse(2, arguments.data()));
  EXPECT_EQ(flags.command(), "seqtrain train --size 2");
  const std::array<const char*, 2> wrong{"seqtrain train", "--nothing"};
  const auto problem = tests::problem_of([&] { flags.parse(2, wrong.data()); });
  EXPECT_NE(problem.find("see seqtrain train --help"), std::string::npos) << problem;
}

TEST(Flags, ListOtherNamesOfTheFlagsThatTheyHave) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}).go_on);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("--per-device-train-batch-size"), std::string::npos) << help;
  EXPECT_EQ(help.find("--num-train-epochs"), std::string::npos) << help;
}

TEST(Flags, TurnSwitchesOnAndOff) {
  for (const char* argument : {"--freeze-encoder", "--freeze-encoder=true"}) {
    EXPECT_TRUE(parse({argument}).values.freeze_encoder) << argument;
  }
  EXPECT_TRUE(parse({"--freeze_encoder", "--batch-size=8"}).values.freeze_encoder);
  EXPECT_FALSE(parse({"--freeze-encoder=false"}).values.freeze_encoder);
  EXPECT_FALSE(parse({"--freeze-encoder", "false"}).values.freeze_encoder);
  EXPECT_EQ(tests::problem_of([] { parse({"--freeze-encoder=yes"}); }),
            "--freeze-encoder: must be true or false");
}

TEST(Flags, TakeTrueAloneForWhatTheyAlwaysDo) {
  for (const std::vector<const char*>& arguments :
       {std::vector<const char*>{"--do_train", "true"},
        {"--do-train=True", "--do_eval", "--batch-size=16"},
        {"--do_eval"}}) {
    EXPECT_TRUE(parse(arguments).go_on);
  }
  EXPECT_EQ(tests::problem_of([] {
              parse({"--do_eval", "false"});
            }),
            "--do-eval: can only be true: the program evaluates on the dev file after each epoch");
}

Parsed parse_with(const std::string& config, std::vector<const char*> arguments = {}) {
  const tests::TemporaryFile file{config, ".json"};
  const std::string path = file.path().string();
  arguments.insert(arguments.end(), {"--config", path.c_str()});
  try {
    return parse(std::move(arguments));
  } catch (const InputError& error) {
    std::string text = error.what();
    if (const auto at = text.find(path); at != text.npos) text.replace(at, path.size(), "FILE");
    throw InputError{text};
  }
}

TEST(Flags, ReadAConfigurationFile) {
  const auto parsed = parse_with(
      R"({"per_device_train_batch_size": 8, "learning_rate": 0.000030000001, "job-dir": "a b",
          "freeze-encoder": true, "labels": ["no", "yes"], "do_train": true, "seed": null})");
  EXPECT_EQ(parsed.values.batch_size, 8);
  EXPECT_EQ(parsed.values.learning_rate, 0.000030000001);
  EXPECT_EQ(parsed.values.job_dir, "a b");
  EXPECT_TRUE(parsed.values.freeze_encoder);
  EXPECT_EQ(parsed.values.labels, (std::vector<std::string>{"no", "yes"}));
}

TEST(Flags, PreferTheCommandLineToTheFileAndTheFileToDefaults) {
  const auto parsed = parse_with(R"({"batch-size": 8, "learning-rate": 1e-3})",
                                 {"--per_device_train_batch_size=4"});
  EXPECT_EQ(parsed.values.batch_size, 4);
  EXPECT_EQ(parsed.values.learning_rate, 1e-3);
  EXPECT_EQ(parsed.values.job_dir, "");
  EXPECT_FALSE(
      parse_with(R"({"freeze-encoder": true})", {"--freeze-encoder=false"}).values.freeze_encoder);
}

TEST(Flags, TakeNoEmptyTextOfAFileForTrue) {
  EXPECT_EQ(tests::problem_of([] { parse_with(R"({"freeze_encoder": ""})"); }),
            "--freeze-encoder: must be true or false");
}

TEST(Flags, TakeValuesWithCommasFromAnArray) {
  const auto parsed = parse_with(R"({"labels": ["yes, sure", "no"]})");
  EXPECT_EQ(parsed.values.labels, (std::vector<std::string>{"yes, sure", "no"}));
}

TEST(Flags, ReadTheirOwnRecordBack) {
  const auto first = parse({"--batch-size=3", "--learning-rate=0.12345678901234567",
                            "--freeze-encoder", "--labels=a\\, b,c\\\\,d", "--job-dir", ""});
  json::Writer record{2};
  record.begin_object();
  train::append(record, "flags", first.texts);
  const auto again = parse_with(record.end_object().text());
  EXPECT_EQ(again.texts, first.texts);
  EXPECT_EQ(again.values.learning_rate, 0.12345678901234567);
  EXPECT_TRUE(again.values.freeze_encoder);
  json::Writer defaults{2};
  defaults.begin_object();
  train::append(defaults, "flags", parse({}).texts);
  EXPECT_EQ(parse_with(defaults.end_object().text()).texts, parse({}).texts);
}

TEST(Flags, LeaveThePlacesOfARecordedRunToIt) {
  EXPECT_TRUE(parse_with(R"({"flags": {"output-dir": "runs/a", "resume": "auto"}})").go_on);
  EXPECT_THROW(parse_with(R"({"output-dir": "runs/a"})"), InputError);  // no flag of this program
}

TEST(Flags, NameTheFileAndTheKeyThatIsWrong) {
  const auto problem = [](const std::string& config) {
    return tests::problem_of([&] { (void)parse_with(config); });
  };
  EXPECT_EQ(problem(R"({"batch_sise": 8})"),
            "FILE: batch_sise: is not a flag of program; did you mean --batch-size?");
  EXPECT_EQ(problem(R"({"batch-size": "many"})"),
            "FILE: the argument ('many') for option 'batch-size' is invalid; see program --help");
  EXPECT_EQ(problem(R"({"batch-size": {}})"),
            "FILE: batch-size: expected a text, a number, true or false, or an array of these");
  EXPECT_EQ(
      problem(R"({"batch-size": 8, "per_device_train_batch_size": 9})"),
      "FILE: --per-device-train-batch-size: has another value than --batch-size, which is the "
      "same flag");
  EXPECT_EQ(problem(R"({"do_eval": false})").substr(0, 34), "FILE: --do-eval: can only be true:");
  EXPECT_THROW(parse_with("[]"), InputError);
  EXPECT_THROW(parse({"--config", "/nowhere.json"}), InputError);
}

TEST(Flags, TellWhichAreGiven) {
  std::string place;
  std::int64_t seed = 1;
  Flags flags{"program", "does something"};
  flags.add("place", place, "").add("seed", seed, "");
  const std::array<const char*, 3> arguments{"program", "--place", ""};
  ASSERT_TRUE(flags.parse(3, arguments.data()));
  EXPECT_TRUE(flags.is_given("place"));
  EXPECT_FALSE(flags.is_given("seed"));
}

TEST(Flags, ShowTheirSectionsInTheHelp) {
  std::int64_t seed = 1;
  std::string place;
  Flags flags{"program", "does something"};
  flags.section("Training").add("seed", seed, "").section("Output").add("place", place, "");
  testing::internal::CaptureStdout();
  const std::array<const char*, 2> arguments{"program", "--help"};
  flags.parse(2, arguments.data());
  const std::string help = testing::internal::GetCapturedStdout();
  const auto training = help.find("Training:\n"), output = help.find("Output:\n");
  EXPECT_LT(help.find("--help"), training) << help;
  EXPECT_LT(training, help.find("--seed"));
  EXPECT_LT(help.find("--seed"), output);
  EXPECT_LT(output, help.find("--place"));
}

TEST(Flags, TakeAnEmptyValue) {
  EXPECT_EQ(parse({"--job-dir", ""}).values.job_dir, "");
}

TEST(Flags, SplitListsAtCommas) {
  EXPECT_EQ(parse({"--labels", "no,yes,may be"}).values.labels,
            (std::vector<std::string>{"no", "yes", "may be"}));
  EXPECT_TRUE(parse({}).values.labels.empty());
}

TEST(Flags, RefuseWhatTheyDoNotKnow) {
  EXPECT_THROW(parse({"--unheard-of", "1"}), InputError);
  EXPECT_THROW(parse({"--batch", "32"}), InputError);  // prefixes are not completed
  EXPECT_THROW(parse({"stray"}), InputError);
  EXPECT_THROW(parse({"--batch-size", "many"}), InputError);
  EXPECT_THROW(parse({"--batch-size", "1.5"}), InputError);
  EXPECT_THROW(parse({"--batch-size"}), InputError);
  EXPECT_THROW(parse({"--batch-size", "1", "--batch-size", "2"}), InputError);
}

TEST(Flags, TellTheirValues) {
  const auto texts = parse({"--labels=a,b", "--batch-size=4"}).texts;
  ASSERT_EQ(texts.size(), 5U);
  EXPECT_EQ(texts[0], (std::pair<std::string, std::string>{"batch-size", "4"}));
  EXPECT_EQ(texts[1].second, "5e-05");
  EXPECT_EQ(texts[3].second, "false");
  EXPECT_EQ(texts[4].second, "a,b");
}

TEST(Flags, TellWhichValuesDetermineResults) {
  std::int64_t seed = 1;
  std::int64_t threads = 2;
  bool freeze = true;
  std::vector<std::string> labels{"a", "b"};
  Flags flags{"program", "does something"};
  flags.role(determines_results)
      .add("seed", seed, "")
      .role(leaves_results_alone)
      .add("threads", threads, "")
      .role(determines_results)
      .add_switch("freeze", freeze, "")
      .add("labels", labels, "");
  EXPECT_EQ(flags.determining_values(),
            (train::Pairs{{"seed", "1"}, {"freeze", "true"}, {"labels", "a,b"}}));
  EXPECT_EQ(flags.values().size(), 4U);
}

enum class Meal { soup, rice, bread };

/// Parses `--meal` and `--warm`, and returns their values as texts, or the problem.
std::string chosen_meal(std::vector<const char*> arguments) {
  Meal meal = Meal::rice;
  std::optional<bool> warm;
  Flags flags{"program", "does something"};
  flags.role(determines_results)
      .add("meal", meal, {{"soup", Meal::soup}, {"rice", Meal::rice}, {"bread", Meal::bread}}, "")
      .role(leaves_results_alone)
      .add("warm", warm, {{"", {}}, {"y", true}, {"n", false}}, "");
  arguments.insert(arguments.begin(), "program");
  try {
    EXPECT_TRUE(flags.parse(static_cast<int>(arguments.size()), arguments.data()));
  } catch (const InputError& error) {
    return error.what();
  }
  EXPECT_EQ(flags.determining_values().front().second, meal == Meal::soup   ? "soup"
                                                       : meal == Meal::rice ? "rice"
                                                                            : "bread");
  EXPECT_EQ(train::value_in(flags.values(), "warm"), !warm ? "" : *warm ? "y" : "n");
  return flags.command();
}

TEST(Flags, TakeOneOfAFewWords) {
  EXPECT_EQ(chosen_meal({}), "program");
  EXPECT_EQ(chosen_meal({"--meal", "rice", "--warm", ""}), "program");
  EXPECT_EQ(chosen_meal({"--meal", "soup", "--warm=n"}), "program --meal soup --warm n");
  EXPECT_EQ(chosen_meal({"--meal=bread", "--warm=y"}), "program --meal bread --warm y");
  for (const char* wrong : {"cake", "", "so", "Rice", "0"}) {
    EXPECT_EQ(chosen_meal({"--meal", wrong}), "--meal: is unknown: use soup, rice or bread");
  }
  EXPECT_EQ(chosen_meal({"--warm", "yes"}), "--warm: must be y or n");
  const tests::TemporaryFile file{R"({"meal": "soup", "warm": ""})", ".json"};
  const std::string path = file.path().string();
  Meal meal = Meal::rice;
  Flags flags{"program", "does something"};
  flags.add("meal", meal, {{"soup", Meal::soup}, {"rice", Meal::rice}}, "").add_for_training();
  std::string warm;
  flags.add("warm", warm, "");
  const std::array<const char*, 3> arguments{"program", "--config", path.c_str()};
  ASSERT_TRUE(flags.parse(3, arguments.data()));
  EXPECT_EQ(meal, Meal::soup);
}

/// Returns the format of a log after the flags were parsed, or the error message.
std::string log_format(std::vector<const char*> arguments) {
  std::ostringstream out;
  std::ostringstream errors;
  const log::Log log{{.out = &out, .errors = &errors}};
  std::int64_t batch_size = 16;
  Flags flags{"program", "does something", log};
  flags.add("batch-size", batch_size, "");
  arguments.insert(arguments.begin(), "program");
  const std::string problem = tests::problem_of(
      [&] { (void)flags.parse(static_cast<int>(arguments.size()), arguments.data()); });
  log.error("an error");
  return (errors.str().empty() ? "json: " : "text: ") + problem;
}

TEST(Flags, SetTheFormatOfTheLog) {
  EXPECT_EQ(log_format({}), "text: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "auto"}), "text: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "json"}), "json: nothing was thrown");
  EXPECT_EQ(log_format({"--log_format=json"}), "json: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "text"}), "text: nothing was thrown");
  EXPECT_EQ(log_format({"--log-format", "xml"}), "text: --log-format: must be auto, text or json");
}

TEST(Flags, SetTheFormatBeforeTheyRefuseOthers) {
  EXPECT_TRUE(log_format({"--unheard-of", "1", "--log-format=json"}).starts_with("json: "));
  EXPECT_TRUE(log_format({"--batch-size", "many", "--log_format", "json"}).starts_with("json: "));
  EXPECT_TRUE(log_format({"--log-format=json", "--log-format"}).starts_with("json: "));
}

TEST(Flags, HaveNoLogFormatWithoutALog) {
  EXPECT_THROW(parse({"--log-format", "json"}), InputError);
}

TEST(Flags, PrintHelpAndStop) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parse({"--help"}).go_on);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("--batch-size"), std::string::npos);
  EXPECT_NE(help.find("does something"), std::string::npos);
}

TEST(Flags, PrintDefaultsAsPeopleWriteThem) {
  double rate = 5e-5;
  double share = 0.1;
  double not_given = std::numeric_limits<double>::quiet_NaN();
  std::int64_t threads = 2;
  std::string place;
  Flags flags{"program", "does something"};
  flags.add("rate", rate, "").add("share", share, "").add("not-given", not_given, "");
  flags.add("threads", threads, "").add("place", place, "");
  testing::internal::CaptureStdout();
  const std::array<const char*, 2> arguments{"program", "--help"};
  flags.parse(2, arguments.data());
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* line : {"--rate arg (=5e-05)", "--share arg (=0.1)", "--threads arg (=2)"}) {
    EXPECT_NE(help.find(line), std::string::npos) << help;
  }
  EXPECT_EQ(help.find("nan)"), std::string::npos) << help;
  EXPECT_EQ(help.find("(=)"), std::string::npos) << help;
}

TEST(Flags, SayWhichFlagWasMeant) {
  const auto problem = [](const char* flag) {
    return tests::problem_of([&] { parse({flag, "1"}); });
  };
  EXPECT_EQ(problem("--lr"), "--lr: is not a flag of program; use --learning-rate");
  EXPECT_EQ(problem("--batchsize"),
            "--batchsize: is not a flag of program; did you mean --batch-size?");
  EXPECT_EQ(problem("--unheard-of"), "--unheard-of: is not a flag of program; see program --help");
  EXPECT_EQ(tests::problem_of([] { parse_with(R"({"learning_rat": 1})"); }),
            "FILE: learning_rat: is not a flag of program; did you mean --learning-rate?");
}

TEST(Flags, TakeAnArgumentWithoutAName) {
  const auto parse_file = [](std::vector<const char*> arguments) {
    std::string file = "-";
    bool strict = false;
    Flags flags{"program", "does something"};
    flags.add("file", file, "").add_switch("strict", strict, "").take_argument("file");
    arguments.insert(arguments.begin(), "bin/program");
    EXPECT_TRUE(flags.parse(static_cast<int>(arguments.size()), arguments.data()));
    EXPECT_EQ(flags.started_as(), "bin/program");
    return file + (strict ? " strictly" : "");
  };
  EXPECT_EQ(parse_file({}), "-");
  EXPECT_EQ(parse_file({"new.csv"}), "new.csv");
  EXPECT_EQ(parse_file({"--file", "new.csv"}), "new.csv");
  EXPECT_EQ(parse_file({"-"}), "-");
  EXPECT_EQ(parse_file({"--strict", "new.csv"}), "new.csv strictly");
  EXPECT_EQ(parse_file({"--strict", "false", "new.csv"}), "new.csv");
  EXPECT_EQ(tests::problem_of([&] {
              parse_file({"a.csv", "b.csv"});
            }),
            "'b.csv' follows no flag; a value that has spaces needs quotes");
}

TEST(Flags, SayHowToTrainOnAFileWithoutAFlag) {
  std::string file, labels;
  Flags flags{"program", "does something"};
  flags.add("train-file", file, "").add("labels", labels, "");
  const char* const words[] = {"program", "--labels", "a,", "b"};
  EXPECT_EQ(tests::problem_of([&] { flags.parse(4, words); }),
            "'b' follows no flag; a file to train on is named by --train-file; a value that has "
            "spaces needs quotes");
}

TEST(Flags, LeaveNumbersWithoutAValueOutOfTheRecord) {
  double dropout = std::numeric_limits<double>::quiet_NaN();
  std::string field = "nan";
  Flags flags{"program", "does something"};
  flags.role(determines_results)
      .add("dropout", dropout, "")
      .role(leaves_results_alone)
      .add("text-field", field, "");
  const char* const words[] = {"program", "--text-field", "text"};
  EXPECT_TRUE(flags.parse(1, words));
  EXPECT_EQ(flags.determining_values(), (train::Pairs{{"dropout", "nan"}}));
  EXPECT_EQ(flags.values(), train::Pairs{});
  EXPECT_TRUE(flags.parse(3, words));
  EXPECT_EQ(flags.values(), (train::Pairs{{"text-field", "text"}}));
}

}  // namespace
}  // namespace seqtrain::cli
