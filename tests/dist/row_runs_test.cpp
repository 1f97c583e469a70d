#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/dist/row_runs.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::dist {
namespace {

tensor::RowSet set_of(std::size_t size, const std::vector<std::size_t>& rows) {
  tensor::RowSet set{size};
  for (const std::size_t row : rows) set.insert(row);
  return set;
}

std::vector<std::size_t> rows_of(const tensor::RowSet& set) {
  std::vector<std::size_t> rows;
  set.for_each_run([&](std::size_t first, std::size_t end) {
    for (std::size_t row = first; row < end; ++row) rows.push_back(row);
  });
  return rows;
}

TEST(RowRuns, ComeOutAsTheyWentIn) {
  std::string message{"#"};
  append_runs(message, set_of(9, {1, 2, 3, 8}));
  append_runs(message, set_of(4, {}));
  append_runs(message, set_of(4, {0}));
  std::size_t at = 1;
  tensor::RowSet first = set_of(9, {5}), second = set_of(4, {}), third = set_of(4, {});
  insert_runs(message, at, first);
  insert_runs(message, at, second);
  insert_runs(message, at, third);
  EXPECT_EQ(at, message.size());
  EXPECT_EQ(rows_of(first), (std::vector<std::size_t>{1, 2, 3, 5, 8}));
  EXPECT_TRUE(rows_of(second).empty());
  EXPECT_EQ(rows_of(third), (std::vector<std::size_t>{0}));
}

TEST(RowRuns, AreCheckedBeforeTheyAreInserted) {
  std::string message;
  append_runs(message, set_of(9, {1, 8}));
  std::size_t at = 0;
  tensor::RowSet smaller = set_of(8, {});
  EXPECT_THROW(insert_runs(message, at, smaller), Error);
  for (std::size_t size = 0; size < message.size(); ++size) {
    tensor::RowSet set = set_of(9, {});
    at = 0;
    EXPECT_THROW(insert_runs(message.substr(0, size), at, set), Error) << size;
  }
}

}  // namespace
}  // namespace seqtrain::dist
