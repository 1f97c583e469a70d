#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/text/models/piece_table.hpp>

namespace seqtrain::text {
namespace {

TEST(PieceTable, FindsTheLongestBeginning) {
  PieceTable table{4};
  table.insert("a", 1);
  table.insert("abc", 2);
  table.insert("é", 3);
  EXPECT_EQ(table.longest_prefix("abd").size, 1u);
  EXPECT_EQ(table.longest_prefix("abd").id, 1);
  EXPECT_EQ(table.longest_prefix("abcd").id, 2);
  EXPECT_EQ(table.longest_prefix("éa").size, 2u);
  EXPECT_EQ(table.longest_prefix("ba").size, 0u);
}

TEST(PieceTable, KeepsTheLastIdAndNoEmptyPiece) {
  PieceTable table{3};
  table.insert("", 1);
  table.insert("a", 2);
  table.insert("a", 3);
  EXPECT_EQ(table.longest_prefix("a").id, 3);
  EXPECT_EQ(table.longest_prefix("b").size, 0u);
  EXPECT_EQ(PieceTable{0}.longest_prefix("a").size, 0u);
}

TEST(PieceTable, AgreesWithAMapOnRandomStrings) {
  std::mt19937 random{5};
  const auto draw = [&](std::size_t most) {
    std::string text(1 + random() % most, '\0');
    for (char& c : text) c = static_cast<char>(random() % 3 * 127);  // bytes 0, 127 and 254
    return text;
  };
  std::map<std::string, Id> expected;
  PieceTable table{2000};
  for (Id id = 0; id < 2000; ++id) {
    const std::string piece = draw(12);
    expected.insert_or_assign(piece, id);
    table.insert(piece, id);
  }
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = draw(16);
    auto size = text.size();
    while (size > 0 && !expected.contains(text.substr(0, size))) --size;
    const auto match = table.longest_prefix(text);
    ASSERT_EQ(match.size, size);
    if (size > 0) {
      ASSERT_EQ(match.id, expected.at(text.substr(0, size)));
    }
  }
}

}  // namespace
}  // namespace seqtrain::text
