#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/model/families.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/optim/parameter_groups.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/corrupt.hpp"
#include "support/model_case.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

TEST(Architectures, UnknownFamiliesAreNamedWithTheSupportedOnes) {
  const auto visit = [](const char* text) {
    return tests::refusal(
        [&] { Architectures::visit(weights::ConfigFile::parse(text), []<class Family>() {}); });
  };
  EXPECT_EQ(visit(R"({"model_type": "t5"})"),
            "config.json: model_type: 't5' is not supported; supported are bert, roberta, "
            "distilbert, xlm-roberta, camembert, electra, mpnet, albert, modernbert, deberta-v2, "
            "ernie, data2vec-text, megatron-bert, roberta-prelayernorm, xlm-roberta-xl, rembert, "
            "bart, deberta, eurobert, nomic_bert, gte, new, roformer, esm, longformer, gpt2, "
            "llama, mistral, "
            "qwen2, qwen3, smollm3, olmo2, gemma2, gemma3_text, phi3");
  EXPECT_EQ(visit("{}"), "config.json: model_type: missing");
}

TEST(Architectures, EveryFamilyHasACaseOfTransformers) {
  std::vector<std::string> seen;
  for (const auto& directory : tests::model_cases()) {
    Architectures::visit(weights::ConfigFile{directory / "config.json"},
                         [&]<class Family>() { seen.emplace_back(Family::model_type); });
  }
  for (const auto* name : {"bert",
                           "roberta",
                           "distilbert",
                           "xlm-roberta",
                           "camembert",
                           "electra",
                           "mpnet",
                           "albert",
                           "modernbert",
                           "deberta-v2",
                           "ernie",
                           "data2vec-text",
                           "megatron-bert",
                           "roberta-prelayernorm",
                           "xlm-roberta-xl",
                           "rembert",
                           "bart",
                           "deberta",
                           "eurobert",
                           "nomic_bert",
                           "gte",
                           "new",
                           "roformer",
                           "esm",
                           "longformer",
                           "gpt2",
                           "llama",
                           "mistral",
                           "qwen2",
                           "qwen3",
                           "smollm3",
                           "olmo2",
                           "gemma2",
                           "gemma3_text",
                           "phi3"}) {
    EXPECT_NE(std::ranges::find(seen, name), seen.end()) << name;
  }
}

/// Calls `use` with what a family reads from a config.json with these members.
template <class Use>
void with_config(const std::string& family, const std::string& members, const Use& use) {
  const auto file = weights::ConfigFile::parse(R"({"model_type": ")" + family + '"' +
                                               (members.empty() ? "" : ", ") + members + "}");
  Architectures::visit(file, [&]<class Family>() { use(Family::read_config(file)); });
}

