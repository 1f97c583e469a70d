#include <cmath>
#include <cstdint>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/report/console.hpp>

namespace seqtrain::log {
namespace {

struct LogTest : testing::Test {
  std::ostringstream out;
  std::ostringstream errors;

  [[nodiscard]] Log log(LogFormat format, bool terminal = false) {
    return Log{{.format = format, .terminal = terminal, .out = &out, .errors = &errors}};
  }

  /// Returns the text that was written in JSON format, without the times.
  [[nodiscard]] std::string records() const {
    const std::regex time{R"(,"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")"};
    EXPECT_TRUE(std::regex_search(out.str(), time)) << out.str();
    return std::regex_replace(out.str(), time, "");
  }
};

TEST_F(LogTest, WritesPlainLines) {
  const Log text = log(LogFormat::text);
  text.info("one", {{"step", 3}});
  text.warning("two\n");
  text.info("");
  EXPECT_EQ(out.str(), "one\ntwo\n");
  EXPECT_EQ(errors.str(), "");
}

TEST_F(LogTest, WritesErrorsApart) {
  const Log text = log(LogFormat::text, true);
  text.error("it broke");
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(errors.str(), "error: it broke\n");
}

TEST_F(LogTest, WritesOnlyErrorsOfOtherRanks) {
  const Log text = log(LogFormat::text, true);
  EXPECT_TRUE(text.on_terminal());
  text.set_rank(2);
  EXPECT_FALSE(text.on_terminal());
  text.info("one");
  text.warning("two");
  text.error("it broke");
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(errors.str(), "error: rank 2: it broke\n");
}

TEST_F(LogTest, WipesABarOnATerminal) {
  const Log text = log(LogFormat::text, true);
  EXPECT_TRUE(text.on_terminal());
  text.info("one");
  EXPECT_EQ(out.str(), "\r\x1b[Kone\n");
  EXPECT_FALSE(log(LogFormat::text).on_terminal());
  EXPECT_FALSE(log(LogFormat::json, true).on_terminal());
}

TEST_F(LogTest, WritesAnObjectForEachMessage) {
  const Log json = log(LogFormat::json, true);
  json.info("one", {{"step", 3}, {"loss", 0.5}, {"split", "dev"}, {"best", true}});
  json.warning("two");
  json.error("three", {{"causes", std::vector<std::string>{"a", "b"}}});
  EXPECT_EQ(records(),
            R"({"severity":"INFO","message":"one","step":3,"loss":0.5,"split":"dev","best":true})"
            "\n"
            R"({"severity":"WARNING","message":"two"})"
            "\n"
            R"({"severity":"ERROR","message":"three","causes":["a","b"]})"
            "\n");
  EXPECT_EQ(errors.str(), "");
}

TEST_F(LogTest, IsValidJsonWhateverItIsTold) {
  const Log json = log(LogFormat::json);
  json.info("\n  a\ttable \"of\"\n\x1b two lines\n\n", {{"loss", std::nan("")}});
  json.info("a name that is \xff no UTF-8, and \xc3\xa9", {{"file", "\xfe"}});
  json.info("\xc3\xa9");
  std::istringstream lines{out.str()};
  std::vector<std::string> messages;
  for (std::string line; std::getline(lines, line);) {
    const auto document = json::Document::parse(line, "log");
    messages.emplace_back(document.root().at("message").string());
  }
  EXPECT_EQ(messages, (std::vector<std::string>{"  a\ttable \"of\"\n\x1b two lines",
                                                "a name that is ? no UTF-8, and ??", "\xc3\xa9"}));
  EXPECT_NE(out.str().find(R"("loss":null)"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find(R"("file":"?")"), std::string::npos) << out.str();
}

TEST_F(LogTest, ReturnsTheLineThatItWouldWrite) {
  const Log json = log(LogFormat::json);
  out << json.line(Severity::warning, "one", {{"step", 3}});
  EXPECT_EQ(records(), "{\"severity\":\"WARNING\",\"message\":\"one\",\"step\":3}\n");
  EXPECT_EQ(log(LogFormat::text).line(Severity::info, "one"), "one\n");
}

TEST_F(LogTest, WritesLinesAsMessages) {
  const Log json = log(LogFormat::json);
  json.lines("one\n\ntwo\n");
  EXPECT_EQ(records(),
            "{\"severity\":\"INFO\",\"message\":\"one\"}\n"
            "{\"severity\":\"INFO\",\"message\":\"two\"}\n");
}

TEST_F(LogTest, IsSharedByItsCopies) {
  const Log first = log(LogFormat::text);
  const auto warn = first.warnings();
  first.set_format(LogFormat::json);
  warn("try again");
  EXPECT_EQ(records(), "{\"severity\":\"WARNING\",\"message\":\"try again\"}\n");
}

TEST_F(LogTest, TellsNoticesFromWarnings) {
  const auto notice = report::notices_to(log(LogFormat::json));
  notice({.text = "Resumed"});
  notice({.text = "Not saved", .warning = true});
  EXPECT_EQ(records(),
            "{\"severity\":\"INFO\",\"message\":\"Resumed\"}\n"
            "{\"severity\":\"WARNING\",\"message\":\"Not saved\"}\n");
}

TEST_F(LogTest, KeepsMessagesOfSeveralThreadsApart) {
  const Log json = log(LogFormat::json);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&json, thread] {
        for (int i = 0; i < 100; ++i) json.info("message", {{"thread", thread}, {"i", i}});
      });
    }
  }
  std::istringstream lines{out.str()};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_NO_THROW((void)json::Document::parse(line, "log").root().at("i").integer()) << line;
  }
  EXPECT_EQ(count, 400);
}

}  // namespace
}  // namespace seqtrain::log
