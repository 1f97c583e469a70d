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

TEST(Reader, RefusesAnEmptyLabelWithItsLine) {
  const std::string expected = "f:3: the label is empty; write one, or leave out the row";
  EXPECT_EQ(problem("text,label\na,x\nb,\n"), expected);
  EXPECT_EQ(problem("text\tlabel\n\nb\t\n"), expected);
  EXPECT_EQ(problem("\n\n{\"text\": \"b\", \"label\": \"\"}"), "f:3: label: missing");
  EXPECT_EQ(read("text,label\na,\n", "f", unlabelled), Found{"a|~|~"});
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
  EXPECT_EQ(format("a\tb", "f.csv"), Format::tsv);
  EXPECT_EQ(format("a,b", "f.tsv"), Format::tsv);
  EXPECT_EQ(format("a,b", "f"), Format::csv);
  EXPECT_NE(problem("[{\"text\":1}]", "f.json").find("one object a line"), std::string::npos);
  EXPECT_NE(problem("prose").find("neither"), std::string::npos);
  EXPECT_EQ(problem("\xEF\xBB\xBF \n"), "f: holds no example");
  EXPECT_EQ(problem("\n \n", "f", {.format = Format::csv}), "f: holds no example");
}

TEST(Reader, NamesFileLineAndFieldOfABadJsonRecord) {
  const std::string good = "{\"text\":\"a\",\"label\":0}\n\n";
  EXPECT_EQ(problem(good + "{\"text\":\"a\"}"), "f:3: label: missing");
  EXPECT_EQ(problem(good + "{\"label\":0}"), "f:3: text: missing");
  EXPECT_EQ(problem(good + "{\"text\":7,\"label\":0}"), "f:3: text: expected a string");
  EXPECT_EQ(problem(good + "{\"text\":\"a\",\"label\":null}"), "f:3: label: missing");
  EXPECT_EQ(
      problem(good + "{\"text\":\"a\",\"label\":0.5}"),
      "f:3: label: a label is a name or a whole number; numbers to predict are --problem-type "
      "regression");
  EXPECT_EQ(problem(good + "{\"text\":\"a\",\"label\":[]}"), "f:3: label: missing");
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

TEST(Reader, TakesAListOfOneLabel) {
  const std::string first = R"({"text":"a","label":)";
  EXPECT_EQ(read(first + R"(["good"]})"), Found{"a|~|good"});
  EXPECT_EQ(read(first + R"([3]})"), Found{"a|~|3"});
  EXPECT_EQ(read(first + R"([true]})"), Found{"a|~|true"});
  EXPECT_EQ(problem(first + R"(["good","bad"]})"),
            "f:1: label: holds 2 labels, expected one; several labels of a record are "
            "--problem-type multi_label_classification");
  EXPECT_EQ(problem(first + R"([[0,5,"x"]]})"),
            "f:1: label: holds spans of the text, [begin, end, label], not a label of the text; "
            "export the labels of whole texts, such as doccano's text classification");
  EXPECT_NE(problem(first + R"([{"a":1}]})").find("a list holds lists or objects"),
            std::string::npos);
  EXPECT_EQ(
      problem(first + R"([0.5]})"),
      "f:1: label: a label is a name or a whole number; numbers to predict are --problem-type "
      "regression");
  EXPECT_EQ(problem(first + R"([null]})"), "f:1: label: missing");
  EXPECT_EQ(read(first + R"([]})", "f", {.label_optional = true}), Found{"a|~|~"});
}

TEST(Reader, SaysWhatToDoAboutAQuoteAfterABackslash) {
  const std::string head = "text,label\nx,1\n";
  const std::string wanted =
      R"(: a quote after a backslash ends the field; write a quote inside a field as "", not as )"
      R"(\"; Spark does so with .option("escape", "\""))";
  for (const char* record : {R"("She said \"hello\", then left",1)", R"("5\" screen",1)",
                             R"("ends \"",1)", R"("a\",b",1)", R"(5\" screen,1)", R"("\"",1)"}) {
    EXPECT_EQ(problem(head + record + "\n"), "f:3" + wanted) << record;
    EXPECT_EQ(problem(head + "\"a\nb\",2\n" + record + "\n\"y\",1\n"), "f:5" + wanted) << record;
  }
  // RFC 4180 gives a backslash no meaning.
  EXPECT_EQ(read("text,label\n\"C:\\dir\\\",1\n\"a\\\"\"b\",\"2\\\"\n", "f.csv"),
            (Found{"C:\\dir\\|~|1", "a\\\"b|~|2\\"}));
  EXPECT_EQ(problem(head + "5\" screen,1\n\"a\\\",1\n"),
            "f:3: a quote inside a field that does not begin with one; put the field into quotes "
            "and double its own");
}

