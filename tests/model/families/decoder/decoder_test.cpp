#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/families/decoder/decoder.hpp>
#include <seqtrain/model/load_any_network.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/nn/only_by_operators.hpp>

#include "support/model_case.hpp"
#include "support/model_conformance.hpp"
#include "support/one_row.hpp"

namespace seqtrain::model {
namespace {

using tests::gap;
using tests::one_row;

AnyClassifier small(const char* name) {
  return load_classifier(tests::small_model(name).directory(), {});
}

TEST(Decoder, ReadsNothingOfPaddingAndNothingAfterTheLastToken) {
  for (const char* name : {"llama", "mistral", "gemma2", "olmo2"}) {
    auto model = small(name);
    const auto alone = model.logits(one_row({5, 7, 9, 11, 3}, 0, 0));
    EXPECT_LT(gap(model.logits(one_row({5, 7, 9, 11, 3}, 4, 0)), alone), 1e-5) << name;
    EXPECT_GT(gap(model.logits(one_row({6, 7, 9, 11, 3}, 0, 0)), alone), 1e-4) << name;
  }
}

/// transformers counts as padding what has its id, whatever the tokenizer says.
TEST(Decoder, TakesTheLastTokenThatIsNotThePaddings) {
  auto model = small("llama");
  const auto expected = model.logits(one_row({5, 7, 9}, 0, 0));
  EXPECT_LT(gap(model.logits(one_row({5, 7, 9, 0}, 0, 0)), expected), 1e-5);
}

TEST(Decoder, HasFourLinearLayersOfAttentionToAdapt) {
  const auto model = load_classifier(tests::small_model("llama").directory(),
                                     {.lora = weights::LoRA{.rank = 1, .targets = {"attention"}}});
  const auto adapts = [](const tensor::Parameter& parameter) {
    return parameter.name.ends_with(weights::factor_a);
  };
  EXPECT_EQ(std::ranges::count_if(model.parameters(), adapts), 2 * 4);
}

TEST(Decoder, NamesWhatItsLayersNeedOperatorsFor) {
  EXPECT_EQ(small("esm_rotary").only_by_operators(), "angles of the checkpoint");
  for (const char* name : {"bert_gelu", "llama", "qwen3_windows", "smollm3", "megatron_bert",
                           "nomic_bert", "gte", "gpt2", "gpt2_scaled", "gemma2_plain", "gemma2",
                           "gemma3_text", "olmo2", "phi3_partial", "roformer"}) {
    EXPECT_EQ(small(name).only_by_operators(), "") << name;
  }
}

TEST(Decoder, NamesWhatADeviceNeedsOperatorsFor) {
  const weights::WeightsFolder folder{tests::small_model("qwen3_windows").directory()};
  const auto loaded = load_any_network(folder, {});
  EXPECT_EQ(not_packed(*loaded.network->layers()),
            "a norm before the first layer, RMSNorm, norms of queries and keys, causal attention, "
            "gates of a linear layer of their own, SiLU, the last token as result");
}

struct SmallDecoder {
  static AnyClassifier make(double dropout, std::uint64_t seed) {
    return load_classifier(tests::small_model("mistral").directory(),
                           {.dropout = dropout, .seed = seed});
  }
  static data::Batch batch(std::int64_t index) {
    return tests::small_model("mistral").batch(index);
  }
};

}  // namespace
}  // namespace seqtrain::model

namespace seqtrain::tests {
INSTANTIATE_TYPED_TEST_SUITE_P(Decoder, ModelConformance, model::SmallDecoder);
}  // namespace seqtrain::tests
