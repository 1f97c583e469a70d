#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/data/language_loader.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

static_assert(Loader<LanguageLoader>);
static_assert(std::ranges::input_range<decltype(std::declval<LanguageLoader&>().epoch(0))>);

/// Returns rows of 1, 2, … words, numbered through all rows.
EncodedSet counting_rows(std::int32_t rows) {
  EncodedSet set{1'000'000, 1};
  std::int32_t next = 0;
  for (std::int32_t row = 1; row <= rows; ++row) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(row));
    std::iota(ids.begin(), ids.end(), next);
    next += row;
    set.push_back(ids, ids.size(), -1);
  }
  return set;
}

struct Streams {
  std::vector<std::vector<std::int32_t>> streams;
  std::vector<std::int64_t> widths;

  bool operator==(const Streams&) const = default;
};

/// Joins the words that an epoch shows of each stream, and checks that labels are the next words.
Streams read_streams(LanguageLoader& loader, std::int64_t epoch, std::int64_t first = 0) {
  Streams seen;
  for (const LanguageBatch& batch : loader.epoch(epoch, first)) {
    const auto width = static_cast<std::size_t>(batch.width);
    seen.streams.resize(static_cast<std::size_t>(batch.rows));
    EXPECT_EQ(batch.epoch, epoch);
    EXPECT_EQ(batch.index, first + static_cast<std::int64_t>(seen.widths.size()));
    EXPECT_EQ(batch.tokens(), static_cast<std::int64_t>(batch.input_ids.size()));
    for (std::size_t row = 0; row < seen.streams.size(); ++row) {
      const auto* const ids = batch.input_ids.data() + row * width;
      EXPECT_TRUE(std::equal(ids + 1, ids + width, batch.labels.data() + row * width));
      seen.streams[row].insert(seen.streams[row].end(), ids, ids + width);
    }
    seen.widths.push_back(batch.width);
  }
  EXPECT_EQ(first + static_cast<std::int64_t>(seen.widths.size()), loader.batches_in(epoch));
  return seen;
}

TEST(LanguageLoader, ShowsEveryStreamInItsOrder) {
  LanguageLoader loader{counting_rows(9), {.batch_size = 4, .bptt = 3, .order = Order::file}};
  // 45 words: four streams of 11, and one word left over.
  const auto seen = read_streams(loader, 0);
  EXPECT_EQ(seen.widths, (std::vector<std::int64_t>{3, 3, 3, 2}));
  for (std::int32_t row = 0; row < 4; ++row) {
    std::vector<std::int32_t> expected(11);
    std::iota(expected.begin(), expected.end(), 11 * row);
    EXPECT_EQ(seen.streams[static_cast<std::size_t>(row)], expected);
  }
  EXPECT_EQ(read_streams(loader, 5), seen);
  EXPECT_EQ(loader.examples(), 9);
}

TEST(LanguageLoader, ShufflesTextsAndVariesLengthsByEpoch) {
  const LanguageLoaderOptions options{.batch_size = 3, .bptt = 70, .seed = 5};
  LanguageLoader loader{counting_rows(250), options};
  LanguageLoader same{counting_rows(250), options};
  const auto first = read_streams(loader, 0);
  const auto second = read_streams(loader, 1);
  EXPECT_NE(first.streams, second.streams);
  EXPECT_NE(first.widths, second.widths);
  EXPECT_EQ(read_streams(same, 1), second);
  EXPECT_EQ(read_streams(loader, 0), first);
  LanguageLoader other{counting_rows(250), {.batch_size = 3, .bptt = 70, .seed = 6}};
  EXPECT_NE(read_streams(other, 0).streams, first.streams);
}

TEST(LanguageLoader, DrawsLengthsAroundBptt) {
  LanguageLoader loader{counting_rows(1'000), {.batch_size = 2, .bptt = 70, .seed = 1}};
  auto widths = read_streams(loader, 0).widths;
  widths.pop_back();  // The last batch is shorter.
  ASSERT_GT(widths.size(), 3'000U);
  const auto count = static_cast<double>(widths.size());
  const double mean = static_cast<double>(std::reduce(widths.begin(), widths.end())) / count;
  EXPECT_NEAR(mean, 0.95 * 70 + 0.05 * 35 - 0.5, 0.6);
  const auto shorter = std::ranges::count_if(widths, [](auto width) { return width < 52; });
  EXPECT_NEAR(static_cast<double>(shorter) / count, 0.05, 0.015);
  EXPECT_GE(std::ranges::min(widths), 5);
}

TEST(LanguageLoader, GoesOnInsideAnEpoch) {
  LanguageLoader loader{counting_rows(60), {.batch_size = 4, .bptt = 20, .seed = 2}};
  const auto whole = read_streams(loader, 3);
  const auto rest = read_streams(loader, 3, 2);
  const auto skipped = static_cast<std::ptrdiff_t>(whole.widths[0] + whole.widths[1]);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_TRUE(std::equal(rest.streams[row].begin(), rest.streams[row].end(),
                           whole.streams[row].begin() + skipped, whole.streams[row].end()));
  }
  EXPECT_TRUE(read_streams(loader, 3, loader.batches_in(3)).streams.empty());
  EXPECT_THROW(static_cast<void>(loader.epoch(3, loader.batches_in(3) + 1)), InputError);
}

TEST(LanguageLoader, OutlivesAMoveWhileItIsRead) {
  LanguageLoader loader{counting_rows(40), {.batch_size = 2, .bptt = 10}};
  auto batches = loader.epoch(0);
  LanguageLoader moved{std::move(loader)};
  std::int64_t count = 0;
  for (const auto& batch : batches) count += batch.rows > 0 ? 1 : 0;
  EXPECT_EQ(count, moved.batches_in(0));
}

TEST(LanguageLoader, RefusesTooLittleTextAndOptionsOutOfRange) {
  const auto problem = [](const LanguageLoaderOptions& options) {
    return tests::problem_of([&] { LanguageLoader{counting_rows(3), options}; });
  };
  EXPECT_NE(problem({.batch_size = 6}).find("texts of 6 words are too short for 6 streams"),
            std::string::npos);
  EXPECT_NE(problem({.batch_size = 0}).find("batch_size: must be 1"), std::string::npos);
  EXPECT_NE(problem({.batch_size = 1, .bptt = 0}).find("bptt: must be 1"), std::string::npos);
  LanguageLoader smallest{counting_rows(3), {.batch_size = 5}};
  EXPECT_EQ(smallest.batches_in(0), 1);
}

}  // namespace
}  // namespace seqtrain::data