TEST(FamilyConfigs, AbsentKeysAreAsInTransformers) {
  struct Row {
    const char* family;
    /// Vocabulary, hidden size, layers, heads, inner size, positions, token types, pad id.
    std::vector<std::int64_t> sizes;
    double hidden_dropout, classifier_dropout, eps;
    const char* activation = "gelu";
  };
  const Row rows[] = {
      {"bert", {30522, 768, 12, 12, 3072, 512, 2, 0}, 0.1, 0.1, 1e-12},
      {"roberta", {50265, 768, 12, 12, 3072, 512, 2, 1}, 0.1, 0.1, 1e-12},
      {"distilbert", {30522, 768, 6, 12, 3072, 512, 0, 0}, 0.1, 0.2, 1e-12},
      {"xlm-roberta", {30522, 768, 12, 12, 3072, 512, 2, 1}, 0.1, 0.1, 1e-12},
      {"camembert", {30522, 768, 12, 12, 3072, 512, 2, 1}, 0.1, 0.1, 1e-12},
      {"electra", {30522, 256, 12, 4, 1024, 512, 2, 0}, 0.1, 0.1, 1e-12},
      {"mpnet", {30527, 768, 12, 12, 3072, 512, 0, 1}, 0.1, 0.1, 1e-12},
      {"albert", {30000, 4096, 12, 64, 16384, 512, 2, 0}, 0, 0.1, 1e-12, "gelu_new"},
      {"modernbert", {50368, 768, 22, 12, 1152, 8192, 0, 50283}, 0, 0, 1e-5},
      {"deberta-v2", {128100, 1536, 24, 24, 6144, 512, 0, 0}, 0.1, 0.1, 1e-7},
      {"ernie", {30522, 768, 12, 12, 3072, 512, 2, 0}, 0.1, 0.1, 1e-12},
      {"data2vec-text", {30522, 768, 12, 12, 3072, 512, 2, 1}, 0.1, 0.1, 1e-12},
      {"megatron-bert", {29056, 1024, 24, 16, 4096, 512, 2, 0}, 0.1, 0.1, 1e-12},
      {"roberta-prelayernorm", {50265, 768, 12, 12, 3072, 512, 2, 1}, 0.1, 0.1, 1e-12},
      {"xlm-roberta-xl", {250880, 2560, 36, 32, 10240, 514, 1, 1}, 0.1, 0.1, 1e-5},
      {"rembert", {250300, 1152, 32, 18, 4608, 512, 2, 0}, 0, 0.1, 1e-12},
      {"bart", {50265, 1024, 12, 16, 4096, 1024, 0, 1}, 0.1, 0, 1e-5},
      {"deberta", {50265, 768, 12, 12, 3072, 512, 0, 0}, 0.1, 0.1, 1e-7},
      {"eurobert", {128256, 768, 12, 12, 3072, 8192, 0, 128001}, 0, 0, 1e-5, "silu"},
      {"nomic_bert", {30528, 768, 12, 12, 3072, 2048, 2, 0}, 0, 0, 1e-12, "silu"},
      {"gte", {250048, 768, 12, 12, 3072, 8192, 1, 1}, 0.1, 0.1, 1e-12},
      {"new", {30528, 768, 12, 12, 3072, 2048, 1, 0}, 0.1, 0.1, 1e-12},
      {"roformer", {50000, 768, 12, 12, 3072, 1536, 2, 0}, 0.1, 0.1, 1e-12},
      {"esm", {33, 768, 12, 12, 3072, 1026, 0, 1}, 0.1, 0.1, 1e-12},
      {"longformer", {30522, 768, 12, 12, 3072, 512, 2, 1}, 0.1, 0.1, 1e-12},
      {"gpt2", {50257, 768, 12, 12, 3072, 1024, 0, -1}, 0.1, 0, 1e-5, "gelu_new"},
      {"llama", {32000, 4096, 32, 32, 11008, 2048, 0, -1}, 0, 0, 1e-6, "silu"},
      {"mistral", {32000, 4096, 32, 32, 14336, 131072, 0, -1}, 0, 0, 1e-6, "silu"},
      {"qwen2", {151936, 4096, 32, 32, 22016, 32768, 0, -1}, 0, 0, 1e-6, "silu"},
      {"qwen3", {151936, 4096, 32, 32, 22016, 32768, 0, -1}, 0, 0, 1e-6, "silu"},
      {"smollm3", {128256, 2048, 36, 16, 11008, 32768, 0, 128004}, 0, 0, 1e-6, "silu"},
      {"olmo2", {50304, 4096, 32, 32, 11008, 2048, 0, 1}, 0, 0, 1e-5, "silu"},
      {"gemma2", {256000, 2304, 26, 8, 9216, 8192, 0, 0}, 0, 0, 1e-6, "gelu_pytorch_tanh"},
      {"phi3", {32064, 3072, 32, 32, 8192, 4096, 0, 32000}, 0, 0, 1e-5, "silu"},
      {"gemma3_text", {262208, 2304, 26, 8, 9216, 131072, 0, 0}, 0, 0, 1e-6, "gelu_pytorch_tanh"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.family);
    with_config(row.family, "", [&](const weights::ModelConfig& config) {
      EXPECT_EQ((std::vector{config.vocab_size, config.hidden_size, config.num_hidden_layers,
                             config.num_attention_heads, config.intermediate_size,
                             config.max_position_embeddings, config.type_vocab_size,
                             config.pad_token_id}),
                row.sizes);
      EXPECT_EQ(config.hidden_dropout_prob, row.hidden_dropout);
      EXPECT_EQ(config.classifier_dropout_prob(), row.classifier_dropout);
      EXPECT_EQ(config.layer_norm_eps, row.eps);
      EXPECT_EQ(config.hidden_act, row.activation);
    });
  }
}

