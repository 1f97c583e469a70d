#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/predict/k_center.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::predict {
namespace {

VectorTable table_of(const std::vector<std::vector<float>>& vectors) {
  VectorTable table;
  for (const auto& vector : vectors) table.add(vector);
  return table;
}

TEST(KCenter, ChoosesAsNumpyDoes) {
  const auto document = json::Document::load(tests::golden() / "k_center.json");
  VectorTable vectors;
  for (const auto& row : document.root().at("vectors").items()) {
    std::vector<float> vector;
    for (const auto& number : row.items()) vector.push_back(static_cast<float>(number.number()));
    vectors.add(vector);
  }
  for (const auto& expected : document.root().at("cases").items()) {
    std::vector<std::size_t> rows;
    for (const auto& row : expected.at("chosen").items()) {
      rows.push_back(static_cast<std::size_t>(row.integer()));
    }
    const auto centers = k_center(vectors, rows.size());
    EXPECT_EQ(centers.rows, rows);
    EXPECT_NEAR(centers.radius, expected.at("radius").number(), 1e-9);
  }
}

TEST(KCenter, BeginsWithATypicalVectorAndThenTakesTheFarthest) {
  const auto vectors = table_of({{9, 9}, {0, 0}, {0, 1}, {0, -1}, {1, 0}});
  const auto centers = k_center(vectors, 3);
  EXPECT_EQ(centers.rows, (std::vector<std::size_t>{4, 0, 2}));  // the mean is (2, 1.8)
  EXPECT_DOUBLE_EQ(k_center(vectors, 5).radius, 0);
}

TEST(KCenter, TakesAllVectorsOnceIfThereAreFewer) {
  const auto equal = table_of({{1, 1}, {1, 1}, {1, 1}});
  EXPECT_EQ(k_center(equal, 9).rows, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(k_center(VectorTable{}, 3).rows.empty());
  EXPECT_TRUE(k_center(equal, 0).rows.empty());
}

TEST(KCenter, IsEqualAtAnyNumberOfThreads) {
  VectorTable vectors;
  unsigned state = 1;
  for (std::size_t i = 0; i < 3 * VectorTable::block_rows + 5; ++i) {
    std::vector<float> vector(9);
    for (float& number : vector) {
      state = state * 1664525 + 1013904223;
      number = static_cast<float>(state >> 24);
    }
    vectors.add(vector);
  }
  const auto one = k_center(vectors, 40);
  const auto four = k_center(vectors, 40, 4);
  EXPECT_EQ(one.rows, four.rows);
  EXPECT_EQ(one.radius, four.radius);
  const auto fewer = k_center(vectors, 7, 2).rows;
  EXPECT_EQ(fewer, (std::vector<std::size_t>{one.rows.begin(), one.rows.begin() + 7}));
}

TEST(KCenter, TellsHowManyAreChosenOfThoseThatThereAre) {
  VectorTable vectors;
  for (const float number : {1.F, 2.F, 5.F}) vectors.add(std::vector{number});
  std::vector<std::pair<std::size_t, std::size_t>> told;
  (void)k_center(vectors, 100, 1, [&](auto chosen, auto of) { told.emplace_back(chosen, of); });
  EXPECT_EQ(told, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 3}, {2, 3}, {3, 3}}));
}

}  // namespace
}  // namespace seqtrain::predict
