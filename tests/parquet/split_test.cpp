#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>
#include <gtest/gtest.h>

#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/parquet/split.hpp>

#include "support/corrupt.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/parquet_file.hpp"
#include "support/random_table.hpp"
#include "support/row_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::parquet {
namespace {

using tests::golden_parquet;
using Lists = std::vector<std::vector<std::string>>;

const tests::LetterTokenizer letters;

data::ReadOptions options_for(const std::string& label,
                              ProblemType type = ProblemType::single_label) {
  return {.text_field = "text", .label_field = label, .problem_type = type, .open = open};
}

std::vector<std::string> labels_of(const std::string& column,
                                   ProblemType type = ProblemType::single_label) {
  const auto file = open(golden_parquet("kinds.parquet"), options_for(column, type));
  std::vector<std::string> labels;
  for (const auto& part : file->parts()) {
    file->read(part, [&](const data::Example& example) {
      labels.emplace_back(example.label.value_or("none"));
    });
  }
  return labels;
}

std::string joined_labels(const std::string& column, ProblemType type = ProblemType::single_label) {
  std::string text;
  for (const auto& label : labels_of(column, type)) text += label + " ";
  return text;
}

std::string why_refused(const std::filesystem::path& file, const data::ReadOptions& options) {
  std::string why = tests::refusal([&] {
    const auto split = open(file, options);
    for (const auto& part : split->parts()) split->read(part, [](const data::Example&) {});
  });
  const std::string directory = file.parent_path().string() + "/";
  return why.starts_with(directory) ? why.substr(directory.size()) : why;
}

bool same_rows(const data::EncodedSet& a, const data::EncodedSet& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t row = 0; row < a.size(); ++row) {
    const bool equal = tests::row_of(a, row) == tests::row_of(b, row) &&
                       a.label(row) == b.label(row) && a.first_segment(row) == b.first_segment(row);
    if (!equal) return false;
  }
  return true;
}

/// The bundled pairs as JSON lines and as columns.
struct BundledPairs {
  std::filesystem::path lines =
      std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli/train.jsonl";
  std::vector<std::pair<std::string, std::vector<std::string>>> columns{
      {"gold_label", {}}, {"sentence1", {}}, {"sentence2", {}}};

  /// Appends its number to the texts of each copy, so that the copies differ.
  explicit BundledPairs(int copies = 1) {
    const MappedFile file{lines};
    const data::Reader reader{{.text = file.text(), .name = "train"}};
    for (int i = 0; i < copies; ++i) {
      reader.read_all([&](const data::Example& example) {
        columns[0].second.emplace_back(*example.label);
        columns[1].second.push_back(std::string{example.text} +
                                    std::string(static_cast<std::size_t>(i), '.'));
        columns[2].second.emplace_back(*example.text_pair);
      });
    }
  }
};

TEST(ParquetSplit, ReadsPairsAndNamesOfClassLabels) {
  const auto file = open(golden_parquet("nli.parquet"), {});
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->label_names(),
            (std::vector<std::string>{"entailment", "neutral", "contradiction"}));
  std::string seen;
  for (const auto& part : file->parts()) {
    file->read(part, [&](const data::Example& example) {
      if (example.row < 6) return;
      seen += std::to_string(example.row) + " " + std::string{example.text} + ", " +
              std::string{*example.text_pair} + ": " + std::string{*example.label} + "\n";
    });
  }
  EXPECT_EQ(seen,
            "6 premise 5 ä, hypothesis 5: contradiction\n"
            "7 premise 6 ä, hypothesis 6: entailment\n"
            "8 premise 7 ä, hypothesis 7: -\n"
            "9 premise 8 ä, hypothesis 8: contradiction\n"
            "10 premise 9 ä, hypothesis 9: entailment\n");
}

