#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

#include "support/compressed.hpp"
#include "support/encode_text.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/row_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"
#include "support/temporary_file.hpp"

namespace seqtrain::data {
namespace {

using tests::LetterTokenizer;
using tests::problem_of;
using tests::row_of;

const LetterTokenizer tokenizer;

EncodedFile encode(std::string_view text, const EncodeFileOptions& options = {}) {
  return tests::encode_text({.text = text, .name = "f"}, tokenizer, Labels::nli(), options);
}

/// Returns `count` records with different texts, long enough for many parts.
std::string many_records(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += R"({"premise":")" + std::string(static_cast<std::size_t>(i % 50), 'p') +
            std::to_string(i) + R"(","hypothesis":"h","label":)" + std::to_string(i % 3) + "}\n";
  }
  return text;
}

bool same(const EncodedSet& a, const EncodedSet& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t row = 0; row < a.size(); ++row) {
    const bool equal = row_of(a, row) == row_of(b, row) && a.label(row) == b.label(row) &&
                       a.first_segment(row) == b.first_segment(row);
    if (!equal) return false;
  }
  return true;
}

TEST(EncodeFile, MakesRowsOfPairs) {
  const tests::TemporaryFile file{
      "{\"gold_label\":\"contradiction\",\"sentence1\":\"ab\",\"sentence2\":\"c\"}\n"
      "{\"gold_label\":\"-\",\"sentence1\":\"x\",\"sentence2\":\"y\"}\n"
      "{\"gold_label\":\"entailment\",\"sentence1\":\"\",\"sentence2\":\"d\"}\n"};
  const auto encoded =
      encode_file(file.path(), tokenizer, Labels::nli(), {.encode = {.max_length = 5}});
  ASSERT_EQ(encoded.set.size(), 2u);
  EXPECT_EQ(row_of(encoded.set, 0), (std::vector<std::int32_t>{300, 'a', 'b', 301, 'c'}));
  EXPECT_EQ(row_of(encoded.set, 1), (std::vector<std::int32_t>{300, 301, 'd', 301}));
  EXPECT_EQ(encoded.set.first_segment(0), 4u);
  EXPECT_EQ(encoded.set.label(0), 2);
  EXPECT_EQ(encoded.set.pad_id(), 302);
  EXPECT_EQ(encoded.total, 2u);
  EXPECT_EQ(encoded.left_out, 1u);
  EXPECT_EQ(encoded.at_max_length(), 1u);
}

TEST(EncodeFile, LeavesOutMinusOneUnlessItIsALabel) {
  const std::string rows = "text\tlabel\na\t-1\nb\t0\nc\t1\n";
  const auto of = [&](const Labels& labels) {
    return tests::encode_text({.text = rows, .name = "f"}, tokenizer, labels);
  };
  EXPECT_EQ(of(Labels::sentiment()).left_out, 1u);
  EXPECT_EQ(of(Labels::sentiment()).set.size(), 2u);
  EXPECT_EQ(of(Labels{{"-1", "0", "1"}}).left_out, 0u);
  EXPECT_EQ(of(Labels{{"-1", "0", "1"}}).set.label(0), 0);
}

