#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/input_checks.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

TEST(InputChecks, CompareTheVocabularyWithTheEmbedding) {
  weights::ModelConfig config;
  config.vocab_size = 100;
  check_vocabulary(config, 99, "m/config.json");
  check_vocabulary(config, 100, "m/config.json");
  EXPECT_EQ(tests::problem_of([&] { check_vocabulary(config, 101, "m/config.json"); }),
            "m/config.json: vocab_size: the tokenizer has 101 entries, the model's embedding 100; "
            "use the tokenizer that belongs to the checkpoint");
}

TEST(InputChecks, TakeAnyTypesForAModelWithOneType) {
  const data::Batch batch{.rows = 1,
                          .width = 2,
                          .input_ids = {1, 2},
                          .token_type_ids = {0, 1},
                          .lengths = {2},
                          .labels = {0},
                          .targets = {},
                          .row_ids = {0}};
  weights::ModelConfig config;
  config.type_vocab_size = 1;
  EXPECT_NO_THROW(check_ids(batch, config, 10));
  config.type_vocab_size = 2;
  EXPECT_NO_THROW(check_ids(batch, config, 10));
  auto other = batch;
  other.token_type_ids = {0, 2};
  EXPECT_THROW(check_ids(other, config, 10), InputError);
}

TEST(InputChecks, AllowARowWithoutALabelIfItHasNumbersInItsPlace) {
  data::Batch batch;
  batch.rows = 2;
  batch.labels = {-1, 1};
  const auto check = [&] { check_labels(batch, 2, ProblemType::single_label); };
  EXPECT_THROW(check(), InputError);
  batch.targets = {0.5F, 3, -2, 1};
  EXPECT_NO_THROW(check());
  batch.labels = {-2, 1};
  EXPECT_THROW(check(), InputError);
}

}  // namespace
}  // namespace seqtrain::model