TEST(FamilyConfigs, RefuseWhatCannotBeComputed) {
  struct Row {
    const char* family;
    const char* members;
    const char* says;  ///< after the file's name
  };
  const Row rows[] = {
      {"albert", R"("num_hidden_groups": 13)",
       "num_hidden_groups: 13 is above num_hidden_layers, 12"},
      {"distilbert", R"("activation": "silu")",
       "activation: 'silu' is not supported; supported are gelu, gelu_new, gelu_pytorch_tanh, "
       "relu"},
      {"electra", R"("embedding_size": 0)",
       "embedding_size: 0 is not a whole number from 1 to 2147483647"},
      {"roberta", R"("max_position_embeddings": 2)",
       "max_position_embeddings: leaves no position after pad_token_id"},
      {"roberta", R"("pad_token_id": null)",
       "pad_token_id: null is not supported, because positions count from pad_token_id + 1 on"},
      {"mpnet", R"("max_position_embeddings": 2)",
       "max_position_embeddings: leaves no position after pad_token_id"},
      {"mpnet", R"("pad_token_id": 0)", "pad_token_id: 0 is not supported; supported is 1"},
      {"mpnet", R"("relative_attention_num_buckets": 16)",
       "relative_attention_num_buckets: 16 is not supported; supported is 32"},
      {"deberta-v2", R"("pos_att_type": "c2p|p2p")",
       "pos_att_type: 'p2p' is not supported; supported are c2p, p2c"},
      {"deberta-v2", R"("norm_rel_ebd": "rms_norm")",
       "norm_rel_ebd: 'rms_norm' is not supported; supported are layer_norm, none"},
      {"deberta-v2", R"("attention_head_size": 32)",
       "attention_head_size: 32 is not supported; supported is 64"},
      {"deberta-v2", R"("pooler_hidden_size": 768)",
       "pooler_hidden_size: 768 is not supported; supported is 1536"},
      {"deberta-v2", R"("conv_kernel_size": 4)", "conv_kernel_size: 4 is not odd"},
      {"deberta-v2", R"("conv_kernel_size": 3, "conv_act": "silu")",
       "conv_act: 'silu' is not supported; supported are tanh, gelu, gelu_new, gelu_pytorch_tanh, "
       "relu"},
      {"deberta-v2", R"("position_buckets": 1)",
       "position_buckets: 1 is not from 2 to twice max_relative_positions"},
      {"deberta-v2", R"("num_hidden_layers": 10001)", "num_hidden_layers: 10001 is above 10000"},
      {"deberta-v2", R"("type_vocab_size": -1)", "type_vocab_size: negative"},
      {"modernbert", R"("rope_scaling": {"rope_type": "linear", "factor": 4.0})",
       "rope_scaling.rope_type: 'linear' is not supported; supported is default"},
      {"modernbert", R"("rope_parameters": {"full_attention": {"type": "linear"}})",
       "rope_parameters.full_attention.type: 'linear' is not supported; supported is default"},
      {"modernbert", R"("rope_parameters": {"full_attention": {"rope_type": "yarn"}})",
       "rope_parameters.full_attention.rope_type: 'yarn' is not supported; supported is default"},
      {"modernbert", R"("classifier_pooling": "max")",
       "classifier_pooling: 'max' is not supported; supported are cls, mean"},
      {"modernbert", R"("hidden_activation": "silu")",
       "hidden_activation: 'silu' is not supported; supported are gelu, gelu_new, "
       "gelu_pytorch_tanh, relu"},
      {"modernbert", R"("layer_types": ["full_attention"])",
       "layer_types: has 1 types, but num_hidden_layers is 22"},
      {"modernbert", R"("num_hidden_layers": 1, "layer_types": ["chunked"])",
       "layer_types: 'chunked' is not supported; supported are full_attention, sliding_attention"},
      {"modernbert", R"("num_attention_heads": 256)",
       "num_attention_heads: rotary positions need heads of an even size"},
      {"ernie", R"("use_task_id": true, "task_type_vocab_size": 0)",
       "task_type_vocab_size: 0 is not a whole number from 1 to 2147483647"},
      {"bart", R"("decoder_attention_heads": 3)",
       "decoder_attention_heads: 3 does not divide d_model, 1024"},
      {"bart", R"("decoder_layers": 10001)", "decoder_layers: 10001 is above 10000"},
      {"bart", R"("encoder_layerdrop": 0.1)",
       "encoder_layerdrop: is not supported; supported is 0"},
      {"bart", R"("pad_token_id": null)", "pad_token_id: null is not supported"},
      {"bart", R"("eos_token_id": null)", "eos_token_id: null is not supported"},
      {"bart", R"("eos_token_id": 50265)", "eos_token_id: 50265 is not an id of the vocabulary"},
      {"bart", R"("init_std": -1)", "init_std: negative"},
      {"deberta", R"("talking_head": true)", "talking_head: true is not supported"},
      {"deberta", R"("pos_att_type": ["p2p"])",
       "pos_att_type: 'p2p' is not supported; supported are c2p, p2c"},
      {"eurobert", R"("classifier_pooling": "cls")",
       "classifier_pooling: 'cls' is not supported; supported are bos, mean, late"},
      {"eurobert", R"("rope_parameters": {"partial_rotary_factor": 0.5})",
       "partial_rotary_factor: is not supported; supported is 1"},
      {"nomic_bert", R"("head_dim": 5)",
       "head_dim: rotary positions need heads of an even size, not 5"},
      {"nomic_bert", R"("hidden_act": "swish")",
       "hidden_act: 'swish' is not supported; supported are gelu, gelu_new, gelu_pytorch_tanh, "
       "relu"},
      {"gte", R"("type_vocab_size": -1)", "type_vocab_size: negative"},
      {"gte", R"("rope_scaling": {"type": "ntk", "factor": 2.0})",
       "rope_scaling.type: 'ntk' is not supported; supported are default, linear, llama3, yarn"},
      {"new", R"("rope_scaling": {"type": "linear", "factor": 2.0})",
       "rope_scaling.type: 'linear' is not supported; supported are default and ntk"},
      {"new", R"("rope_scaling": {"type": "ntk", "factor": 0})", "rope_scaling.factor: is below 1"},
      {"new", R"("rope_scaling": {"type": "ntk", "factor": 2.0, "mixed_b": 0.75})",
       "rope_scaling.mixed_b: is not supported"},
      {"new", R"("layer_norm_type": "rms_norm")",
       "layer_norm_type: 'rms_norm' is not supported; supported is layer_norm"},
      {"new", R"("position_embedding_type": "absolute")",
       "position_embedding_type: 'absolute' is not supported; supported is rope"},
      {"new", R"("pack_qkv": false)", "pack_qkv: false is not supported"},
      {"new", R"("logn_attention_scale": true)", "logn_attention_scale: true is not supported"},
      {"roformer", R"("rotary_value": true)", "rotary_value: true is not supported"},
      {"roformer", R"("num_attention_heads": 256)",
       "num_attention_heads: rotary positions need heads of an even size"},
      {"esm", R"("position_embedding_type": "relative_key")",
       "position_embedding_type: 'relative_key' is not supported; supported are absolute, rotary"},
      {"esm", R"("pad_token_id": null)",
       "pad_token_id: null is not supported, because positions count from pad_token_id + 1 on"},
      {"esm", R"("position_embedding_type": "rotary", "num_attention_heads": 256)",
       "num_attention_heads: rotary positions need heads of an even size"},
      {"esm", R"("token_dropout": true)", "mask_token_id: missing, and token_dropout is true"},
      {"esm", R"("is_folding_model": true)", "is_folding_model: true is not supported"},
      {"esm", R"("head_dim": 32)", "head_dim: 32 is not supported; supported is 64"},
      {"esm", R"("rope_theta": 0)", "rope_theta: is not above 0"},
      {"longformer", R"("attention_window": 7)",
       "attention_window: 7 is not an even number above 0"},
      {"longformer", R"("attention_window": [8, 0], "num_hidden_layers": 2)",
       "attention_window: 0 is not an even number above 0"},
      {"longformer", R"("attention_window": [8])",
       "attention_window: has 1 windows, but num_hidden_layers is 12"},
      {"gpt2", R"("embd_pdrop": 1)", "embd_pdrop: 1.000000 is not in [0, 1)"},
      {"gpt2", R"("n_head": 7)", "n_embd: 768 is not a multiple of n_head, 7"},
      {"gpt2", R"("n_inner": 0)", "n_inner: 0 is not a whole number from 1 to 2147483647"},
      {"gpt2", R"("add_cross_attention": true)",
       "add_cross_attention: not supported: classifiers are encoders"},
      {"llama", R"("num_key_value_heads": 5)",
       "num_key_value_heads: 5 does not divide num_attention_heads, 32"},
      {"llama", R"("head_dim": 5)", "head_dim: rotary positions need heads of an even size, not 5"},
      {"llama", R"("rope_scaling": {"rope_type": "dynamic", "factor": 2.0})",
       "rope_scaling.rope_type: 'dynamic' is not supported; supported are default, linear, llama3, "
       "yarn"},
      {"llama", R"("rope_parameters": {"full_attention": {"rope_theta": 1.0}})",
       "rope_parameters.full_attention: is an object, where this family has a number"},
      {"llama", R"("rope_parameters": {"rope_type": "linear"})", "rope_parameters.factor: missing"},
      {"llama", R"("rope_parameters": {"partial_rotary_factor": 0.5})",
       "partial_rotary_factor: is not supported; supported is 1"},
      {"phi3", R"("rope_scaling": {"type": "longrope", "long_factor": [1.0]})",
       "rope_scaling.type: 'longrope' is not supported; supported are default, linear, llama3, "
       "yarn"},
      {"phi3", R"("partial_rotary_factor": 1.5)", "partial_rotary_factor: is above 1"},
      {"phi3", R"("partial_rotary_factor": 0.12)",
       "partial_rotary_factor: does not give an even part of head_dim"},
      {"llama", R"("rope_theta": 0)", "rope_theta: is not above 0"},
      {"qwen3", R"("num_hidden_layers": 1, "layer_types": ["sliding_attention"])",
       "layer_types: has sliding_attention, but the file has no window for it"},
      {"smollm3", R"("no_rope_layers": [1])",
       "no_rope_layers: has 1 numbers, but num_hidden_layers is 36"},
      {"gemma2", R"("use_bidirectional_attention": true)",
       "use_bidirectional_attention: true is not supported"},
      {"modernbert", R"("global_attn_every_n_layers": 0)",
       "global_attn_every_n_layers: 0 is not a whole number from 1 to 2147483647"}};
  for (const Row& row : rows) {
    EXPECT_EQ(tests::refusal([&] { with_config(row.family, row.members, [](const auto&) {}); }),
              "config.json: " + std::string{row.says})
        << row.family << " " << row.members;
  }
}

