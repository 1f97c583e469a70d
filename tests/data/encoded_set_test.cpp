#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/encoded_set.hpp>

#include "support/row_of.hpp"

namespace seqtrain::data {
namespace {

using Ids = std::vector<std::int32_t>;
using tests::row_of;

/// Runs with a vocabulary that fits 2 bytes and with the smallest that does not.
class EncodedSetOver : public testing::TestWithParam<std::int32_t> {
 protected:
  std::int32_t last = GetParam() - 1;
  EncodedSet set{static_cast<std::size_t>(GetParam()), 1};
};

TEST_P(EncodedSetOver, ItsVocabularyKeepsRows) {
  set.push_back(Ids{5, last, 0}, 2, 7);
  set.push_back(Ids{}, 0, -1);
  set.push_back(Ids{1}, 1, 0);
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.tokens(), 4u);
  EXPECT_EQ(row_of(set, 0), (Ids{5, last, 0}));
  EXPECT_EQ(row_of(set, 1), Ids{});
  EXPECT_EQ(row_of(set, 2), Ids{1});
  EXPECT_EQ(set.first_segment(0), 2u);
  EXPECT_EQ(set.first_segment(2), 1u);
  EXPECT_EQ(set.label(0), 7);
  EXPECT_EQ(set.label(1), -1);
  EXPECT_EQ(set.pad_id(), 1);
  ASSERT_EQ(set.lengths().size(), 3u);
  EXPECT_EQ(set.lengths()[0], 3u);
  EXPECT_EQ(set.lengths()[1], 0u);
  EXPECT_EQ(set.longest(), 3u);
}

TEST_P(EncodedSetOver, ItsVocabularyAppendsAndTruncates) {
  EncodedSet more = set;
  set.push_back(Ids{1, 2}, 1, 0);
  set.append(more);
  more.push_back(Ids{last}, 1, 1);
  more.push_back(Ids{3, 4, 5}, 3, 2);
  set.append(more);
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(row_of(set, 1), Ids{last});
  EXPECT_EQ(row_of(set, 2), (Ids{3, 4, 5}));
  EXPECT_EQ(set.first_segment(2), 3u);
  set.truncate(2);
  set.truncate(5);
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(set.tokens(), 3u);
  set.push_back(Ids{9}, 0, 4);
  set.shrink_to_fit();
  EXPECT_EQ(row_of(set, 2), Ids{9});
  EXPECT_EQ(set.label(2), 4);
}

TEST_P(EncodedSetOver, ItsVocabularyRefusesIdsOutsideOfIt) {
  EXPECT_THROW(set.push_back(Ids{1, last + 1}, 2, 0), Error);
  EXPECT_THROW(set.push_back(Ids{-1}, 1, 0), Error);
  EXPECT_THROW(set.push_back(Ids{1}, 2, 0), Error);
  EXPECT_THROW(set.push_back(Ids(EncodedSet::most_ids_a_row + 1), 0, 0), InputError);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.tokens(), 0u);
}

TEST(EncodedSet, RefusesVocabulariesThatCannotBe) {
  EXPECT_THROW((EncodedSet{0, 0}), Error);
  EXPECT_THROW((EncodedSet{std::size_t{1} << 32, 0}), Error);
  EXPECT_THROW((EncodedSet{10, 10}), Error);
  EXPECT_THROW((EncodedSet{10, -1}), Error);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, EncodedSetOver, testing::Values(303, 65'536, 65'537));

TEST_P(EncodedSetOver, ItsVocabularyRefersToArraysElsewhere) {
  set.push_back(Ids{5, last, 0}, 2, 7);
  set.push_back(Ids{}, 0, -1);
  auto owner = std::make_shared<const EncodedSet>(set);
  EncodedSet view{owner->vocab_size(), 1, 0, owner->arrays(), owner};
  EXPECT_EQ(view.bytes(), 0u);
  EXPECT_EQ(view.tokens(), 3u);
  EncodedSet copy = view;
  std::weak_ptr<const EncodedSet> alive = owner;
  owner.reset();
  copy.push_back(Ids{last}, 1, 3);
  copy.append(view);
  EXPECT_EQ(row_of(view, 0), (Ids{5, last, 0}));
  EXPECT_EQ(view.size(), 2u);
  EXPECT_EQ(row_of(copy, 3), (Ids{5, last, 0}));
  EXPECT_EQ(copy.first_segment(3), 2u);
  EXPECT_EQ(row_of(copy, 2), Ids{last});
  view.truncate(1);
  EXPECT_EQ(row_of(view, 0), (Ids{5, last, 0}));
  view = EncodedSet{10, 0};
  copy = view;
  EXPECT_TRUE(alive.expired());
}