TEST(ParquetSplit, SeveralFilesAreOneSplit) {
  const auto encode = [&](const std::string& name) {
    return data::encode_file(golden_parquet(name), letters, data::Labels::nli(),
                             {.read = {.open = open}});
  };
  const auto whole = encode("nli.parquet");
  EXPECT_EQ(whole.set.size(), 9U);
  EXPECT_EQ(whole.left_out, 1U);
  EXPECT_TRUE(same_rows(encode("nli-*.parquet").set, whole.set));
  const std::string second = golden_parquet("nli-00001-of-00002.parquet").string();
  EXPECT_TRUE(same_rows(encode("nli-00000-of-00002.parquet," + second).set, whole.set));
  const auto split = open(golden_parquet("nli-*.parquet"), {});
  EXPECT_EQ(split->files().size(), 2U);
  data::Example eighth{.row = 8};
  EXPECT_EQ(split->label_error("is wrong", eighth, {}).what(), second + ":2: label: is wrong");
  EXPECT_EQ(
      data::record_numbers(golden_parquet("nli-*.parquet"), {.open = open}, data::Labels::nli()),
      (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 9, 10}));
}

TEST(ParquetSplit, FilesAreFoundWhateverTheLabels) {
  const auto kinds = golden_parquet("kinds.parquet");
  EXPECT_EQ(data::files_at(kinds, options_for("names")), std::vector{kinds});
  EXPECT_EQ(data::files_at(golden_parquet("nli-*.parquet"), {.open = open}).size(), 2U);
  EXPECT_EQ(data::files_at("a,b", {.open = open}), (std::vector<std::filesystem::path>{"a", "b"}));
}

TEST(ParquetSplit, GivesRowsOfJsonLines) {
  const tests::TemporaryDirectory directory;
  const BundledPairs pairs;
  const auto lines = data::encode_file(pairs.lines, letters, data::Labels::nli());
  for (const std::int64_t rows_a_group : {7, 1000, 1'000'000}) {
    const auto file = directory / "pairs.parquet";
    tests::write_parquet(file, pairs.columns, rows_a_group);
    for (const std::size_t workers : {1, 4}) {
      const data::EncodeFileOptions options{.read = {.open = open}, .workers = workers};
      EXPECT_TRUE(
          same_rows(data::encode_file(file, letters, data::Labels::nli(), options).set, lines.set));
    }
    EXPECT_EQ(data::choose_labels({}, {}, file, {.open = open}), data::Labels::nli());
  }
}

TEST(ParquetSplit, PartsMayBeReadInAnyOrderByThreads) {
  const tests::TemporaryDirectory directory;
  const BundledPairs pairs{5};
  const auto path = directory / "pairs.parquet";
  tests::write_parquet(path, pairs.columns, 1'000'000);
  const auto file = open(path, {});
  const auto parts = file->parts();
  ASSERT_GT(parts.size(), 3U);
  std::vector<std::string> found(2 * parts.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < found.size(); ++i) {
      threads.emplace_back([&, i] {
        file->read(parts[parts.size() - 1 - i / 2],
                   [&](const data::Example& example) { found[i] += example.text; });
      });
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& part = parts[parts.size() - 1 - i / 2];
    std::string expected;
    for (std::size_t row = part.first; row < part.end; ++row) {
      expected += pairs.columns[1].second[row];
    }
    EXPECT_TRUE(found[i] == expected) << i;
  }
}

TEST(ParquetSplit, ReadsLabelsOfEachType) {
  EXPECT_EQ(joined_labels("string"), "neg pos neg pos neg pos neg pos none pos ");
  EXPECT_EQ(joined_labels("large_string"), joined_labels("string"));
  EXPECT_EQ(joined_labels("dictionary"), joined_labels("string"));
  EXPECT_EQ(joined_labels("int8"), "0 1 -1 3 100 0 1 -1 3 100 ");
  EXPECT_EQ(labels_of("uint64").at(1), "18446744073709551615");
  EXPECT_EQ(joined_labels("double"), "0 2 1000 -4 none 0 2 1000 -4 none ");
  EXPECT_EQ(joined_labels("bool").substr(0, 11), "true false ");
  EXPECT_EQ(labels_of("null"), std::vector<std::string>(10, "none"));
}