/// Checkpoints of encoders alone, as after pre-training: names have no prefix, there is no head,
/// and there are tensors that a classifier does not have.
class PretrainedEncoders : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PretrainedEncoders, GetANewHead) {
  const tests::TemporaryDirectory directory;
  const weights::ConfigFile config{GetParam() / "config.json"};
  std::string prefix;
  Architectures::visit(config, [&]<class Family>() { prefix = std::string{Family::prefix} + "."; });
  std::filesystem::copy_file(GetParam() / "config.json", directory.path() / "config.json");
  const weights::WeightsFolder whole{GetParam()};
  std::vector<weights::TensorView> tensors;
  std::vector<std::string> head;
  for (const auto& name : whole.names()) {
    auto tensor = *whole.find(name);
    if (tensor.name.starts_with(prefix) && tensor.name.find("pooler") == std::string::npos) {
      tensor.name.erase(0, prefix.size());
      tensors.push_back(tensor);
    } else {
      head.push_back(tensor.name);
    }
  }
  tensors.push_back(tensors.front());
  tensors.back().name = "predictions.bias";
  weights::write_safetensors(directory.path() / "model.safetensors", tensors);
  const auto model = load_classifier(directory.path(), {.seed = 1});
  auto fresh = model.load_report().fresh;
  std::ranges::sort(fresh);
  std::ranges::sort(head);
  EXPECT_EQ(fresh, head);
  EXPECT_EQ(model.load_report().left_out, std::vector<std::string>{"predictions.bias"});
}