TEST(EncodeFile, MakesTheSameSetOfACompressedFile) {
  const std::string text = many_records(20'000);
  const tests::TemporaryFile plain{text, ".jsonl"};
  const auto expected = encode_file(plain.path(), tokenizer, Labels::nli());
  for (const auto& [suffix, bytes] : {std::pair{".jsonl.gz", tests::gzipped(text)},
                                      std::pair{".jsonl.zst", tests::zstd_compressed(text)}}) {
    const tests::TemporaryFile file{bytes, suffix};
    EncodeProgress last;
    const auto encoded =
        encode_file(file.path(), tokenizer, Labels::nli(),
                    {.progress = [&](const EncodeProgress& progress) { last = progress; }});
    EXPECT_TRUE(same(encoded.set, expected.set)) << suffix;
    EXPECT_EQ(last.bytes, bytes.size());
    EXPECT_EQ(last.total_bytes, bytes.size());
    EXPECT_EQ(last.examples, 20'000u);
  }
}

TEST(EncodeFile, IsTheSameAtAnyNumberOfWorkers) {
  const std::string text = many_records(20'000);
  const auto one = encode(text, {.workers = 1});
  EXPECT_EQ(one.total, 20'000u);
  for (const std::size_t workers : {2, 7}) {
    EXPECT_TRUE(same(encode(text, {.workers = workers}).set, one.set)) << workers;
  }
}

TEST(EncodeFile, KeepsTheFirstPartOfTheLabelled) {
  const std::string text = "text\tgold_label\na\t0\nb\t-\nc\t1\nd\t2\ne\t0\nf\t1\n";
  const auto kept = [&](double fraction) {
    const auto encoded = encode(text, {.fraction = fraction});
    EXPECT_EQ(encoded.total, 5u);
    EXPECT_EQ(encoded.left_out, 1u);
    return encoded.set.size();
  };
  EXPECT_EQ(kept(1), 5u);
  EXPECT_EQ(kept(0.5), 2u);  // 2.5 is rounded to the even number, as in Python.
  EXPECT_EQ(kept(0.7), 4u);
  EXPECT_EQ(kept(0.2), 1u);
  EXPECT_EQ(problem_of([&] { kept(0.01); }), "f: the fraction leaves no example");
}

TEST(EncodeFile, ReportsTheFirstErrorInFileOrder) {
  std::string text = many_records(20'000);
  const auto break_line = [&](std::size_t line, std::string_view with) {
    std::size_t at = 0;
    for (std::size_t i = 1; i < line; ++i) at = text.find('\n', at) + 1;
    text.replace(at, with.size(), with);
  };
  break_line(19'000, "[");
  break_line(9'000, R"({"qremise":)");
  for (const std::size_t workers : {1, 2, 7}) {
    EXPECT_EQ(problem_of([&] { encode(text, {.workers = workers}); }), "f:9000: premise: missing");
  }
}

TEST(EncodeFile, NamesLabelsThatAreNotKnown) {
  EXPECT_EQ(problem_of([] { encode("text\tlabel\na\t0\nb\t3\n"); }),
            "f:3: label: label 3 is out of range 0 to 2; --labels names them in order");
  EXPECT_EQ(problem_of([] { encode("text\tlabel\nb\tmaybe\n"); }),
            "f:2: label: unknown label 'maybe'; known are: entailment, neutral, contradiction; "
            "--labels names them in order");
  EXPECT_NE(problem_of([] { encode("text\tlabel\nb\t-2\n"); }).find("out of range"),
            std::string::npos);
}

TEST(EncodeFile, TakesNoNumberOfADevFileForAnotherOfTheTrainingFile) {
  const auto encode_dev = [](const std::string& train, const std::string& dev) {
    const auto labels = find_labels(Reader{{.text = train, .name = "train"}});
    return tests::encode_text({.text = dev, .name = "dev"}, tokenizer, labels).set.label(0);
  };
  const std::string stars = "text\tlabel\na\t1\nb\t2\nc\t3\n";
  EXPECT_EQ(problem_of([&] { encode_dev(stars, "text\tlabel\na\t0\n"); }),
            "dev:2: label: unknown label '0'; known are: 1, 2, 3; --labels names them in order");
  EXPECT_NE(problem_of([&] {
              encode_dev(stars, R"({"text": "a", "label": 0.0})");
            }).find("dev:1: label: unknown label '0'"),
            std::string::npos);
  EXPECT_EQ(encode_dev(stars, R"({"text": "a", "label": 1.0})"), 0);
  EXPECT_EQ(encode_dev(stars, "text,label\na,2.0\n"), 1);
  EXPECT_EQ(encode_dev("text,label\na,1.0\nb,2.0\n", R"({"text": "a", "label": 1})"), 0);
  EXPECT_NE(problem_of([&] {
              encode_dev("text\tlabel\na\t0\nb\t2\n", "text\tlabel\na\t1\n");
            }).find("known are: 0, 2"),
            std::string::npos);
}

TEST(EncodeFile, RefusesAFileWithoutExamples) {
  EXPECT_EQ(problem_of([] { encode("text\tlabel\n"); }), "f: holds no example");
  EXPECT_EQ(problem_of([] { encode("text\tlabel\na\t-\n"); }),
            "f: holds no example with a label; name the field of the label with --label-field");
  EXPECT_THROW(encode_file("no/such/file", tokenizer, Labels::nli()), InputError);
}

TEST(EncodeFile, RefusesOptionsOutOfRange) {
  const std::string text = "text\tlabel\na\t1\n";
  for (const double fraction : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(encode(text, {.fraction = fraction}), InputError) << fraction;
  }
  EXPECT_THROW(encode(text, {.workers = 0}), InputError);
  EXPECT_THROW(encode(text, {.workers = 1'000'000}), InputError);
  EXPECT_THROW(encode(text, {.encode = {.max_length = 0}}), InputError);
}

TEST(EncodeFile, MakesARowOfEachTextIfTheyAreApart) {
  const std::string text =
      "{\"gold_label\":\"contradiction\",\"sentence1\":\"ab\",\"sentence2\":\"c\"}\n"
      "{\"gold_label\":\"entailment\",\"sentence1\":\"x\",\"sentence2\":\"yz\"}\n";
  const auto apart = encode(text, {.texts = Texts::apart});
  ASSERT_EQ(apart.set.size(), 4U);
  EXPECT_EQ(row_of(apart.set, 0), (std::vector<std::int32_t>{300, 'a', 'b', 301}));
  EXPECT_EQ(row_of(apart.set, 1), (std::vector<std::int32_t>{300, 'c', 301}));
  EXPECT_EQ(row_of(apart.set, 3), (std::vector<std::int32_t>{300, 'y', 'z', 301}));
  EXPECT_EQ(apart.set.first_segment(1), 3U);
  EXPECT_EQ(apart.set.label(0), 2);
  EXPECT_EQ(apart.set.label(1), 2);
  EXPECT_EQ(apart.set.label(2), 0);
  const auto half = encode(many_records(10), {.texts = Texts::apart, .fraction = 0.3});
  EXPECT_EQ(half.set.size(), 6U);
  EXPECT_EQ(problem_of([] {
              (void)encode(
                  "{\"text\":\"a\",\"text_pair\":\"b\",\"label\":0}\n"
                  "{\"text\":\"a\",\"label\":0}\n",
                  {.texts = Texts::apart});
            }),
            "f:2: has one text, and each example needs two; name the field of the second one with "
            "--pair-field");
}

TEST(EncodeFile, IgnoresLabelsIfThereAreToBeNone) {
  const std::string text = "{\"text\":\"ab\",\"label\":\"odd\"}\n{\"text\":\"c\",\"label\":7}\n";
  const auto odd = [](const Example& example) { return example.label == "odd"; };
  for (const bool filters : {false, true}) {
    EncodeFileOptions options{.read = {.label_optional = true}};
    if (filters) options.read.reads = odd;
    const auto encoded =
        tests::encode_text({.text = text, .name = "f"}, tokenizer, Labels::none(), options);
    ASSERT_EQ(encoded.set.size(), filters ? 1U : 2U);
    EXPECT_EQ(encoded.left_out, 0U);
    for (std::size_t row = 0; row < encoded.set.size(); ++row) EXPECT_EQ(encoded.set.label(row), 0);
  }
  const auto unlabelled =
      tests::encode_text({.text = "{\"text\":\"ab\"}\n", .name = "f"}, tokenizer, Labels::none(),
                         {.read = {.label_optional = true}});
  EXPECT_EQ(unlabelled.set.label(0), 0);
}

TEST(EncodeFile, ReadsWithoutLabels) {
  const auto encoded = encode("{\"text\":\"a\"}\n{\"text\":\"b\"}", {.read = {.labelled = false}});
  EXPECT_EQ(encoded.set.size(), 2u);
  EXPECT_EQ(encoded.set.label(1), -1);
}

TEST(EncodeFile, WritesTheSameToAFile) {
  const std::string text = many_records(20'000) + R"({"premise":"x","hypothesis":"y","label":"-"})";
  const tests::TemporaryDirectory directory;
  const auto file = directory / "set";
  const auto expect_equal = [](const EncodedFile& one, const EncodedFile& other) {
    EXPECT_TRUE(same(one.set, other.set));
    EXPECT_EQ(one.total, other.total);
    EXPECT_EQ(one.left_out, other.left_out);
    EXPECT_EQ(one.at_max_length(), other.at_max_length());
  };
  for (const double fraction : {1.0, 0.3}) {
    EncodeFileOptions options{.encode = {.max_length = 30}, .fraction = fraction, .workers = 2};
    const EncodedFile expected = encode(text, options);
    EXPECT_GT(expected.at_max_length(), 0u);
    options.file = file;
    const EncodedFile written = encode(text, options);
    EXPECT_EQ(written.set.bytes(), 0u);
    expect_equal(written, expected);
    expect_equal(open_encoded_file(file, tokenizer, Labels::nli()), expected);
  }
}

TEST(EncodeFile, LeavesNoFileWhereItFails) {
  const tests::TemporaryDirectory directory;
  const EncodeFileOptions options{.file = directory / "set"};
  EXPECT_TRUE(problem_of([&] {
                encode("text\tlabel\na\t-\n", options);
              }).starts_with("f: holds no example with a label"));
  EXPECT_THROW(encode(many_records(9'000) + "[", options), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_THROW(encode(many_records(9), {.file = "no/such/set"}), Error);
}

TEST(EncodeFile, TellsHowFarItIs) {
  const std::string text = many_records(5'000);
  std::vector<EncodeProgress> heard;
  encode(text, {.progress = [&](const EncodeProgress& progress) { heard.push_back(progress); }});
  ASSERT_GT(heard.size(), 2u);
  for (std::size_t i = 1; i < heard.size(); ++i) EXPECT_GT(heard[i].bytes, heard[i - 1].bytes);
  EXPECT_EQ(heard.back().bytes, text.size());
  EXPECT_EQ(heard.back().total_bytes, text.size());
  EXPECT_EQ(heard.back().examples, 5'000u);
}

TEST(EncodeFile, StopsWhenProgressThrows) {
  const std::string text = many_records(20'000);
  const auto stop = [](const EncodeProgress&) { throw std::runtime_error{"stopped"}; };
  EXPECT_THROW(encode(text, {.workers = 3, .progress = stop}), std::runtime_error);
}

TEST(EncodeFile, TakesATokenizerOfAnyFamily) {
  const auto known = text::make_word_tokenizer({"xxunk", "xxpad", "xxbos", "xxeos", "a", "b"});
  const text::AnyTokenizer any{known};
  const tests::TemporaryDirectory directory;
  const auto file = directory / "train.jsonl";
  tests::write_file(file, many_records(1'000));
  EXPECT_TRUE(
      same(encode_file(file, any, Labels::nli()).set, encode_file(file, known, Labels::nli()).set));
}

TEST(EncodeFile, ReadsPlainLinesAsExamplesWithoutLabels) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "unlabelled.txt", "a b\r\n\r\nb, \"b\nc");
  const auto words = text::make_word_tokenizer({"xxunk", "xxpad", "xxbos", "a", "b"});
  const auto encoded =
      encode_file(file, words, Labels::sentiment(), {.read = {.format = Format::lines}});
  ASSERT_EQ(encoded.set.size(), 3U);
  EXPECT_EQ(encoded.set.length(0), 3U);
  EXPECT_EQ(encoded.set.label(0), -1);
}

TEST(EncodeFile, CountsMultiNliAndSst2AsPublished) {
  SEQTRAIN_NEEDS_SHARED_DATA("mnli/dev_matched.jsonl");
  SEQTRAIN_NEEDS_SHARED_DATA("sst2/train.tsv");
  const auto counts = [](const std::string& name) {
    const auto file = tests::shared_data() / name;
    const Labels labels = choose_labels({}, {}, file, {});
    const EncodedSet set = encode_file(file, tokenizer, labels).set;
    std::vector<std::size_t> result(labels.size());
    for (std::size_t row = 0; row < set.size(); ++row) {
      ++result.at(static_cast<std::size_t>(set.label(row)));
    }
    return result;
  };
  EXPECT_EQ(counts("mnli/dev_matched.jsonl"), (std::vector<std::size_t>{3'479, 3'123, 3'213}));
  EXPECT_EQ(counts("sst2/train.tsv"), (std::vector<std::size_t>{29'780, 37'569}));
  EXPECT_EQ(counts("sst2/dev.tsv"), (std::vector<std::size_t>{428, 444}));
}

TEST(EncodeFile, KeepsRecordsWithoutALabelIfLabelsAreOptional) {
  const EncodeFileOptions options{.read = {.label_optional = true}};
  const auto labels_of = [](const EncodedFile& file) {
    const auto labels = file.set.arrays().labels;
    return std::vector<std::int32_t>{labels.begin(), labels.end()};
  };
  const auto json = encode(
      "{\"premise\":\"a\",\"hypothesis\":\"b\",\"label\":\"neutral\"}\n"
      "{\"premise\":\"a\",\"hypothesis\":\"b\",\"label\":\"-\"}\n"
      "{\"premise\":\"a\",\"hypothesis\":\"b\",\"label\":null}\n"
      "{\"premise\":\"a\",\"hypothesis\":\"b\"}\n"
      "{\"premise\":\"a\",\"hypothesis\":\"b\",\"label\":2}\n",
      options);
  EXPECT_EQ(labels_of(json), (std::vector<std::int32_t>{1, -1, -1, -1, 2}));
  EXPECT_EQ(json.left_out, 0U);
  const auto none = encode("{\"premise\":\"a\",\"hypothesis\":\"b\"}\n", options);
  EXPECT_EQ(labels_of(none), (std::vector<std::int32_t>{-1}));
  const std::string table = "text\tlabel\nab\tneutral\ncd\t\n";
  const auto encode_table = [&](const EncodeFileOptions& how) {
    return tests::encode_text({.text = table, .name = "f.tsv"}, tokenizer, Labels::nli(), how);
  };
  EXPECT_EQ(labels_of(encode_table(options)), (std::vector<std::int32_t>{1, -1}));
  EXPECT_EQ(problem_of([&] { (void)encode_table({}); }),
            "f.tsv:3: the label is empty; write one, or leave out the row");
  EXPECT_THROW(
      (void)encode("{\"premise\":\"a\",\"hypothesis\":\"b\",\"label\":\"maybe\"}\n", options),
      InputError);
}

}  // namespace
}  // namespace seqtrain::data
