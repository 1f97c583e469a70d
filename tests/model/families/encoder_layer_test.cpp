#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include <seqtrain/model/families/distilbert/distilbert.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/model_case.hpp"

namespace seqtrain::model {
namespace {

/// Training with dropout writes attention out; evaluation takes ATen's fused operator.
TEST(Attention, IsTheSameWrittenOutAndFused) {
  const at::Tensor x = at::arange(2 * 2 * 5 * 4, at::kFloat).mul(0.37).sin().view({2, 2, 5, 4});
  const at::Tensor columns = at::arange(5);
  const at::Tensor lengths = at::arange(3, 5).unsqueeze(1);  // 3 and 4 of 5
  Dropout off;
  Dropout almost_off{1, c10::Device{c10::kCPU}};
  const at::Tensor k = x.cos();
  const at::Tensor v = x.mul(2).cos();
  const AttentionMask keys{.keys = columns.lt(lengths).unsqueeze(1).unsqueeze(1)};
  const at::Tensor bias = at::arange(2 * 5 * 5, at::kFloat).sin().view({1, 2, 5, 5});
  for (const auto& mask : {AttentionMask{}, keys, AttentionMask{.bias = bias},
                           AttentionMask{.keys = keys.keys, .bias = bias}}) {
    const at::Tensor fused = attend(x, k, v, mask, 0.1, off);
    const at::Tensor written_out = attend(x, k, v, mask, 1e-12, almost_off);
    EXPECT_TRUE(fused.allclose(written_out, 1e-5, 1e-6));
  }
}

/// A causal layer's window ends at the query; padding that comes after all tokens needs no mask.
TEST(Attention, SeesNoLaterKeyInACausalLayer) {
  const at::Tensor x = at::arange(2 * 2 * 6 * 4, at::kFloat).mul(0.37).sin().view({2, 2, 6, 4});
  const at::Tensor k = x.cos(), v = x.mul(2).cos();
  tensor::Batch batch;
  batch.input_ids = at::arange(12, at::kInt).view({2, 6});
  batch.lengths = at::arange(5, 7, at::kInt);
  batch.padded = true;
  Dropout off;
  Dropout almost_off{1, c10::Device{c10::kCPU}};
  LayerTraits traits{.activation = ActivationKind::gelu, .heads = 2, .causal = true};
  for (const std::size_t sliding_window : {std::size_t{100}, std::size_t{2}}) {
    traits.sliding_window = sliding_window;
    const AttentionMask mask = mask_of(batch, traits);
    const at::Tensor fused = attend(x, k, v, mask, 0, off);
    EXPECT_TRUE(fused.allclose(attend(x, k, v, mask, 1e-12, almost_off), 1e-5, 1e-6))
        << sliding_window;
    const std::int64_t first = sliding_window == 2 ? 2 : 0;  // of the keys that query 4 sees
    const at::Tensor alone = attend(x.narrow(2, 4, 1), k.narrow(2, first, 5 - first),
                                    v.narrow(2, first, 5 - first), {}, 0, off);
    EXPECT_TRUE(fused.narrow(2, 4, 1).allclose(alone, 1e-5, 1e-6)) << sliding_window;
  }
}

TEST(Attention, BoundsItsScores) {
  const at::Tensor q = at::arange(8, at::kFloat).view({1, 1, 2, 4}), v = q.cos();
  Dropout off;
  const at::Tensor scores = at::matmul(q, q.transpose(-2, -1)).mul(0.5);
  const at::Tensor expected = at::matmul(at::softmax(scores.div(3).tanh().mul(3), -1), v);
  EXPECT_TRUE(attend(q, q, v, {}, 0, off, {.scale = 0.5, .cap = 3}).allclose(expected, 1e-5, 1e-6));
  EXPECT_FALSE(attend(q, q, v, {}, 0, off, {.scale = 0.5}).allclose(expected, 1e-3, 1e-3));
}

/// Tells whether dropout of the outputs changes the result of DistilBERT's layers.
bool drops_outputs(bool attention, bool feed_forward) {
  const weights::WeightsFolder checkpoint{tests::small_model("distilbert_gelu").directory()};
  auto config = read_distilbert_config(weights::ConfigFile{checkpoint.config_file()});
  config.hidden_dropout_prob = 0.5;
  config.attention_probs_dropout_prob = 0;
  const c10::Device device{c10::kCPU};
  LayerForm form = DistilBert::layer_form;
  form.drops_attention_output = attention;
  form.drops_output = feed_forward;
  ParameterMaker maker{checkpoint, {.prefix = "distilbert", .seed = 1, .device = device}};
  const LayerStack layers{Scope{maker, "distilbert.transformer.layer", {.required = true}}, config,
                          form};
  const at::Tensor x = at::randn({2, 3, config.hidden_size});
  Dropout off;
  Dropout on{1, device};
  return !at::equal(layers(x, {}, off), layers(x, {}, on));
}

TEST(LayerStack, DropsTheOutputsThatItsFormNames) {
  EXPECT_TRUE(drops_outputs(true, false));
  EXPECT_TRUE(drops_outputs(false, true));
  EXPECT_FALSE(drops_outputs(false, false));
}

}  // namespace
}  // namespace seqtrain::model
