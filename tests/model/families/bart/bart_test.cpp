#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/families/bart/bart.hpp>
#include <seqtrain/model/load_classifier.hpp>

#include "support/corrupt.hpp"
#include "support/model_case.hpp"

namespace seqtrain::model {
namespace {

/// Returns a batch with one row of these ids and some of padding.
data::Batch row_of(std::vector<std::int32_t> ids, std::int64_t padding = 0) {
  data::Batch batch;
  batch.rows = 1;
  batch.lengths = {static_cast<std::int32_t>(ids.size())};
  ids.resize(ids.size() + static_cast<std::size_t>(padding), 1);
  batch.width = static_cast<std::int64_t>(ids.size());
  batch.token_type_ids.resize(ids.size());
  batch.input_ids = std::move(ids);
  batch.labels = {0};
  batch.row_ids = {0};
  return batch;
}

double gap(const metrics::Logits& a, const metrics::Logits& b) {
  return static_cast<double>((a - b).cwiseAbs().maxCoeff());
}

TEST(Bart, ReadsNothingOfPadding) {
  auto model = load_classifier(tests::small_model("bart").directory(), {});
  const auto alone = model.logits(row_of({0, 7, 9, 11, 2}));
  EXPECT_LT(gap(model.logits(row_of({0, 7, 9, 11, 2}, 4)), alone), 1e-5);
  EXPECT_GT(gap(model.logits(row_of({0, 8, 9, 11, 2})), alone), 1e-4);
}

TEST(Bart, ReadsTheLastEndOfAPair) {
  auto model = load_classifier(tests::small_model("bart").directory(), {});
  const auto pair = model.logits(row_of({0, 7, 2, 2, 9, 11, 2}));
  EXPECT_GT(gap(model.logits(row_of({0, 7, 2, 2, 9, 12, 2})), pair), 1e-4);
}

TEST(Bart, RefusesATextWithoutAnEnd) {
  auto model = load_classifier(tests::small_model("bart").directory(), {});
  EXPECT_EQ(tests::refusal([&] {
              (void)model.logits(row_of({0, 7, 9}));
            }),
            "batch: input_ids: a text has no token 2, the eos_token_id of config.json, whose state "
            "BART's head reads; use the model's own tokenizer, which ends texts with it");
  EXPECT_EQ(tests::refusal([&] {
              (void)model.logits(row_of({0, 7, 9}, 1));
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
