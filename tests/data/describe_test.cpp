#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/describe.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/labels.hpp>

#include "support/encode_text.hpp"
#include "support/letter_tokenizer.hpp"

namespace seqtrain::data {
namespace {

using Sizes = std::vector<std::size_t>;

const tests::LetterTokenizer letters;

EncodedFile sentiments(const std::string& rows, std::size_t max_length = 100) {
  return tests::encode_text({.text = rows, .name = "f"}, letters, Labels::sentiment(),
                            {.encode = {.max_length = max_length}});
}

TEST(Describe, CountsWhatASetIsMadeOf) {
  const auto train = sentiments("text\tlabel\nab\t0\nabc\t1\nab\t1\n \t1\nq\t-1\nr\t-\n");
  const auto dev = sentiments("text\tlabel\nabc\t0\nzz\t0\nzz\t0\n", 4);
  const auto data = describe(train, dev, Labels::sentiment());
  EXPECT_EQ(data.train.examples, 4u);
  EXPECT_EQ(data.train.left_out, 2u);
  EXPECT_EQ(data.train.empty_texts, 1u);
  EXPECT_EQ(data.train.labels, (Sizes{1, 3}));
  EXPECT_EQ(data.train.repeated, 1u);
  EXPECT_EQ(data.train.in_train, 0u);
  EXPECT_EQ(data.dev.examples, 3u);
  EXPECT_EQ(data.dev.labels, (Sizes{3, 0}));
  EXPECT_EQ(data.dev.at_max_length, 3u);
  EXPECT_EQ(data.dev.repeated, 1u);
  EXPECT_EQ(data.dev.longest, 4u);
}

TEST(Describe, MeasuresLengthsByRank) {
  std::string rows = "text\tlabel\n";
  for (std::size_t i = 1; i <= 20; ++i) rows += std::string(i, 'a') + "\t0\n";
  const auto all = sentiments(rows);
  const auto special = all.set.length(0) - 1;
  const auto data = describe(all, all, Labels::sentiment());
  EXPECT_EQ(data.train.median, 10 + special);
  EXPECT_EQ(data.train.percentile_95, 19 + special);
  EXPECT_EQ(data.train.longest, 20 + special);
  EXPECT_EQ(data.dev.in_train, 20u);
}

TEST(Describe, WarnsOfExamplesThatAreInBothSets) {
  const auto train = sentiments("text\tlabel\na\t0\nb\t1\n");
  const auto other = sentiments("text\tlabel\nc\t0\nd\t1\n");
  const auto leaking = sentiments("text\tlabel\nc\t0\nb\t0\n");
  EXPECT_EQ(leak_warning(describe(train, other, Labels::sentiment())), "");
  EXPECT_EQ(leak_warning(describe(train, leaking, Labels::sentiment())),
            "1 (50.0 %) of the dev examples are in the training set too, so figures on dev are too "
            "good; remove them from one of the two");
}

TEST(Describe, TellsPairsThatAreSplitElsewhereApart) {
  const auto pairs = [](const std::string& rows) {
    return tests::encode_text({.text = "text\ttext_pair\tlabel\n" + rows, .name = "f"}, letters,
                              Labels::sentiment(), {.encode = {.max_length = 100}});
  };
  EXPECT_EQ(describe(pairs("a\tb\t0\n"), pairs("a\tb\t0\n"), Labels::sentiment()).dev.in_train, 1u);
  EXPECT_EQ(describe(pairs("a\tb\t0\n"), pairs("b\ta\t0\n"), Labels::sentiment()).dev.in_train, 0u);
}

TEST(Describe, SaysItInWords) {
  const auto train = sentiments("text\tlabel\nab\t0\nabc\t1\nab\t1\n \t1\nq\t-1\n");
  const auto dev = sentiments("text\tlabel\nzz\t0\n");
  EXPECT_EQ(to_text(describe(train, dev, Labels::sentiment())),
            "Train: 4 examples; tokens: median 4, 95 % up to 5, longest 5; 1 (25.0 %) repeated; 1 "
            "with an empty text; 1 without a gold label left out\n"
            "  negative 1 (25.0 %), positive 3 (75.0 %)\n"
            "Dev: 1 examples; tokens: median 4, 95 % up to 4, longest 4\n"
            "  negative 1 (100.0 %), positive 0 (0.0 %)");
}

TEST(Describe, ShowsALineBreakInALabel) {
  const Labels labels{{"good\nfilm", "bad"}};
  const auto file =
      tests::encode_text({.text = "text\tlabel\na\t0\n", .name = "f"}, letters, labels);
  const auto data = describe(file, file, labels);
  EXPECT_NE(to_text(data).find("\n  good\\nfilm 1 (100.0 %), bad 0 (0.0 %)\nDev"),
            std::string::npos);
  EXPECT_NE(rare_label_warning(data).find("'good\\nfilm' (1)"), std::string::npos);
}

TEST(Describe, ListsTheMostFrequentOfManyLabels) {
  std::string rows = "text\tlabel\n";
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) {
    names.push_back("n" + std::to_string(i));
    for (int j = 0; j <= i; ++j) rows += "a\tn" + std::to_string(i) + "\n";
  }
  const Labels labels{names};
  const auto file = tests::encode_text({.text = rows, .name = "f"}, letters, labels, {});
  const auto text = to_text(describe(file, file, labels));
  EXPECT_NE(text.find("\n  n11 12 (15.4 %), n10 11"), std::string::npos) << text;
  EXPECT_NE(text.find(", … and 4 more labels"), std::string::npos) << text;
}

TEST(Describe, HasNoLabelsForRegression) {
  const auto file = tests::encode_text({.text = "text\tlabel\na\t0.5\n", .name = "f"}, letters,
                                       Labels::regression());
  const auto data = describe(file, file, Labels::regression());
  EXPECT_TRUE(data.labels.empty());
  EXPECT_TRUE(data.train.labels.empty());
}

TEST(Describe, NamesLabelsThatCannotBeLearned) {
  const Labels labels{{"biling", "billing", "billing ", "bug", "new", "unused"}};
  const auto of = [](Sizes counts) { return SetSummary{.labels = std::move(counts)}; };
  DataSummary data{
      .labels = labels.names(), .train = of({1, 70, 1, 70, 0, 0}), .dev = of({0, 8, 0, 8, 1, 0})};
  EXPECT_EQ(rare_label_warning(data),
            "labels with few training examples are hardly learned: 'biling' (1, is it 'billing'?), "
            "'billing ' (1, is it 'billing'?), 'new' (0)");
  data.train = of({2, 70, 5, 70, 2, 0});
  EXPECT_EQ(rare_label_warning(data),
            "labels with few training examples are hardly learned: 'biling' (2, is it 'billing'?), "
            "'billing ' (5, is it 'billing'?)");
  data.train = of({2, 19, 6, 70, 2, 0});
  EXPECT_EQ(rare_label_warning(data), "");
  data.labels[0] = "billing2", data.train = of({2, 70, 70, 70, 2, 0});
  EXPECT_EQ(rare_label_warning(data), "");
  EXPECT_EQ(rare_label_warning({}), "");
}

EncodedSet encoded(const std::string& texts) {
  return tests::encode_text({.text = "text\tlabel\n" + texts, .name = "f"},
                            tests::LetterTokenizer{}, Labels::sentiment())
      .set;
}

TEST(UnknownWarning, NamesTheShareOfTheTokens) {
  const auto warning = unknown_warning(encoded("ab\t0\nabbb\t1\n"), 'b');
  EXPECT_TRUE(warning.starts_with("4 (40.0 %) of the training tokens are unknown")) << warning;
  EXPECT_NE(warning.find("take a --model that was trained on this language"), std::string::npos);
}

TEST(UnknownWarning, IsEmptyForFewOrNoUnknownTokens) {
  const auto set = encoded(std::string(100, 'a') + "b\t0\n");
  EXPECT_EQ(unknown_warning(set, 'b'), "");
  EXPECT_EQ(unknown_warning(set, {}), "");
}

TEST(NearLeakWarning, CountsTextsThatAreNotEqual) {
  DataSummary data;
  data.dev.examples = 50;
  data.dev.in_train = 3;
  EXPECT_EQ(near_leak_warning(data, 3), "");
  EXPECT_EQ(near_leak_warning(data, 5).substr(0, 47),
            "2 (4.0 %) of the dev examples differ from a tra");
}

}  // namespace
}  // namespace seqtrain::data
