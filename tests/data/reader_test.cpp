#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/reader.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

/// Returns `text|pair|label` for each example, with "~" for a missing part.
std::vector<std::string> read(std::string_view text, const std::string& name = "f",
                              const ReadOptions& options = {}) {
  std::vector<std::string> found;
  const Reader reader{{.text = text, .name = name}, options};
  reader.read_all([&](const Example& example) {
    found.push_back(std::string{example.text} + "|" + std::string{example.text_pair.value_or("~")} +
                    "|" + std::string{example.label.value_or("~")});
  });
  return found;
}

std::string problem(std::string_view text, const std::string& name = "f",
                    const ReadOptions& options = {}) {
  return tests::problem_of([&] { read(text, name, options); });
}

using Found = std::vector<std::string>;
const auto unlabelled = ReadOptions{.labelled = false};

TEST(Reader, ReadsMultiNli) {
  EXPECT_EQ(
      read(R"({"gold_label": "neutral", "sentence1": "A \"b\"\n", "sentence2": "\u00e9", "x": [1]}
{"x": 0, "sentence2": "d", "sentence1": "c", "gold_label": "-"}
)"),
      (Found{"A \"b\"\n|\xC3\xA9|neutral", "c|d|-"}));
}

TEST(Reader, ReadsHuggingFaceFields) {
  EXPECT_EQ(read(R"({"premise":"a","hypothesis":"b","label":2})"), Found{"a|b|2"});
  EXPECT_EQ(read(R"({"premise":"a","hypothesis":"b","label":"neutral"})"), Found{"a|b|neutral"});
  EXPECT_EQ(read("{\"text\":\"a\",\"label\":1.0}\n{\"text\":\"b\",\"label\":true}\n"
                 "{\"text\":\"c\",\"text_pair\":\"d\",\"label\":-1}"),
            (Found{"a|~|1", "b|~|true", "c|d|-1"}));
}

TEST(Reader, ReadsReviewsAndTheirSentiment) {
  EXPECT_EQ(read("review,sentiment\n\"Good, \"\"really\"\".<br /><br />Yes\",positive\n,negative\n",
                 "IMDB Dataset.csv"),
            (Found{"Good, \"really\".<br /><br />Yes|~|positive", "|~|negative"}));
}

TEST(Reader, ReadsWithoutLabels) {
  EXPECT_EQ(read("{\"text\":\"a\"}\n{\"text\":\"b\",\"text_pair\":\"c\",\"label\":3}\n"
                 "{\"text\":\"d\",\"text_pair\":null}",
                 "f", unlabelled),
            (Found{"a|~|~", "b|c|~", "d|~|~"}));
}

TEST(Reader, ReadsGlueTsvWithQuotesAsCharacters) {
  EXPECT_EQ(read("sentence\tlabel\n\"it 's\t1\nb \"\t0\n", "train.tsv"),
            (Found{"\"it 's|~|1", "b \"|~|0"}));
  EXPECT_EQ(read("index\tsentence1\tsentence2\tlabel1\tgold_label\n7\ta\tb\tx\tneutral\n"),
            Found{"a|b|neutral"});
}

TEST(Reader, ReadsCsv) {
  EXPECT_EQ(read("review,sentiment\r\n\"a, \"\"b\"\"\r\nc\",positive\r\nplain,negative\r\n"),
            (Found{"a, \"b\"\r\nc|~|positive", "plain|~|negative"}));
  EXPECT_EQ(read("label,text,text_pair\n1,\"\",\n0,\"\"\"\",\"x\"\"\"", "f.csv"),
            (Found{"||1", "\"|x\"|0"}));
}

TEST(Reader, ToleratesOtherLineEndsBlankLinesAndAByteOrderMark) {
  const Found expected{"a|~|0", "b|~|1"};
  EXPECT_EQ(read("\xEF\xBB\xBF{\"text\":\"a\",\"label\":0}\r\n\r\n "
                 "\t\n{\"text\":\"b\",\"label\":1}\r\n\n"),
            expected);
  EXPECT_EQ(read("\xEF\xBB\xBFtext\tlabel\r\na\t0\r\n\r\nb\t1\r\n\n"), expected);
  EXPECT_EQ(read("\xEF\xBB\xBFtext,label\r\na,0\r\n\r\nb,1\r\n\n", "f.csv"), expected);
}

