#include <ATen/core/Tensor.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <seqtrain/model/families/distilbert/config.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/model_case.hpp"

namespace seqtrain::model {
namespace {

/// Tells whether dropout of the outputs changes a DistilBERT layer's result.
bool drops_outputs(bool attention, bool feed_forward) {
  const weights::WeightsFolder checkpoint{tests::small_model("distilbert_gelu").directory()};
  auto config = read_distilbert_config(weights::ConfigFile{checkpoint.config_file()});
  config.hidden_dropout_prob = 0.5;
  config.attention_probs_dropout_prob = 0;
  const c10::Device device{c10::kCPU};
  ParameterMaker maker{checkpoint, {.prefix = "distilbert", .seed = 1, .device = device}};
  const EncoderLayer layer{Scope{maker, "distilbert.transformer.layer.0", {.required = true}},
                           config,
                           {.query = "attention.q_lin",
                            .key = "attention.k_lin",
                            .value = "attention.v_lin",
                            .attention_output = "attention.out_lin",
                            .attention_norm = "sa_layer_norm",
                            .intermediate = "ffn.lin1",
                            .output = "ffn.lin2",
                            .output_norm = "output_layer_norm",
                            .drops_attention_output = attention,
                            .drops_output = feed_forward}};
  const at::Tensor x = at::randn({2, 3, config.hidden_size});
  Dropout off;
  Dropout on{1, device};
  return !at::equal(layer(x, {}, off), layer(x, {}, on));
}

TEST(EncoderLayer, DropsTheOutputsThatItsFormNames) {
  EXPECT_TRUE(drops_outputs(true, false));
  EXPECT_TRUE(drops_outputs(false, true));
  EXPECT_FALSE(drops_outputs(false, false));
}

}  // namespace
}  // namespace seqtrain::model
