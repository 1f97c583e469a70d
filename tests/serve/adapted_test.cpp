#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/adapted.hpp>

namespace seqtrain::serve {
namespace {

/// A predictor whose ids are letters: `[text]`, of a pair `[text||pair]` with as many bars as it is
/// told, the second text being of type 1.
class LetterPredictor {
 public:
  struct Task {
    std::vector<std::string> labels = {"no", "yes"};
    ProblemType problem_type = ProblemType::multi_label;
    std::vector<double> thresholds = {};
  };
  struct Encoded {
    std::vector<std::int32_t> input_ids = {};
    std::size_t first_segment = 0;
    bool truncated = false;
  };
  struct Logits {
    std::vector<float> values;
    [[nodiscard]] const float* data() const { return values.data(); }
    [[nodiscard]] std::ptrdiff_t size() const { return std::ssize(values); }
  };

  explicit LetterPredictor(std::size_t bars) : bars_{bars} {}

  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] std::size_t max_length() const { return 10; }
  [[nodiscard]] std::size_t special_tokens(bool pair) const { return pair ? 2 + bars_ : 2; }
  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               std::size_t max_length) const {
    text::PairLengths lengths{text.size(), pair ? pair->size() : 0};
    const std::size_t budget = max_length - special_tokens(pair.has_value());
    const bool truncated = lengths.first + lengths.second > budget;
    if (pair) lengths = text::longest_first(lengths, budget);
    std::string letters = "[" + std::string{text.substr(0, pair ? lengths.first : budget)};
    if (pair) letters += std::string(bars_, '|');
    const std::size_t first = letters.size();
    if (pair) letters += pair->substr(0, lengths.second);
    letters += ']';
    return {{letters.begin(), letters.end()}, pair ? first : letters.size(), truncated};
  }
  [[nodiscard]] Logits predict(std::span<const Encoded> texts) const {
    Logits logits;
    for (const Encoded& text : texts) {
      logits.values.push_back(static_cast<float>(text.input_ids.size()));
      logits.values.push_back(1);
    }
    return logits;
  }
  [[nodiscard]] std::vector<double> scores(std::span<const float> logits) const {
    return {logits.begin(), logits.end()};
  }

 private:
  Task task_;
  std::size_t bars_;
};
using AdaptedLetters = Adapted<LetterPredictor>;
static_assert(Predictor<AdaptedLetters>);

std::string letters_of(const AdaptedLetters& predictor, std::string_view text,
                       std::optional<std::string_view> pair, Truncation truncation) {
  const auto encoded = predictor.encode(text, pair, truncation);
  std::string letters{encoded.input_ids.begin(), encoded.input_ids.end()};
  return letters.insert(encoded.first_segment, "^");
}

TEST(Adapted, CutsEitherSideOfAText) {
  const AdaptedLetters predictor{LetterPredictor{1}, {}};
  EXPECT_EQ(letters_of(predictor, "abcdefghijkl", {}, Truncation::right), "[abcdefgh]^");
  EXPECT_EQ(letters_of(predictor, "abcdefghijkl", {}, Truncation::left), "[efghijkl]^");
  EXPECT_EQ(letters_of(predictor, "abcdefghijkl", {}, Truncation::none), "[abcdefghijkl]^");
  EXPECT_EQ(letters_of(predictor, "abc", {}, Truncation::left), "[abc]^");
  EXPECT_TRUE(predictor.encode("abcdefghijkl", {}, Truncation::left).truncated);
}

TEST(Adapted, CutsEitherSideOfAPair) {
  for (const std::size_t bars : {1u, 2u}) {
    const AdaptedLetters predictor{LetterPredictor{bars}, {}};
    const std::string bar(bars, '|');
    const bool one = bars == 1;
    EXPECT_EQ(letters_of(predictor, "abcdefgh", "stuvwxyz", Truncation::right),
              one ? "[abc|^stuv]" : "[abc||^stu]");
    EXPECT_EQ(letters_of(predictor, "abcdefgh", "stuvwxyz", Truncation::left),
              one ? "[fgh|^wxyz]" : "[fgh||^xyz]");
    EXPECT_EQ(letters_of(predictor, "abcdefghijkl", "yz", Truncation::left),
              one ? "[hijkl|^yz]" : "[ijkl||^yz]");
    EXPECT_EQ(letters_of(predictor, "abc", "yz", Truncation::left), "[abc" + bar + "^yz]");
  }
}

TEST(Adapted, HandsOnTheRest) {
  AdaptedLetters predictor{LetterPredictor{1}, {.id = "here"}};
  EXPECT_EQ(predictor.facts().id, "here");
  EXPECT_EQ(predictor.labels().size(), 2u);
  EXPECT_EQ(predictor.problem_type(), ProblemType::multi_label);
  EXPECT_EQ(predictor.threshold(1), 0.5);
  const std::vector texts{predictor.encode("a", {}, Truncation::none),
                          predictor.encode("bc", {}, Truncation::none)};
  EXPECT_EQ(predictor.predict(texts), (std::vector<float>{3, 1, 4, 1}));
}

}  // namespace
}  // namespace seqtrain::serve