TEST(Reader, TakesFieldsByName) {
  const std::string text = R"({"a":"x","b":"y","c":"z","text":"t"})";
  EXPECT_EQ(read(text, "f", {.text_field = "b", .label_field = "c"}), Found{"y|~|z"});
  EXPECT_EQ(read(text, "f", {.text_field = "b", .pair_field = "a", .label_field = "c"}),
            Found{"y|x|z"});
  EXPECT_EQ(read(text, "f", {.pair_field = "a", .label_field = "c"}), Found{"t|x|z"});
  EXPECT_EQ(read("a,b\n1,2\n", "f.csv", {.text_field = "b", .label_field = "a"}), Found{"2|~|1"});
}

TEST(Reader, RecognisesFormatsByContentAndName) {
  const auto format = [](std::string_view text, const std::string& name) {
    return recognise_format(text, name);
  };
  EXPECT_EQ(format("\n {", "f"), Format::json_lines);
  EXPECT_EQ(format("{", "f.csv"), Format::json_lines);
  EXPECT_EQ(format("a,b\tc", "f"), Format::tsv);
  EXPECT_EQ(format("a,b\tc", "f.csv"), Format::csv);
  EXPECT_EQ(format("a,b", "f.tsv"), Format::tsv);
  EXPECT_EQ(format("a,b", "f"), Format::csv);
  EXPECT_NE(problem("[{\"text\":1}]", "f.json").find("one object a line"), std::string::npos);
  EXPECT_NE(problem("prose").find("neither"), std::string::npos);
  EXPECT_EQ(problem("\xEF\xBB\xBF \n"), "f: holds no example");
}

TEST(Reader, NamesFileLineAndFieldOfABadJsonRecord) {
  const std::string good = "{\"text\":\"a\",\"label\":0}\n\n";
  EXPECT_EQ(problem(good + "{\"text\":\"a\"}"), "f:3: label: missing");
  EXPECT_EQ(problem(good + "{\"label\":0}"), "f:3: text: missing");
  EXPECT_EQ(problem(good + "{\"text\":7,\"label\":0}"), "f:3: text: expected a string");
  EXPECT_EQ(problem(good + "{\"text\":\"a\",\"label\":null}"), "f:3: label: missing");
  EXPECT_EQ(problem(good + "{\"text\":\"a\",\"label\":0.5}"),
            "f:3: label: a label is a name or a whole number");
  EXPECT_EQ(problem(good + "{\"text\":\"a\",\"label\":[]}"),
            "f:3: label: a label is a name or a whole number");
  EXPECT_EQ(
      problem(
          "{\"premise\":\"a\",\"hypothesis\":\"b\",\"label\":0}\n{\"premise\":\"a\",\"label\":0}"),
      "f:2: hypothesis: missing");
  for (const char* broken : {"{\"text\":\"a\",\"label\":0", "{\"text\":\"a\" \"label\":0}", "{} {}",
                             "{\"text\":\"\\x\",\"label\":0}", "{\"text\":tru,\"label\":0}", "x"}) {
    EXPECT_TRUE(problem(good + broken).starts_with("f:3: not valid JSON: ")) << broken;
  }
  EXPECT_TRUE(problem(good + "[1]").starts_with("f:3: expected a JSON object"));
  EXPECT_TRUE(problem("{}").starts_with("f:1: an object without fields"));
}

TEST(Reader, NamesFileAndLineOfABadTableRow) {
  EXPECT_EQ(problem("text\tlabel\na\t1\nb\n"), "f:3: expected 2 columns, found 1");
  EXPECT_EQ(problem("text,label\na,1\n\"b\n\",2,3\n"), "f:3: expected 2 columns, found 3");
  EXPECT_EQ(problem("text,label\n\"a\nb\",1\n\"c,1\n"), "f:4: a quote is not closed");
  EXPECT_EQ(problem("text,label\n\"a\"b,1\n"), "f:2: text after a closing quote");
  EXPECT_TRUE(problem("text,label\na\"b,1\n").starts_with("f:2: a quote inside a field"));
}

TEST(Reader, NamesTheLineThatIsNotUtf8) {
  const std::string advice = "not valid UTF-8; convert the file to UTF-8";
  EXPECT_EQ(problem("{\"text\":\"a\",\"label\":0}\n{\"text\":\"\xFF\",\"label\":0}"),
            "f:2: " + advice);
  EXPECT_EQ(problem("text\tlabel\na\t1\n\xC3\t1\n"), "f:3: " + advice);
  EXPECT_EQ(problem("text,label\n\"a\n\n\xED\xA0\x80\",1\n"), "f:4: " + advice);
  EXPECT_EQ(problem("te\xFFxt\tlabel\n"), "f:1: " + advice);
  EXPECT_EQ(problem("text\tlabel\na\n\xFF\t1\n"), "f:2: expected 2 columns, found 1");
}