/// Returns the labels in a column of a file with texts, one after the other.
std::string labels_in(const std::shared_ptr<arrow::Array>& column,
                      ProblemType type = ProblemType::single_label) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "f.parquet";
  const std::vector<std::string> texts(static_cast<std::size_t>(column->length()), "x");
  tests::write_arrays(path, {{"text", tests::array_of(texts)}, {"label", column}}, 2);
  std::string labels;
  try {
    const auto file = open(path, options_for("label", type));
    for (const auto& part : file->parts()) {
      file->read(part, [&](const data::Example& example) {
        labels += std::string{example.label.value_or("none")} + " ";
      });
    }
  } catch (const InputError& error) {
    const std::string what = error.what();
    return labels + what.substr(what.find("f.parquet"));
  }
  return labels;
}

/// Returns a column of decimals. An empty text is a null.
template <class Builder, class Decimal>
std::shared_ptr<arrow::Array> decimals(const std::shared_ptr<arrow::DataType>& type,
                                       const std::vector<std::string>& values) {
  Builder builder{type};
  const auto scale = static_cast<const arrow::DecimalType&>(*type).scale();
  for (const auto& text : values) {
    if (text.empty()) {
      PARQUET_THROW_NOT_OK(builder.AppendNull());
      continue;
    }
    Decimal value;
    std::int32_t precision = 0, scale_of_text = 0;
    PARQUET_THROW_NOT_OK(Decimal::FromString(text, &value, &precision, &scale_of_text));
    PARQUET_THROW_NOT_OK(builder.Append(value.Rescale(scale_of_text, scale).ValueOrDie()));
  }
  return builder.Finish().ValueOrDie();
}

std::shared_ptr<arrow::Array> numeric(const std::vector<std::string>& values) {
  return decimals<arrow::Decimal128Builder, arrow::Decimal128>(arrow::decimal128(38, 9), values);
}

std::shared_ptr<arrow::Array> halves(const std::vector<float>& values) {
  arrow::HalfFloatBuilder builder;
  for (const float value : values) {
    PARQUET_THROW_NOT_OK(builder.Append(arrow::util::Float16::FromFloat(value).bits()));
  }
  return builder.Finish().ValueOrDie();
}

TEST(ParquetSplit, ReadsDecimalsAsTheirText) {
  const std::vector<std::string> values{
      "0",           "1",      "-2.5",
      "0.000000001", "",       "-0.5",
      "10",          "100.25", "99999999999999999999999999999.999999999"};
  const std::string expected =
      "0 1 -2.5 0.000000001 none -0.5 10 100.25 99999999999999999999999999999.999999999 ";
  const auto wide =
      decimals<arrow::Decimal256Builder, arrow::Decimal256>(arrow::decimal256(76, 38), values);
  const auto regression = ProblemType::regression;
  EXPECT_EQ(labels_in(numeric(values)), expected);
  EXPECT_EQ(labels_in(numeric(values), regression), expected);
  EXPECT_EQ(labels_in(wide), expected);
  EXPECT_EQ(labels_in(wide, regression), expected);
  const auto integers = decimals<arrow::Decimal128Builder, arrow::Decimal128>(
      arrow::decimal128(5, 0), {"0", "-12", "300"});
  EXPECT_EQ(labels_in(integers), "0 -12 300 ");
}

TEST(DecimalText, HasAPointWhereTheScaleSays) {
  EXPECT_EQ(detail::decimal_text("25000", 4), "2.5");
  EXPECT_EQ(detail::decimal_text("-5", 3), "-0.005");
  EXPECT_EQ(detail::decimal_text("0", 9), "0");
  EXPECT_EQ(detail::decimal_text("-100", 2), "-1");
  EXPECT_EQ(detail::decimal_text("12", -2), "1200");
  EXPECT_EQ(detail::decimal_text("0", -2), "0");
  EXPECT_EQ(detail::decimal_text("120", 0), "120");
}

