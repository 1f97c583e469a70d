#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
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
  EXPECT_EQ(visit(R"({"model_type": "gpt2"})"),
            "config.json: model_type: 'gpt2' is not supported; supported are bert, roberta, "
            "distilbert, xlm-roberta, camembert, electra, mpnet, albert, modernbert, deberta-v2");
  EXPECT_EQ(visit("{}"), "config.json: model_type: missing");
}

TEST(Architectures, EveryFamilyHasACaseOfTransformers) {
  std::vector<std::string> seen;
  for (const auto& directory : tests::model_cases()) {
    Architectures::visit(weights::ConfigFile{directory / "config.json"},
                         [&]<class Family>() { seen.emplace_back(Family::model_type); });
  }
  for (const auto* name : {"bert", "roberta", "distilbert", "xlm-roberta", "camembert", "electra",
                           "mpnet", "albert", "modernbert", "deberta-v2"}) {
    EXPECT_NE(std::ranges::find(seen, name), seen.end()) << name;
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

/// All families, with their own names of parameters.
class LayersOfFamilies : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(LayersOfFamilies, LastIsInitialisedIfAsked) {
  const auto stored = load_classifier(GetParam(), {});
  const auto model = load_classifier(GetParam(), {.reinit_layers = 1, .seed = 1});
  std::int64_t last = 0;
  for (const auto& parameter : stored.parameters()) {
    last = std::max(last, tensor::layer_of(parameter.name).value_or(0));
  }
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < stored.parameters().size(); ++i) {
    const auto& [before, after] = std::pair{stored.parameters()[i], model.parameters()[i]};
    if (tensor::layer_of(before.name) != last) {
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
    if (tensor::layer_of(parameter.name) != static_cast<std::int64_t>(layers) - 1) continue;
    if (!parameter.name.ends_with("Wo.weight")) continue;
    EXPECT_LE(parameter.value.abs().max().item<double>(), limit + 1e-6) << parameter.name;
  }
}

TEST_P(LayersOfFamilies, LearnSlowerTheLowerTheyAre) {
  const auto model = load_classifier(GetParam(), {});
  const auto factors = optim::layerwise(model.parameters(), 0.5);
  EXPECT_EQ(factors.size(), model.parameters().size());
  const double lowest =
      std::ranges::min_element(factors, {}, [](const auto& named) { return named.second; })->second;
  for (const auto& [name, factor] : factors) {
    const bool head = name.starts_with("classifier") || name.starts_with("pre_classifier") ||
                      name.find("pooler") != name.npos;
    const bool words = name.find("word_embeddings") != name.npos;
    const double first = tensor::layer_of(name) == 0 ? 2 * lowest : factor;
    EXPECT_EQ(factor, head ? 1 : words ? lowest : first) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, LayersOfFamilies, testing::ValuesIn(tests::model_cases()),
                         [](const auto& test) { return test.param.filename().string(); });

}  // namespace
}  // namespace seqtrain::model
