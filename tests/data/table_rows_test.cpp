#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/table_rows.hpp>

namespace seqtrain::data {
namespace {

using CellKind = TableCell::Kind;

TEST(TableRows, AreReadAsTheyWereWritten) {
  RowWriter begun;
  begun.value({.text = "null", .is_json = true});
  begun.value({.text = "null"});
  begun.value({.text = "12", .is_cell = true});
  RowWriter row{std::move(begun).unfinished()};
  row.integer(-7);
  row.real(0.5);
  row.texts(std::vector<std::string>{"a", ""});
  row.floats(std::vector<float>{1, 2});
  const std::string one = std::move(row).finished();
  const std::string bytes = one + one + one.substr(0, 20);
  RowReader reader{bytes};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.cell().kind, CellKind::null);
    const auto text = reader.cell();
    EXPECT_EQ(text.kind, CellKind::text);
    EXPECT_EQ(text.text, "null");
    EXPECT_EQ(reader.cell().kind, CellKind::untyped);
    EXPECT_EQ(reader.cell().integer, -7);
    EXPECT_EQ(reader.cell().real, 0.5);
    EXPECT_EQ(reader.cell().texts, (std::vector<std::string_view>{"a", ""}));
    EXPECT_EQ(reader.cell().text.size(), 2 * sizeof(float));
  }
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.rest(), one.substr(0, 20));
}

}  // namespace
}  // namespace seqtrain::data
