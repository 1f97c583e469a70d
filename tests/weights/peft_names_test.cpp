#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/peft_names.hpp>

namespace seqtrain::weights {
namespace {

constexpr std::array<PeftName, 3> in_peft{{{"encoder.layer", {"layers"}},
                                           {"qkv", {"attn.q", "attn.k", "attn.v"}},
                                           {"up_gate", {"up", "gate"}}}};

TEST(PeftNames, ReplaceWholeWordsOfAName) {
  const auto renamed = [](const std::string& layer) { return peft_names(layer, in_peft).at(0); };
  EXPECT_EQ(renamed("gte.encoder.layer.11.out"), "gte.layers.11.out");
  EXPECT_EQ(renamed("gte.encoder.layers.11.out"), "gte.encoder.layers.11.out");
  EXPECT_EQ(renamed("gte.qkv_norm"), "gte.qkv_norm");
  EXPECT_EQ(peft_names("gte.encoder.layer.0.qkv", {}).at(0), "gte.encoder.layer.0.qkv");
}

TEST(PeftNames, NameThePartsInTheirOrder) {
  EXPECT_EQ(peft_names("gte.encoder.layer.0.qkv", in_peft),
            (std::vector<std::string>{"gte.layers.0.attn.q", "gte.layers.0.attn.k",
                                      "gte.layers.0.attn.v"}));
  EXPECT_EQ(peft_names("up_gate.dense", in_peft), std::vector<std::string>{"up_gate.dense"});
  EXPECT_EQ(peft_names("mlp.up_gate", in_peft), (std::vector<std::string>{"mlp.up", "mlp.gate"}));
}

}  // namespace
}  // namespace seqtrain::weights