TEST(Reader, NamesTheLineThatIsNotUtf8) {
  const std::string advice =
      "not valid UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 old > new";
  EXPECT_EQ(problem("{\"text\":\"a\",\"label\":0}\n{\"text\":\"\xFF\",\"label\":0}"),
            "f:2: " + advice);
  EXPECT_EQ(problem("text\tlabel\na\t1\n\xC3\t1\n"), "f:3: " + advice);
  EXPECT_EQ(problem("text,label\n\"a\n\n\xED\xA0\x80\",1\n"), "f:4: " + advice);
  EXPECT_EQ(problem("te\xFFxt\tlabel\n"), "f:1: " + advice);
  EXPECT_EQ(problem("text\tlabel\na\n\xFF\t1\n"), "f:2: expected 2 columns, found 1");
  EXPECT_EQ(problem(std::string_view{"\xFF\xFEt\0\n\0", 6}, "f.csv"),
            "f.csv:1: not valid UTF-8; convert the file: iconv -f UTF-16 -t UTF-8 old > new");
}

TEST(Reader, SaysWhichOptionHelps) {
  EXPECT_EQ(problem(R"({"body":"a","label":1})"),
            "f: no known field for the text among: body, label; name it with --text-field");
  EXPECT_EQ(problem(R"({"text":"a","y":1})"),
            "f: no known field for the label among: text, y; name it with --label-field");
  EXPECT_EQ(problem("message,team\na,1\n"),
            "f: no known field for the text and none for the label among: message, team; name them "
            "with --text-field and --label-field; the first line was taken as the header: if it is "
            "an example, name the columns with --columns, such as --columns text,label");
  EXPECT_EQ(problem("text;label\na;1\n", "f.csv"),
            "f.csv: has semicolons between its columns: text;label; write commas, or tabs into a "
            ".tsv");
  EXPECT_EQ(problem("text,label\na,1\n", "f", {.text_field = "b"}),
            "f: b: no such column; there are: text, label");
}

TEST(Reader, SaysThatTheFirstLineWasTakenForTheHeader) {
  EXPECT_EQ(problem("Fine film.\t1\nBad.\t0\n"),
            "f: no known field for the text and none for the label among: Fine film., 1; name them "
            "with --text-field and --label-field; the first line was taken as the header: if it is "
            "an example, name the columns with "
            "--columns, such as --columns text,label");
}

TEST(Reader, NamesTheColumnsOfTablesWithoutAHeader) {
  EXPECT_EQ(read("a\t1\nb\t0\n", "f", {.columns = {"text", "label"}}), (Found{"a|~|1", "b|~|0"}));
  EXPECT_EQ(read("\xEF\xBB\xBF\n1,x,\"a\nb\",c\n", "f.csv",
                 {.columns = {"label", "-", "text", "text_pair"}}),
            Found{"a\nb|c|1"});
  EXPECT_EQ(read("x\tx\t4.5\tA, b.\tC.\nx\tx\t2\tD\tE\tlicence\tlink\n", "sts.csv",
                 {.columns = {"-", "-", "score", "sentence1", "sentence2", "..."}}),
            (Found{"A, b.|C.|4.5", "D|E|2"}));
  EXPECT_EQ(read("a,b\n", "f.csv", {.text_field = "2", .columns = {"1", "2"}, .labelled = false}),
            Found{"b|~|~"});
  EXPECT_EQ(problem("a\t1\tx\n", "f", {.columns = {"text", "label"}}),
            "f:1: expected 2 columns, found 3");
  EXPECT_EQ(problem("a\n", "f.tsv", {.columns = {"text", "label", "..."}}),
            "f.tsv:1: expected 2 columns, found 1");
  EXPECT_EQ(problem("a\t1\n", "f", {.columns = {"body", "label"}}),
            "f: no known field for the text among: body, label; name it with --text-field");
}