TEST(Reader, SaysWhichOptionHelps) {
  EXPECT_EQ(problem(R"({"body":"a","label":1})"),
            "f: no known field for the text among: body, label; name it with --text-field");
  EXPECT_EQ(problem(R"({"text":"a","y":1})"),
            "f: no known field for the label among: text, y; name it with --label-field");
  EXPECT_EQ(problem("message,team\na,1\n"),
            "f: no known field for the text and none for the label among: message, team; name them "
            "with --text-field and --label-field");
  EXPECT_EQ(problem("text;label\na;1\n", "f.csv"),
            "f.csv: has semicolons between its columns: text;label; write commas, or tabs into a "
            ".tsv");
  EXPECT_EQ(problem("text,label\na,1\n", "f", {.text_field = "b"}),
            "f: b: no such column; there are: text, label");
}

TEST(Reader, ReadsATableOfOneColumnWithoutLabels) {
  EXPECT_EQ(read("text\na\nb\n", "f", {.labelled = false}), (Found{"a|~|~", "b|~|~"}));
  EXPECT_EQ(read("\"sentence\"\r\n\"a, b\"\r\n", "f", {.labelled = false}), Found{"a, b|~|~"});
  EXPECT_EQ(read("comment\na\n", "f.csv", {.labelled = false}), Found{"a|~|~"});
  EXPECT_NE(problem("a text without a header\nb\n", "f.csv", {.labelled = false})
                .find("no known field for the text among: a text without a header"),
            std::string::npos);
  EXPECT_NE(problem("comment\na\n", "f.csv").find("and none for the label"), std::string::npos);
}

TEST(Reader, ReadsAMegabyteLine) {
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(read("{\"text\":\"" + text + "\",\"label\":0}"), Found{text + "|~|0"});
}

/// Checks that the examples of a text do not depend on the size of its parts.
void check_parts(const std::string& text, const std::string& name) {
  const Reader reader{{.text = text, .name = name}};
  std::vector<std::string> whole;
  reader.read_all([&](const Example& example) { whole.emplace_back(example.record); });
  EXPECT_FALSE(whole.empty());
  for (const std::size_t bytes : {0, 1, 2, 3, 7, 20, 1000}) {
    std::vector<std::string> found;
    for (const auto part : reader.parts(bytes)) {
      reader.read(part, [&](const Example& example) { found.emplace_back(example.record); });
    }
    EXPECT_EQ(found, whole) << bytes;
  }
}

TEST(Reader, CutsPartsAtRecords) {
  std::mt19937 random{3};
  for (int round = 0; round < 50; ++round) {
    std::string csv = "text,label\r\n";
    std::string lines;
    for (int i = 0; i < 20; ++i) {
      csv += random() % 2 == 0 ? "plain,1\n" : "\"a \"\"quoted\"\"\n\r\n,\",0\r\n";
      lines += "{\"text\":\"" + std::string(random() % 9, 'x') + "\",\"label\":1}\n";
    }
    check_parts(csv, "f.csv");
    check_parts(lines, "f.jsonl");
  }
}

TEST(Reader, SurvivesAnyBytes) {
  std::mt19937 random{5};
  const std::vector<std::string> pieces{"{",         "}",
                                        "\"text\"",  ":",
                                        "\"a\"",     ",",
                                        "\"label\"", "1",
                                        "text",      "\t",
                                        "label",     "\n",
                                        "\r\n",      "\"",
                                        "\"\"",      "\xFF",
                                        "\xC3\xA9",  "\\",
                                        "[",         "null",
                                        "-",         std::string(1, '\0')};
  int read_some = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 3 == 0   ? ""
                       : round % 3 == 1 ? "text,label\n"
                                        : "{\"text\":\"a\",\"label\":1}\n";
    for (auto left = random() % 12; left > 0; --left) text += pieces[random() % pieces.size()];
    try {
      read_some += read(text).empty() ? 0 : 1;
    } catch (const InputError&) {
      continue;
    }
  }
  EXPECT_GT(read_some, 100);
}

}  // namespace
}  // namespace seqtrain::data