TEST(EncodedSet, RefusesArraysThatDoNotFit) {
  using Rows = std::vector<std::uint64_t>;
  const std::vector<std::uint16_t> ids{1, 2, 3};
  const auto over = [&](const Rows& rows, const std::vector<std::int32_t>& labels,
                        std::size_t targets_a_row = 0, const std::vector<float>& targets = {}) {
    const EncodedSet::Arrays arrays{
        .ids = std::as_bytes(std::span{ids}), .rows = rows, .labels = labels, .targets = targets};
    return EncodedSet{10, 0, targets_a_row, arrays, nullptr}.size();
  };
  const auto row = [](std::uint64_t begin, std::uint64_t first_segment) {
    return begin << 24 | first_segment;
  };
  EXPECT_EQ(over({row(0, 2), row(2, 0)}, {1, -1}), 2u);
  EXPECT_EQ(over({row(0, 3)}, {0}, 2, {1, 2}), 1u);
  EXPECT_THROW(over({}, {}), InputError);                          // ids without a row
  EXPECT_THROW(over({row(1, 0)}, {0}), InputError);                // the first id has no row
  EXPECT_THROW(over({row(0, 0), row(4, 0)}, {0, 0}), InputError);  // begins past the last id
  EXPECT_THROW(over({row(0, 0), row(1ULL << 39, 0)}, {0, 0}), InputError);
  EXPECT_THROW(over({row(0, 0), row(2, 0), row(1, 0)}, {0, 0, 0}), InputError);
  EXPECT_THROW(over({row(0, 4)}, {0}), InputError);  // the segment is longer than the row
  EXPECT_THROW(over({row(0, 0)}, {-2}), InputError);
  EXPECT_THROW(over({row(0, 0)}, {}), InputError);
  EXPECT_THROW(over({row(0, 0)}, {0}, 2, {1}), InputError);
  EXPECT_THROW(over({row(0, 0)}, {0}, 2, {1, 2, 3}), InputError);
  EXPECT_THROW(over({row(0, 0)}, {0}, 0, {1}), InputError);
}

TEST(EncodedSet, TakesTwoBytesAnIdWhereTheyHoldIt) {
  const auto bytes = [](std::size_t vocab_size) {
    EncodedSet set{vocab_size, 0};
    for (int i = 0; i < 1000; ++i) set.push_back(Ids(100, 1), 100, 0);
    set.shrink_to_fit();
    return set.bytes();
  };
  EXPECT_EQ(bytes(65'536), 1000u * (100 * 2 + 8 + 4));
  EXPECT_EQ(bytes(65'537), 1000u * (100 * 4 + 8 + 4));
}

TEST(EncodedSet, KeepsTargets) {
  const auto numbers = [](const EncodedSet& set, std::size_t row) {
    return std::vector<float>{set.targets(row).begin(), set.targets(row).end()};
  };
  using Two = std::vector<float>;
  EncodedSet set{10, 0, 2};
  set.push_back(Ids{1}, 1, 0, Two{1, 2});
  EncodedSet more = set;
  more.push_back(Ids{2, 3}, 1, 0, Two{3, 4});
  set.append(more);
  ASSERT_EQ(set.size(), 3U);
  EXPECT_EQ(numbers(set, 1), (Two{1, 2}));
  EXPECT_EQ(numbers(set, 2), (Two{3, 4}));
  set.truncate(1);
  set.push_back(Ids{4}, 1, 0, Two{5, 6});
  set.shrink_to_fit();
  EXPECT_EQ(numbers(set, 1), (Two{5, 6}));
  EXPECT_THROW(set.push_back(Ids{1}, 1, 0), Error);
  EXPECT_THROW(set.push_back(Ids{1}, 1, 0, Two{1}), Error);
  EXPECT_THROW((EncodedSet{10, 0}.push_back(Ids{1}, 1, 0, Two{1})), Error);
}

TEST(Reversed, TurnsIdsRoundAndKeepsTheRest) {
  EncodedSet set{10, 1, 2};
  set.push_back(std::vector<std::int32_t>{2, 3, 4}, 3, 0, std::vector<float>{1, 0});
  set.push_back(std::vector<std::int32_t>{}, 0, 1, std::vector<float>{0, 1});
  const auto turned = reversed(set);
  ASSERT_EQ(turned.size(), 2U);
  std::vector<std::int32_t> ids(3);
  turned.copy_row(0, ids.data());
  EXPECT_EQ(ids, (std::vector<std::int32_t>{4, 3, 2}));
  EXPECT_EQ(turned.length(1), 0U);
  EXPECT_EQ(turned.label(1), 1);
  EXPECT_EQ(turned.targets(1)[1], 1);
  EXPECT_EQ(turned.pad_id(), 1);
}

}  // namespace
}  // namespace seqtrain::data