TEST(Reader, RefusesNamesOfColumnsWhereTheFileHasThem) {
  EXPECT_EQ(problem("\n{\"text\":\"a\",\"label\":0}", "f", {.columns = {"text", "label"}}),
            "f: has names of its own for its fields; leave out --columns, which is for .tsv and "
            ".csv without a header line");
  EXPECT_EQ(problem("\nText,label\na,1\n", "f.csv", {.columns = {"text", "label"}}),
            "f.csv:2: the first line is a header with the names of the columns; leave out "
            "--columns");
}

TEST(Reader, RefusesNamesOfColumnsBesideAQuotedHeader) {
  EXPECT_NE(problem("\"text\",\"label\"\na,1\n", "f.csv", {.columns = {"text", "label"}})
                .find("the first line is a header"),
            std::string::npos);
  EXPECT_NE(problem("a\n", "f", {.columns = {"text"}, .format = Format::lines})
                .find("leave out --columns"),
            std::string::npos);
}

TEST(Reader, ReadsNamesOfFieldsInAnyCase) {
  EXPECT_EQ(read("Text,Label\na,1\n", "f.csv"), Found{"a|~|1"});
  EXPECT_EQ(read("{\"Premise\":\"a\",\"HYPOTHESIS\":\"b\",\"Label\":2}"), Found{"a|b|2"});
  EXPECT_EQ(read("Body,Topic\na,1\n", "f.csv", {.text_field = "body", .label_field = "TOPIC"}),
            Found{"a|~|1"});
  EXPECT_EQ(read("TEXT,text,label\na,b,1\n", "f.csv"), Found{"b|~|1"});
  EXPECT_NE(problem("TEXT,Text,label\na,b,1\n", "f.csv").find("no known field for the text"),
            std::string::npos);
}

TEST(Reader, RefusesFieldsThatOnlyLaterRecordsHave) {
  const std::string first = "{\"sentence\":\"a\",\"label\":0}\n";
  EXPECT_EQ(problem(first + "{\"sentence\":\"b\",\"question\":\"c\",\"label\":1}"),
            "f:2: question: the first record has no such field, so it is not clear how it is "
            "meant; name the fields with --text-field, --pair-field and --label-field");
  EXPECT_NE(problem(first + "{\"sentence\":\"b\",\"label\":1,\"Gold_Label\":2}").find("Gold_Label"),
            std::string::npos);
  EXPECT_EQ(read(first + "{\"sentence\":\"b\",\"question\":\"c\",\"label\":1}", "f",
                 {.text_field = "sentence", .label_field = "label"}),
            (Found{"a|~|0", "b|~|1"}));
  EXPECT_EQ(read(first + "{\"sentence\":\"b\",\"score\":\"c\",\"label\":1}"),
            (Found{"a|~|0", "b|~|1"}));
}