INSTANTIATE_TEST_SUITE_P(Cases, PretrainedEncoders, testing::ValuesIn(tests::model_cases()),
                         [](const auto& test) { return test.param.filename().string(); });

/// Returns the depth that the name of a parameter tells a reader. The layers of a decoder that has
/// an encoder come after the encoder's, which are two in all cases.
tensor::Depth depth_in(std::string_view name) {
  using Part = tensor::Depth::Part;
  const std::int64_t below = name.find("decoder.layers.") == name.npos ? 0 : 2;
  for (const std::string_view part : split(name, '.')) {
    if (const auto number = parse_number<std::int64_t>(part)) return {Part::layer, below + *number};
  }
  if (name.starts_with("dense.")) return {Part::head};
  for (const char* part : {"classifier", "pooler", "head.", "final_norm", "linear.", "score"}) {
    if (name.find(part) != name.npos) return {Part::head};
  }
  for (const char* norm : {"encoder.ln", "emb_layer_norm_after", "roberta.encoder.LayerNorm",
                           "prelayernorm.LayerNorm", "model.norm", "ln_f"}) {
    if (name.find(norm) != name.npos) return {Part::head};
  }
  return {Part::embedding};
}

/// All families, with their own names of parameters.
class LayersOfFamilies : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(LayersOfFamilies, LastIsInitialisedIfAsked) {
  const auto stored = load_classifier(GetParam(), {});
  const auto model = load_classifier(GetParam(), {.reinit_layers = 1, .seed = 1});
  std::int64_t last = 0;
  for (const auto& parameter : stored.parameters()) {
    EXPECT_EQ(parameter.depth, depth_in(parameter.name)) << parameter.name;
    last = std::max(last, depth_in(parameter.name).layer);
  }
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < stored.parameters().size(); ++i) {
    const auto& [before, after] = std::pair{stored.parameters()[i], model.parameters()[i]};
    if (depth_in(before.name) != tensor::Depth{tensor::Depth::Part::layer, last}) {
      EXPECT_TRUE(after.value.equal(before.value)) << before.name;
    } else if (before.name.ends_with(".weight") && before.value.dim() == 2) {
      ++fresh;
      EXPECT_FALSE(after.value.equal(before.value)) << before.name;
      EXPECT_LT(after.value.abs().max().item<float>(), 0.2) << before.name;
    }
  }
  EXPECT_GT(fresh, 0U);
  EXPECT_TRUE(model.load_report().left_out.empty());
  EXPECT_EQ(
      tests::refusal([&] { (void)load_classifier(GetParam(), {.reinit_layers = last + 2}); }),
      "reinit_layers: must be from 0 to " + std::to_string(last + 1) + ", the encoder's layers");
}

