#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/record_stream.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

/// A text that arrives in pieces of `bytes` bytes.
struct Pieces {
  std::string_view rest;
  std::size_t bytes = 1;

  std::size_t read(std::span<char> to) {
    const std::size_t count = std::min({bytes, rest.size(), to.size()});
    std::copy_n(rest.begin(), count, to.begin());
    rest.remove_prefix(count);
    return count;
  }
  [[nodiscard]] bool ready() const { return !rest.empty(); }
};

using Found = std::vector<std::string>;

const std::string iconv = "convert the file: iconv -f WINDOWS-1252 -t UTF-8 old > new";

/// Returns `line: text|pair` for each example and `! error` for each wrong record.
Found read(std::string_view text, std::size_t bytes, const ReadOptions& options = {}) {
  ReadOptions without_labels = options;
  without_labels.labelled = false;
  RecordStream<Pieces> records{{text, bytes}, "in", without_labels};
  Found found;
  const auto visit = [&](const Example& example) {
    found.push_back(std::to_string(records.line_of(example)) + ": " + std::string{example.text} +
                    "|" + std::string{example.text_pair.value_or("~")});
  };
  const auto wrong = [&](const InputError& error) {
    found.push_back("! " + std::string{error.what()});
  };
  while (records.read(visit, wrong)) {
  }
  EXPECT_EQ(records.bytes(), static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(records.records(), static_cast<std::int64_t>(found.size()));
  return found;
}

/// Checks that the examples do not depend on the size of the pieces.
void expect(std::string_view text, const Found& wanted, const ReadOptions& options = {}) {
  for (const std::size_t bytes : {1, 2, 3, 7, 1000}) {
    EXPECT_EQ(read(text, bytes, options), wanted) << bytes << " bytes at a time";
  }
}

TEST(RecordStream, ReadsEveryFormatInAnyPieces) {
  expect("\xEF\xBB\xBF\n{\"text\": \"a\", \"text_pair\": \"b\"}\r\n \n{\"text\": \"c\"}",
         {"2: a|b", "4: c|~"});
  expect("\nsentence1\tsentence2\na\tb\n\nc\td\r\n", {"3: a|b", "5: c|d"});
  expect("text,label\n\"a, \"\"b\"\"\nc\",1\r\n\nd,2", {"2: a, \"b\"\nc|~", "5: d|~"});
  expect("a, b\n\n c\n", {"1: a, b|~", "3:  c|~"}, {.format = Format::lines});
}

TEST(RecordStream, ReadsIntegersThatNoMachineWordHolds) {
  expect("{\"id\": 1000000000000000019884624838656, \"text\": \"a\"}\n{\"text\": \"b\"}\n",
         {"1: a|~", "2: b|~"});
}

TEST(RecordStream, TellsWrongRecordsAndGoesOn) {
  expect(
      "{\"text\": \"a\"}\n{\"text\n[1]\n\n{\"txt\": 1}\n{\"text\": \"b\"}\nx",
      {"1: a|~",
       "! in:2: not valid JSON: " + std::string{simdjson::error_message(simdjson::UNCLOSED_STRING)},
       "! in:3: expected a JSON object; write one object a line", "! in:5: text: missing", "6: b|~",
       "! in:7: not valid JSON: " + std::string{simdjson::error_message(simdjson::TAPE_ERROR)}});
  expect("text\tx\na\tb\nc\nd\te\tf\n\ng\th\n", {"2: a|~", "! in:3: expected 2 columns, found 1",
                                                 "! in:4: expected 2 columns, found 3", "6: g|~"});
  expect("a\n\xFF\nb\n", {"1: a|~", "! in:2: not valid UTF-8; " + iconv, "3: b|~"},
         {.format = Format::lines});
}

TEST(RecordStream, NamesColumnsOfATableWithoutAHeader) {
  expect("a\t1\n\nb\nc\t2\n", {"1: a|~", "! in:3: expected 2 columns, found 1", "4: c|~"},
         {.columns = {"text", "label"}});
}

TEST(RecordStream, RefusesARecordWithFieldsThatAreNew) {
  expect(
      "{\"sentence\": \"a\"}\n{\"question\": \"b\", \"sentence\": \"c\"}\n{\"sentence\": \"d\"}\n",
      {"1: a|~",
       "! in:2: question: the first record has no such field, so it is not clear how it is "
       "meant; name the fields with --text-field and --pair-field",
       "3: d|~"});
}

TEST(RecordStream, TakesAWrongCsvRecordForItsLine) {
  expect("text,x\n5\" screen,1\n\"a\nb\",2\nc\n\"d\"e,3\nf,4\n",
         {"! in:2: a quote inside a field that does not begin with one; put the field into quotes "
          "and double its own",
          "3: a\nb|~", "! in:5: expected 2 columns, found 1", "! in:6: text after a closing quote",
          "7: f|~"});
  expect("text,x\na,1\n\"b,2\nc,3\n", {"2: a|~", "! in:3: a quote is not closed", "4: c|~"});
}

TEST(RecordStream, FindsTheFieldsInTheFirstRecordThatIsRight) {
  expect(
      "{\"a\n{}\n{\"text\": \"b\"}\n",
      {"! in:1: not valid JSON: " + std::string{simdjson::error_message(simdjson::UNCLOSED_STRING)},
       "! in:2: an object without fields", "3: b|~"});
}

TEST(RecordStream, RefusesAnInputWithoutFieldsOrRecords) {
  const auto problem = [](std::string_view text) {
    return tests::problem_of([&] { read(text, 3); });
  };
  EXPECT_EQ(problem(""), "in: holds no example");
  EXPECT_EQ(problem(" \n\n"), "in: holds no example");
  EXPECT_EQ(problem("text\tx\n"), "in: holds no example");
  EXPECT_NE(problem("{\"txt\": \"a\"}\n").find("no known field for the text"), std::string::npos);
  EXPECT_NE(problem("no table\n").find("neither JSON lines nor a table"), std::string::npos);
}

TEST(RecordStream, PassesOnWhatAVisitorThrows) {
  RecordStream<Pieces> records{{"{\"text\": \"a\"}\n", 100}, "in", {.labelled = false}};
  const auto visit = [](const Example&) { throw InputError{"enough"}; };
  const auto wrong = [](const InputError&) { FAIL(); };
  EXPECT_EQ(tests::problem_of([&] { records.read(visit, wrong); }), "enough");
}

TEST(RecordStream, RefusesARecordWithoutEnd) {
  const std::string text =
      "{\"text\": \"" + std::string(std::size_t{20} << 20, 'x') + "\"}\n{\"text\": \"b\"}\n";
  EXPECT_EQ(read(text, text.size()), (Found{"! in:1: a record is longer than 16 MiB", "2: b|~"}));
  const std::string open = "text,x\n\"a,1\n" + std::string(std::size_t{17} << 20, 'x') + "\nb,2\n";
  const auto found = read(open, open.size());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "! in:2: a record is longer than 16 MiB");
  EXPECT_EQ(found[2], "4: b|~");
}