TEST(Reader, ReadsAColumnForEachLabel) {
  const ReadOptions several{.label_field = "a,b,c", .problem_type = ProblemType::multi_label};
  EXPECT_EQ(read("id,text,a,b,c\n7,x,1,0,True\n8,y,0,0,0\n", "f.csv", several),
            (Found{R"(x|~|["a","c"])", "y|~|[]"}));
  EXPECT_EQ(read("text\tC\ta\tb\nx\t1.0\t0\tfalse\n", "f", several), Found{R"(x|~|["C"])"});
  EXPECT_EQ(read(R"({"c":1,"text":"x","a":true,"b":"0"})", "f", several),
            Found{R"(x|~|["a","c"])"});
  const ReadOptions one{.label_field = "a,b,c"};
  EXPECT_EQ(read("text,a,b,c\nx,0,1,0\n", "f.csv", one), Found{"x|~|b"});
  EXPECT_EQ(problem("text,a,b,c\nx,1,1,0\n", "f.csv", one),
            "f.csv:2: 2 labels are 1, expected one; several labels of a record are --problem-type "
            "multi_label_classification");
  EXPECT_EQ(problem("text,a,b,c\nx,1,2,0\n", "f.csv", several),
            "f.csv:2: expected 0 or 1, or True or False, in 'b'");
  EXPECT_EQ(problem(R"({"text":"x","a":1,"b":0})", "f", several),
            "f:1: expected 0 or 1, or True or False, in 'c'");
  EXPECT_NE(problem("text,a,c\nx,1,0\n", "f.csv", several).find("b: no such column"),
            std::string::npos);
  EXPECT_EQ(read("text,\"a,b\"\nx,1\n", "f.csv", {.label_field = "a,b"}), Found{"x|~|1"});
}

TEST(Reader, ReadsATableOfOneColumnWithoutLabels) {
  EXPECT_EQ(read("text\na\nb\n", "f", {.labelled = false}), (Found{"a|~|~", "b|~|~"}));
  EXPECT_EQ(read("\"sentence\"\r\n\"a, b\"\r\n", "f", {.labelled = false}), Found{"a, b|~|~"});
  EXPECT_EQ(read("comment\na\n", "f.csv", {.labelled = false}), Found{"a|~|~"});
  EXPECT_NE(problem("太差了\n还行\n", "f.csv", {.labelled = false}).find("no known field"),
            std::string::npos);
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

std::string refused_file(std::string_view bytes, const std::string& file = "f.csv") {
  return tests::problem_of([&] { demand_text(bytes, file); });
}

TEST(WrongFile, IsNamedByItsFirstBytes) {
  EXPECT_EQ(refused_file(std::string_view{"PK\x03\x04\x14\x00", 6}),
            "f.csv: is a zip archive or a spreadsheet; unpack the archive, or save the spreadsheet "
            "as CSV");
  EXPECT_EQ(refused_file("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"),
            "f.csv: is a pointer of git-lfs and not the file itself; fetch the file by: git lfs "
            "pull");
  EXPECT_NE(refused_file("\x1f\x8b\x08").find("is compressed"), std::string::npos);
  EXPECT_NE(refused_file("\x28\xb5\x2f\xfd").find("is compressed"), std::string::npos);
  EXPECT_NE(refused_file("PAR1").find("holds Parquet"), std::string::npos);
}

TEST(WrongFile, IsNoTable) {
  EXPECT_NO_THROW(demand_text("text,label\n", "f"));
  EXPECT_NO_THROW(demand_text("version,label\n", "f"));
  EXPECT_NO_THROW(demand_text("", "f"));
}

TEST(WrongFile, IsFoundWhateverItsName) {
  EXPECT_NE(tests::problem_of([] {
              (void)recognise_format("version https://git-lfs.github.com/spec/v1\n", "t.jsonl");
            }).find("git-lfs"),
            std::string::npos);
}

/// Returns `text|kept,…` for each example; a value that is JSON is in parentheses.
std::vector<std::string> kept(std::string_view text, const ReadOptions& options) {
  std::vector<std::string> found;
  const Reader reader{{.text = text, .name = "f"}, options};
  reader.read_all([&](const Example& example) {
    std::string& line = found.emplace_back(example.text);
    for (const KeptValue& value : example.kept) {
      const std::string text{value.text};
      line += value.is_json ? "|(" + text + ")" : "|" + text;
    }
  });
  return found;
}

TEST(Reader, PassesOnTheValuesOfFields) {
  const ReadOptions options{.labelled = false, .keep = {"id", "Date"}};
  EXPECT_EQ(kept("id,date,text\n7,\"a, b\",x\n,,y\n", options), (Found{"x|7|a, b", "y||"}));
  EXPECT_EQ(kept("id\tdate\ttext\n7\ta\tx\n", options), Found{"x|7|a"});
  EXPECT_EQ(kept(R"({"id": 7.50, "date": "\"", "text": "x"}
{"date": {"a": [null]}, "text": "y"}
)",
                 options),
            (Found{"x|(7.5)|\"", "y|(null)|({\"a\":[null]})"}));
  EXPECT_EQ(kept("{\"text\":\"x\"}", {.labelled = false, .keep = {"text"}}), Found{"x|x"});
}

