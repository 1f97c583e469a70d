#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/serve/servable.hpp>

#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

/// A model whose tokenizer cuts texts at fewer ids than the model takes.
struct ShorterTokenizer : tests::ServedModel {
  using ServedModel::ServedModel;
  [[nodiscard]] static std::size_t usual_length() { return 4; }
};

TEST(Encode, CutsAtTheTokenizersLengthAndRefusesAtTheModels) {
  const tests::ServedModel model{{.max_length = 6}};
  const ShorterTokenizer shorter{{.max_length = 6}};
  const auto ids = [](const auto& predictor, Truncation truncation) {
    std::string text;
    for (const auto id : encode(predictor, "abcdefgh", {}, truncation).input_ids) {
      text += id < 'a' ? '^' : static_cast<char>(id);
    }
    return text;
  };
  EXPECT_EQ(ids(model, Truncation::right), "^abcde");
  EXPECT_EQ(ids(shorter, Truncation::right), "^abc");
  EXPECT_EQ(ids(shorter, Truncation::left), "efgh");
  EXPECT_EQ(ids(shorter, Truncation::none), "^abcdefgh");
}

}  // namespace
}  // namespace seqtrain::serve
