#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/families/bart/bart.hpp>
#include <seqtrain/model/load_classifier.hpp>

#include "support/corrupt.hpp"
#include "support/model_case.hpp"
#include "support/one_row.hpp"

namespace seqtrain::model {
namespace {

using tests::gap;
using tests::one_row;

TEST(Bart, ReadsNothingOfPadding) {
  auto model = load_classifier(tests::small_model("bart").directory(), {});
  const auto alone = model.logits(one_row({0, 7, 9, 11, 2}));
  EXPECT_LT(gap(model.logits(one_row({0, 7, 9, 11, 2}, 4, 1)), alone), 1e-5);
  EXPECT_GT(gap(model.logits(one_row({0, 8, 9, 11, 2})), alone), 1e-4);
}

TEST(Bart, ReadsTheLastEndOfAPair) {
  auto model = load_classifier(tests::small_model("bart").directory(), {});
  const auto pair = model.logits(one_row({0, 7, 2, 2, 9, 11, 2}));
  EXPECT_GT(gap(model.logits(one_row({0, 7, 2, 2, 9, 12, 2})), pair), 1e-4);
}

TEST(Bart, RefusesATextWithoutAnEnd) {
  auto model = load_classifier(tests::small_model("bart").directory(), {});
  EXPECT_EQ(tests::refusal([&] {
              (void)model.logits(one_row({0, 7, 9}));
            }),
            "batch: input_ids: a text has no token 2, the eos_token_id of config.json, whose state "
            "BART's head reads; use the model's own tokenizer, which ends texts with it");
  EXPECT_EQ(tests::refusal([&] {
              (void)model.logits(one_row({0, 7, 9}, 1, 1));
            }).substr(0, 16),
            "batch: input_ids");
}

TEST(Bart, AdaptsTheAttentionOfTheEncoderAndBothOfTheDecoder) {
  const auto model = load_classifier(tests::small_model("bart").directory(),
                                     {.lora = weights::LoRA{.rank = 1, .targets = {"attention"}}});
  std::size_t adapted = 0;
  for (const auto& parameter : model.parameters()) {
    adapted += parameter.name.ends_with(weights::factor_a) ? 1U : 0U;
  }
  EXPECT_EQ(adapted, 4U * (2 + 2 * 2));
}

}  // namespace
}  // namespace seqtrain::model