TEST(Reader, RefusesToPassOnAFieldThatIsNotThere) {
  const ReadOptions options{.labelled = false, .keep = {"id"}};
  EXPECT_EQ(problem("text,date\na,b\n", "f", options),
            "f: id: no such field; there are: text, date");
  EXPECT_EQ(problem("{\"text\": \"a\"}", "f", options), "f: id: no such field; there are: text");
  const ReadOptions lines{.labelled = false, .format = Format::lines, .keep = {"id"}};
  EXPECT_EQ(problem("text\n", "f", lines), "f: id: has no fields");
}

TEST(Reader, JoinsTheTextsOfSeveralFields) {
  const ReadOptions options{.text_field = "title,Body", .label_field = "y"};
  const std::string csv = "title,body,y\nA,b,1\n ,b,1\nA,,1\n,,1\n";
  EXPECT_EQ(read(csv, "f", options), (Found{"A\nb|~|1", "b|~|1", "A|~|1", "|~|1"}));
  EXPECT_EQ(read(R"({"body": "b", "title": "A", "y": 1}
{"title": null, "body": "b", "y": 1}
{"body": "b", "y": 1}
)",
                 "f", options),
            (Found{"A\nb|~|1", "b|~|1", "b|~|1"}));
  EXPECT_EQ(problem("{\"title\":\"a\",\"body\":\"b\",\"y\":1}\n{\"y\":1}\n", "f", options),
            "f:2: title,Body: missing");
  EXPECT_EQ(problem("title,y\nA,1\n", "f", options), "f: Body: no such field; there are: title, y");
  EXPECT_EQ(read("\"a,b\",y\nA,1\n", "f", {.text_field = "a,b", .label_field = "y"}),
            Found{"A|~|1"});
  EXPECT_EQ(read("\"a,b\",c,y\nA,B,1\n", "f", {.text_field = "a\\,b,c", .label_field = "y"}),
            Found{"A\nB|~|1"});
}

TEST(Reader, LetsRecordsLackALabelThatAreSkipped) {
  const ReadOptions options{.skip_unlabelled = true};
  EXPECT_EQ(read("text,label\na,1\nb,\nc, \n", "f", options), (Found{"a|~|1", "b|~|~", "c|~|~"}));
  EXPECT_EQ(read("{\"text\":\"a\",\"label\":null}\n{\"text\":\"b\"}\n", "f", options).size(), 2U);
  EXPECT_NE(problem("text,topic\na,1\n", "f", options).find("no known field for the label"),
            std::string::npos);
}

TEST(Reader, MakesSharesOfTheNumbersOfPeople) {
  ReadOptions options{.label_field = "good,bad", .soft_labels = true};
  EXPECT_EQ(read("text,good,bad\na,3,1\nb,0,2\n", "f.csv", options),
            (Found{R"(a|~|{"good":0.75,"bad":0.25})", R"(b|~|{"good":0,"bad":1})"}));
  EXPECT_EQ(read(R"({"text":"a","good":0.5,"bad":1.5})", "f", options),
            Found{R"(a|~|{"good":0.25,"bad":0.75})"});
  EXPECT_EQ(problem("text,good,bad\na,0,0\n", "f.csv", options),
            "f.csv:2: all counts are 0, so there is no label");
  EXPECT_EQ(problem("text,good,bad\na,-1,0\n", "f.csv", options),
            "f.csv:2: expected a number of people, 0 or more, in 'good'");
  EXPECT_NE(problem("{\"text\":\"a\",\"good\":\"x\",\"bad\":1}", "f", options),
            "nothing was thrown");
  options.skip_unlabelled = true;
  EXPECT_EQ(read("text,good,bad\na,0,0\n", "f.csv", options), Found{"a|~|~"});
}