TEST(ReinitLayers, CutsTheWeightsOfModernBert) {
  const auto model = load_classifier(tests::golden() / "model/modernbert", {.reinit_layers = 1});
  const auto document = json::Document::load(tests::golden() / "model/modernbert/config.json");
  const auto config = document.root();
  const double layers = static_cast<double>(config.at("num_hidden_layers").integer());
  const double limit = 0.02 * 2 / std::sqrt(2 * layers);  // transformers' defaults
  for (const auto& parameter : model.parameters()) {
    if (depth_in(parameter.name).layer != static_cast<std::int64_t>(layers) - 1) continue;
    if (!parameter.name.ends_with("Wo.weight")) continue;
    EXPECT_LE(parameter.value.abs().max().item<double>(), limit + 1e-6) << parameter.name;
  }
}

TEST_P(LayersOfFamilies, LearnSlowerTheLowerTheyAre) {
  const auto model = load_classifier(GetParam(), {});
  const auto factors = optim::layerwise(model.parameters(), 0.5);
  EXPECT_EQ(factors.size(), model.parameters().size());
  std::int64_t layers = 0;
  for (const auto& [name, factor] : factors) layers = std::max(layers, depth_in(name).layer + 1);
  for (const auto& [name, factor] : factors) {
    const auto [part, layer] = depth_in(name);
    const bool head = part == tensor::Depth::Part::head;
    const auto below = part == tensor::Depth::Part::layer ? layers - layer : layers + 1;
    EXPECT_EQ(factor, head ? 1 : std::pow(0.5, below)) << name;
  }
}

TEST(LayerwiseDecay, LeavesTheHeadOfASentenceEncoderItsFullRate) {
  const auto model = load_classifier(tests::golden() / "sentence", {});
  const auto factors = optim::layerwise(model.parameters(), 0.5);
  EXPECT_EQ(factors.at("linear.weight"), 1);
  EXPECT_EQ(factors.at("linear.bias"), 1);
  EXPECT_LT(factors.at("bert.embeddings.word_embeddings.weight"), 0.5);
}

TEST_P(LayersOfFamilies, HaveOneTableOfWords) {
  const auto model = load_classifier(GetParam(), {});
  const auto& parameters = model.parameters();
  const auto words = std::ranges::find(parameters, tensor::Role::words, &tensor::Parameter::role);
  ASSERT_NE(words, parameters.end());
  EXPECT_TRUE(words->name.ends_with("word_embeddings.weight") ||
              words->name.ends_with("tok_embeddings.weight") ||
              words->name.ends_with("embed_tokens.weight") || words->name.ends_with("wte.weight") ||
              words->name == "model.shared.weight")
      << words->name;
  EXPECT_EQ(std::ranges::count(parameters, tensor::Role::words, &tensor::Parameter::role), 1);
}

INSTANTIATE_TEST_SUITE_P(Cases, LayersOfFamilies, testing::ValuesIn(tests::model_cases()),
                         [](const auto& test) { return test.param.filename().string(); });

}  // namespace
}  // namespace seqtrain::model
