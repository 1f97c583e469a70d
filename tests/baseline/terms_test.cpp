#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/baseline/terms.hpp>

namespace seqtrain::baseline {
namespace {

std::vector<CountedTerm> terms_of(std::string_view text, const TermOptions& options = {}) {
  TermReader reader{options};
  const auto terms = reader.read(text);
  return {terms.begin(), terms.end()};
}

std::size_t count_of(std::string_view text, Part part, const TermOptions& options = {}) {
  const auto terms = terms_of(text, options);
  return static_cast<std::size_t>(std::ranges::count_if(terms, [part](const CountedTerm& counted) {
    return part_of(counted.term) == static_cast<std::size_t>(part);
  }));
}

TEST(TermReader, ReadsWordsOfTwoCharactersAndPairsOfThem) {
  EXPECT_EQ(count_of("the river I the bridge", Part::words), 3U + 3U);
  EXPECT_EQ(count_of("the the the", Part::words), 2U);
  EXPECT_EQ(count_of("a b", Part::words), 0U);
}

TEST(TermReader, ReadsSequencesOfCharactersWithinPaddedWords) {
  const TermOptions options{.most_words = 1, .fewest_characters = 2, .most_characters = 3};
  EXPECT_EQ(count_of("abc", Part::characters, options), 4U + 3U);  // of " abc "
  EXPECT_EQ(count_of("abc  abc", Part::characters, options), 4U + 3U);
}

TEST(TermReader, CountsAShortWordOnceAsAWhole) {
  const TermOptions options{.most_words = 1, .fewest_characters = 4, .most_characters = 6};
  const auto terms = terms_of("a", options);
  ASSERT_EQ(terms.size(), 1U);  // " a "
  EXPECT_EQ(terms[0].count, 1U);
}

TEST(TermReader, ReadsTextsInLowerCaseWhateverTheScript) {
  const auto same = [](std::string_view a, std::string_view b) {
    return std::ranges::equal(terms_of(a), terms_of(b), {}, &CountedTerm::term, &CountedTerm::term);
  };
  EXPECT_TRUE(same("River ÄRGER", "rIVER ärger"));
  EXPECT_TRUE(same("ПРИВЕТ", "привет"));
  EXPECT_FALSE(same("ab", "ba"));
  EXPECT_FALSE(same("ab cd", "cd ab"));
}

TEST(TermReader, CountsTermsInAscendingOrder) {
  const auto terms = terms_of("the river and the river and the sea");
  EXPECT_TRUE(std::ranges::is_sorted(terms, {}, &CountedTerm::term));
  EXPECT_EQ(std::ranges::max(terms, {}, &CountedTerm::count).count, 3U);
}

TEST(TermReader, KeepsTheTermsOfASecondTextApart) {
  TermReader reader;
  std::set<Term> first;
  for (const auto& counted : reader.read("river")) first.insert(counted.term);
  for (const auto& counted : reader.read("", "river")) EXPECT_FALSE(first.contains(counted.term));
}

TEST(TermReader, ReadsBytesThatAreNoUtf8) {
  EXPECT_EQ(terms_of("\xff\xfe").size(), terms_of("\uFFFD\uFFFD").size());
  EXPECT_TRUE(terms_of("").empty());
  EXPECT_TRUE(terms_of(" \t\n").empty());
}

}  // namespace
}  // namespace seqtrain::baseline