TEST(Reader, ReadsAColumnForEachTarget) {
  ReadOptions options{.label_field = "v,a", .problem_type = ProblemType::regression};
  EXPECT_EQ(read("text,V,a\nx,1.5,-2e1\ny,-1,0\n", "f.csv", options),
            (Found{"x|~|[1.5,-20]", "y|~|[-1,0]"}));
  EXPECT_EQ(read("{\"a\":2,\"text\":\"x\",\"v\":0.1}\n", "f", options), Found{"x|~|[0.1,2]"});
  EXPECT_EQ(problem("text,v,a\nx,1,2\ny,1,\n", "f.csv", options),
            "f.csv:3: the number in 'a' is missing");
  EXPECT_EQ(problem("text,v,a\nx,high,2\n", "f.csv", options),
            "f.csv:2: 'high' in 'v' is not a finite number");
  for (const char* wrong : {"nan", "1e39", "-inf", "1,5"}) {
    EXPECT_EQ(problem("text\tv\ta\nx\t1\t" + std::string{wrong} + "\n", "f.tsv", options),
              "f.tsv:2: '" + std::string{wrong} + "' in 'a' is not a finite number");
  }
  EXPECT_EQ(problem("{\"text\":\"x\",\"v\":1,\"a\":1}\n{\"text\":\"x\",\"v\":1}\n", "f", options),
            "f:2: the number in 'a' is missing");
  EXPECT_EQ(problem("{\"text\":\"x\",\"v\":\"1\",\"a\":1}\n", "f", options),
            "f:1: '\"1\"' in 'v' is not a finite number");
  EXPECT_NE(problem("text,v,b\nx,1,2\n", "f.csv", options).find("no such"), std::string::npos);
  options.skip_unlabelled = true;
  EXPECT_EQ(read("text,v,a\nx,1,\ny,,\nz,1,2\n", "f.csv", options),
            (Found{"x|~|~", "y|~|~", "z|~|[1,2]"}));
  EXPECT_EQ(problem("text,v,a\nx,high,\n", "f.csv", options),
            "f.csv:2: 'high' in 'v' is not a finite number");
}

TEST(Reader, LeavesOutAnArrayThatLacksANumber) {
  ReadOptions options{.problem_type = ProblemType::regression, .skip_unlabelled = true};
  const char* const lines =
      "{\"text\":\"x\",\"label\":[1,null]}\n{\"text\":\"y\",\"label\":{\"v\":null}}\n"
      "{\"text\":\"z\",\"label\":[1,2]}\n";
  EXPECT_EQ(read(lines, "f", options), (Found{"x|~|~", "y|~|~", "z|~|[1,2]"}));
  options.skip_unlabelled = false;
  EXPECT_EQ(read(lines, "f", options).front(), "x|~|[1,null]");
}

TEST(Reader, NamesRegressionWhereALabelIsANumber) {
  EXPECT_EQ(
      problem("{\"text\":\"a\",\"label\":2.5}"),
      "f:1: label: a label is a name or a whole number; numbers to predict are --problem-type "
      "regression");
}

TEST(Reader, SaysWhatAFileIsWhoseFormatIsGiven) {
  const std::string parquet{"PAR1\x15\xff"};
  EXPECT_NE(problem(parquet, "f", {.format = Format::csv}).find("f: holds Parquet"),
            std::string::npos);
  EXPECT_EQ(read("PAR1 is a text", "f", {.labelled = false, .format = Format::lines}),
            Found{"PAR1 is a text|~|~"});
}

}  // namespace
}  // namespace seqtrain::data