TEST(ParquetSplit, ReadsHalfFloatsAsNumbers) {
  EXPECT_EQ(labels_in(halves({0, 1, -2, 2048})), "0 1 -2 2048 ");
  EXPECT_EQ(labels_in(halves({0, 2.5F, -0.125F}), ProblemType::regression), "0 2.5 -0.125 ");
  EXPECT_EQ(labels_in(halves({0, 1, 0.5F})),
            "0 1 f.parquet:3: label: a label is a name or a whole number; numbers to predict are "
            "--problem-type regression");
}

TEST(ParquetSplit, TakesAListOfOneLabel) {
  EXPECT_EQ(labels_in(tests::array_of(Lists{{"good"},
                                            {},
                                            {
                                                "bad",
                                            }})),
            "good none bad ");
  EXPECT_EQ(labels_in(tests::array_of(Lists{{"good"}, {"good", "bad"}})),
            "good f.parquet:2: label: holds 2 labels, expected one; several labels a row are "
            "--problem-type multi_label_classification");
  const auto items = std::make_shared<arrow::Decimal128Builder>(arrow::decimal128(38, 9));
  arrow::ListBuilder builder{arrow::default_memory_pool(), items};
  for (const int value : {1, 0}) {
    PARQUET_THROW_NOT_OK(builder.Append());
    PARQUET_THROW_NOT_OK(items->Append(arrow::Decimal128{value * std::int64_t{1'000'000'000}}));
  }
  const auto lists = builder.Finish().ValueOrDie();
  EXPECT_EQ(labels_in(lists), "1 0 ");
  EXPECT_EQ(labels_in(lists, ProblemType::multi_label), "[1] [0] ");
}

TEST(ParquetSplit, GivesLabelsOfJsonLines) {
  const tests::TemporaryDirectory directory;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const bool several = seed % 3 == 0, join = seed % 2 == 0;
    const tests::RandomTable table{seed, several, false};
    std::vector<std::string> texts, labels;
    Lists lists;
    for (const auto& row : table.rows()) {
      texts.push_back(row.text);
      lists.push_back(row.labels);
      if (!several) labels.push_back(row.labels[0]);
    }
    const auto lines = tests::write_file(directory / "f.jsonl", table.json_lines());
    const auto type = several ? ProblemType::multi_label : ProblemType::single_label;
    const auto found = [&](const std::filesystem::path& file, data::Labels& names) {
      const data::ReadOptions read{.problem_type = type, .open = open};
      std::string joined;
      const auto say = [&](const auto& spellings, const std::string& name) {
        joined += name + ": " + data::to_text(spellings) + "\n";
      };
      names = data::choose_labels({}, {}, file, read, join ? data::JoinLabels{say} : nullptr);
      return std::pair{joined, data::encode_file(file, letters, names, {.read = read})};
    };
    auto of_lines = data::Labels::nli(), of_columns = of_lines;
    const auto expected = found(lines, of_lines);
    for (const auto& column :
         {tests::array_of(lists), several ? nullptr : tests::array_of(labels)}) {
      if (column == nullptr) continue;
      const auto file = directory / "f.parquet";
      tests::write_arrays(file, {{"text", tests::array_of(texts)}, {"label", column}}, 7);
      const auto columns = found(file, of_columns);
      EXPECT_EQ(of_columns, of_lines) << seed;
      EXPECT_EQ(columns.first, expected.first) << seed;
      EXPECT_TRUE(same_rows(columns.second.set, expected.second.set)) << seed;
      EXPECT_TRUE(std::ranges::equal(columns.second.set.arrays().targets,
                                     expected.second.set.arrays().targets))
          << seed;
    }
  }
}

TEST(ParquetSplit, ANullLabelIsRefusedWithItsPlace) {
  const auto problem = tests::refusal([] {
    (void)data::encode_file(golden_parquet("kinds.parquet"), letters, data::Labels{{"neg", "pos"}},
                            {.read = options_for("string")});
  });
  EXPECT_NE(problem.find("expected a label, found null"), std::string::npos) << problem;
  EXPECT_NE(problem.find("kinds.parquet"), std::string::npos) << problem;
  EXPECT_NE(problem.find("string"), std::string::npos) << problem;
}

TEST(ParquetSplit, ReadsNumbersAndListsAsJson) {
  const auto multi = ProblemType::multi_label;
  EXPECT_EQ(joined_labels("names", multi).substr(0, 35), R"(["a","b"] [] none ["c"] ["d\"e"] [")");
  EXPECT_EQ(joined_labels("flags", multi).substr(0, 16), "[0,1,1] [1,0,0] ");
  EXPECT_EQ(joined_labels("ids", multi).substr(0, 30), R"(["x","z"] ["y"] [] ["z"] ["x"])");
  EXPECT_EQ(joined_labels("half", ProblemType::regression).substr(0, 6), "0 2.5 ");
  const auto labels =
      data::choose_labels({}, {}, golden_parquet("kinds.parquet"), options_for("ids", multi));
  EXPECT_EQ(labels.names(), (std::vector<std::string>{"x", "y", "z"}));
  const auto encoded = data::encode_file(golden_parquet("kinds.parquet"), letters, labels,
                                         {.read = options_for("ids", multi)});
  EXPECT_EQ(encoded.set.targets(0)[2], 1);
  EXPECT_EQ(encoded.set.targets(1)[0], 0);
}

TEST(ParquetSplit, ANullPairIsNoPair) {
  auto options = options_for("bool");
  options.pair_field = "pair";
  EXPECT_EQ(why_refused(golden_parquet("kinds.parquet"), options),
            "kinds.parquet:1: pair: expected a string, found null");
  EXPECT_EQ(
      why_refused(golden_parquet("kinds.parquet"), {.text_field = "string", .label_field = "int8"}),
      "kinds.parquet:9: string: expected a string, found null");
}

TEST(ParquetSplit, NamesFileRowAndColumnOfErrors) {
  const auto kinds = golden_parquet("kinds.parquet");
  EXPECT_EQ(why_refused(kinds, {.text_field = "bytes", .label_field = "int8"}),
            "kinds.parquet:7: bytes: not valid UTF-8; convert the texts to UTF-8");
  EXPECT_EQ(why_refused(kinds, {.text_field = "cut", .label_field = "int8"}),
            "kinds.parquet:2: cut: not valid UTF-8; convert the texts to UTF-8");
  EXPECT_EQ(why_refused(kinds, {.text_field = "int8", .label_field = "int8"}),
            "kinds.parquet: int8: holds int8, expected strings");
  EXPECT_EQ(why_refused(kinds, options_for("half")),
            "kinds.parquet:2: half: a label is a name or a whole number; numbers to predict are "
            "--problem-type regression");
  EXPECT_EQ(why_refused(kinds, options_for("days")),
            "kinds.parquet: days: holds date32[day], expected names, numbers or lists of them");
  EXPECT_THROW((void)open(kinds, options_for("struct")), InputError);
  EXPECT_NE(why_refused(kinds, options_for("names")).find("--problem-type"), std::string::npos);
  EXPECT_EQ(why_refused(kinds, options_for("nowhere")).substr(0, 39),
            "kinds.parquet: nowhere: no such column;");
  const std::string other = golden_parquet("other_names.parquet").string();
  EXPECT_EQ(tests::refusal([&] { (void)open(golden_parquet("nli-*.parquet," + other), {}); }),
            other + ": label: has other label names than " +
                golden_parquet("nli-00000-of-00002.parquet").string());
  const std::string wrong_label = tests::refusal([&] {
    (void)data::encode_file(golden_parquet("kinds.parquet"), letters, data::Labels{{"neg", "bad"}},
                            {.read = options_for("string")});
  });
  EXPECT_NE(wrong_label.find("kinds.parquet:2: string: unknown label 'pos'"), std::string::npos);
}

TEST(ParquetSplit, KnowsWhatIsNoParquet) {
  const tests::TemporaryDirectory directory;
  const std::string whole = tests::read_file(golden_parquet("nli.parquet"));
  const auto refused = [&](const std::string& bytes) {
    return why_refused(tests::write_file(directory / "f.parquet", bytes), {});
  };
  EXPECT_EQ(refused("{}"),
            "f.parquet: is not a Parquet file: it does not begin with PAR1; see what it is");
  EXPECT_EQ(refused(whole.substr(0, 999)),
            "f.parquet: is cut off: it does not end with PAR1; fetch it again");
  EXPECT_EQ(refused("PAR1"), "f.parquet: is cut off: it does not end with PAR1; fetch it again");
  EXPECT_EQ(refused("PAREPARE"), "f.parquet: is encrypted; decrypt it first");
  EXPECT_EQ(why_refused(directory / "none.parquet", {}), "none.parquet: no such file");
  EXPECT_EQ(open(tests::write_file(directory / "f.jsonl", "{}"), {}), nullptr);
  EXPECT_NE(open(tests::write_file(directory / "no_suffix", whole), {}), nullptr);
  EXPECT_EQ(open(golden_parquet("nli.parquet"), {.format = data::Format::tsv}), nullptr);
  EXPECT_NE(tests::refusal([&] {
              (void)data::encode_file(directory / "no_suffix", letters, data::Labels::nli());
            }).find("holds Parquet"),
            std::string::npos);
}

TEST(ParquetSplit, SurvivesDamage) {
  const tests::TemporaryDirectory directory;
  const auto file = directory / "f.parquet";
  const auto read_with = [&](const data::ReadOptions& options) {
    return [&file, options](const std::string& bytes) {
      std::filesystem::remove(file);  // A new file is not forced to the disk.
      tests::write_file(file, bytes);
      const auto split = open(file, options);
      for (const auto& part : split->parts()) split->read(part, [](const data::Example&) {});
    };
  };
  const std::string nli = tests::read_file(golden_parquet("nli.parquet"));
  tests::expect_no_prefix_is_read(nli.substr(0, 300), read_with({}));
  tests::survive_flipped_bits(nli, 300, read_with({}));
  const std::string kinds = tests::read_file(golden_parquet("kinds.parquet"));
  for (const char* label : {"dictionary", "double", "ids"}) {
    tests::survive_flipped_bits(kinds, 100,
                                read_with(options_for(label, ProblemType::multi_label)));
  }
}

TEST(Split, ReadsAColumnForEachLabel) {
  const tests::TemporaryDirectory directory;
  const auto file = directory / "labels.parquet";
  tests::write_parquet(file, {{"text", {"x", "y"}}, {"B", {"1", "0"}}, {"a", {"True", "0"}}}, 1);
  const data::ReadOptions options{
      .label_field = "a,b", .problem_type = ProblemType::multi_label, .open = open};
  const auto labels = data::choose_labels({}, {}, file, options);
  EXPECT_EQ(labels, data::Labels({"a", "B"}, ProblemType::multi_label));
  const auto set = data::encode_file(file, letters, labels, {.read = options}).set;
  ASSERT_EQ(set.size(), 2U);
  EXPECT_EQ(std::vector(set.targets(0).begin(), set.targets(0).end()), (std::vector<float>{1, 1}));
  EXPECT_EQ(std::vector(set.targets(1).begin(), set.targets(1).end()), (std::vector<float>{0, 0}));
  const auto problem = [](const std::string& columns) {
    return why_refused(golden_parquet("kinds.parquet"),
                       options_for(columns, ProblemType::multi_label));
  };
  EXPECT_EQ(problem("bool,days"), "kinds.parquet: days: holds date32[day], expected 0 or 1");
  EXPECT_NE(problem("bool,int8").find("expected 0 or 1, or True or False, in 'int8'"),
            std::string::npos)
      << problem("bool,int8");
}

/// Returns `text|kept,…` for each row; a value that is JSON is in parentheses.
std::vector<std::string> kept_of(const std::filesystem::path& path,
                                 const data::ReadOptions& options) {
  std::vector<std::string> found;
  const auto file = open(path, options);
  for (const auto& part : file->parts()) {
    file->read(part, [&](const data::Example& example) {
      std::string& line = found.emplace_back(example.text);
      line += "|" + std::string{example.label.value_or("~")};
      for (const data::KeptValue& value : example.kept) {
        const std::string text{value.text};
        line += value.is_json ? "|(" + text + ")" : "|" + text;
      }
    });
  }
  return found;
}

TEST(Split, PassesOnTheValuesOfColumns) {
  const tests::TemporaryDirectory directory;
  arrow::Int32Builder numbers;
  PARQUET_THROW_NOT_OK(numbers.Append(7));
  PARQUET_THROW_NOT_OK(numbers.AppendNull());
  arrow::Date32Builder days;
  PARQUET_THROW_NOT_OK(days.AppendValues({1, 20000}));
  tests::write_arrays(directory / "f.parquet",
                      {{"text", tests::array_of(std::vector<std::string>{"a", "b"})},
                       {"n", numbers.Finish().ValueOrDie()},
                       {"day", days.Finish().ValueOrDie()}},
                      1);
  const data::ReadOptions options{.labelled = false, .open = open, .keep = {"n", "day", "text"}};
  EXPECT_EQ(kept_of(directory / "f.parquet", options),
            (std::vector<std::string>{"a|~|(7)|1970-01-02|a", "b|~|(null)|2024-10-04|b"}));
  const data::ReadOptions wrong{.labelled = false, .open = open, .keep = {"id"}};
  EXPECT_NE(
      why_refused(directory / "f.parquet", wrong).find("id: no such field; there are: text, n"),
      std::string::npos);
}

TEST(Split, JoinsTheTextsOfSeveralColumns) {
  const tests::TemporaryDirectory directory;
  tests::write_parquet(directory / "f.parquet",
                       {{"title", {"A", ""}}, {"body", {"b", "c"}}, {"label", {"1", ""}}}, 2);
  const data::ReadOptions options{
      .text_field = "title,body", .open = open, .skip_unlabelled = true};
  EXPECT_EQ(kept_of(directory / "f.parquet", options), (std::vector<std::string>{"A\nb|1", "c|~"}));
}

TEST(Split, MakesSharesOfTheNumbersOfPeople) {
  const tests::TemporaryDirectory directory;
  tests::write_parquet(directory / "f.parquet", {{"text", {"a"}}, {"x", {"3"}}, {"y", {"1"}}}, 1);
  const data::ReadOptions options{.label_field = "x,y", .soft_labels = true, .open = open};
  EXPECT_EQ(kept_of(directory / "f.parquet", options),
            std::vector<std::string>{R"(a|{"x":0.75,"y":0.25})"});
}

TEST(Split, NamesTheColumnOfANumberThatIsMissing) {
  const tests::TemporaryDirectory directory;
  tests::write_parquet(directory / "f.parquet",
                       {{"text", {"a", "b"}}, {"x", {"1", "2"}}, {"y", {"3", ""}}}, 2);
  const data::ReadOptions options{
      .label_field = "x,y", .problem_type = ProblemType::regression, .open = open};
  EXPECT_EQ(why_refused(directory / "f.parquet", options),
            "f.parquet:2: y: the number in 'y' is missing");
}

}  // namespace
}  // namespace seqtrain::parquet