TEST(RecordStream, HandsOutWhatIsCompleteAtOnce) {
  RecordStream<Pieces> records{{"{\"text\": \"a\"}\n{\"te", 14}, "in", {.labelled = false}};
  int seen = 0;
  const auto visit = [&seen](const Example&) { ++seen; };
  const auto wrong = [](const InputError&) {};
  EXPECT_TRUE(records.ready());
  EXPECT_TRUE(records.read(visit, wrong));
  EXPECT_EQ(seen, 1);
}

TEST(RecordStream, TakesALineOfSpacesForATextInAnyParts) {
  expect(" \n\na\n", {"1:  |~", "3: a|~"}, {.format = Format::lines});
  expect("text,x\n\n\xFF,1\n\nb,2\n", {"! in:3: not valid UTF-8; " + iconv, "5: b|~"},
         {.empty_lines = true});
  const ReadOptions all{.format = Format::lines, .empty_lines = true};
  expect("\n \n\r\na\n\n", {"1: |~", "2:  |~", "3: |~", "4: a|~", "5: |~"}, all);
  expect("\n\xFF\n\n", {"1: |~", "! in:2: not valid UTF-8; " + iconv, "3: |~"}, all);
}

TEST(RecordStream, SkipsAByteOrderMarkAtTheBeginningOnly) {
  const ReadOptions json{.format = Format::json_lines};
  expect("\xEF\xBB\xBF{\"text\": \"a\"}\n", {"1: a|~"});
  expect("[]\n\xEF\xBB\xBF{\"text\": \"a\"}\n{\"text\": \"b\"}\n",
         {"! in:1: expected a JSON object; write one object a line",
          "! in:2: not valid JSON: " + std::string{simdjson::error_message(simdjson::TAPE_ERROR)},
          "3: b|~"},
         json);
  expect("\xEF\xBB\xBF\"text\",\"a\nb\"\nc,d\n", {"3: c|~"}, {.format = Format::csv});
  const std::string mark = "\xEF\xBB\xBF";
  expect(mark + mark + "a\n", {"1: " + mark + "a|~"}, {.format = Format::lines});
  expect("\xEF\xBB", {"! in:1: not valid UTF-8; " + iconv}, {.format = Format::lines});
}

}  // namespace
}  // namespace seqtrain::data
