#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/window.hpp>

#include "support/fake_predictor.hpp"

namespace seqtrain::predict {
namespace {

using Lengths = std::vector<std::vector<std::size_t>>;

void add(Window<tests::FakePredictor>& window, const tests::FakePredictor& predictor,
         const std::string& text) {
  window.add(predictor.encode(text, {}, 100));
}

TEST(Window, AnswersInOrderWhatItPredictsByLength) {
  const tests::FakePredictor predictor;
  Window window{predictor, {.batch_size = 2, .top_k = 1}};
  for (const auto* text : {"aaaaa", "b"}) add(window, predictor, text);
  window.add_line("no text");
  for (const auto* text : {"ccc", "dd"}) add(window, predictor, text);
  const std::string score = R"(,"scores":{"letter":1}})";
  const std::string line = R"({"label":"letter")" + score + "\n";
  EXPECT_EQ(window.answer(), line + line + "no text\n" + line + line);
  EXPECT_EQ(predictor.batches, (Lengths{{3, 4}, {5, 7}}));
  EXPECT_TRUE(window.empty());
  EXPECT_EQ(window.answer(), "");
}

TEST(Window, GrowsFromOneBatch) {
  const tests::FakePredictor predictor;
  Window window{predictor, {.batch_size = 2, .most_batches = 4}};
  std::vector<int> sizes;
  for (int i = 0, since = 0; i < 30; ++i) {
    add(window, predictor, "a");
    ++since;
    if (!window.full()) continue;
    static_cast<void>(window.answer());
    sizes.push_back(since);
    since = 0;
  }
  EXPECT_EQ(sizes, (std::vector<int>{2, 4, 8, 8, 8}));
}

TEST(Window, StaysSmallWhileItIsNotFull) {
  const tests::FakePredictor predictor;
  Window window{predictor, {.batch_size = 2}};
  for (int i = 0; i < 5; ++i) {
    add(window, predictor, "a");
    static_cast<void>(window.answer());
  }
  for (int i = 0; i < 2; ++i) add(window, predictor, "a");
  EXPECT_TRUE(window.full());
}

}  // namespace
}  // namespace seqtrain::predict
