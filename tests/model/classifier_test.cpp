#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/optim/adam.hpp>

#include "support/model_case.hpp"
#include "support/model_conformance.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

using tests::ModelCase;
using tests::small_model;

template <class M>
M load(const std::filesystem::path& directory, const ClassifierOptions& options = {}) {
  return M{weights::WeightsFolder{directory}, options};
}

struct SmallBert {
  static Classifier<Bert> make(double dropout, std::uint64_t seed) {
    return load<Classifier<Bert>>(small_model("bert_gelu").directory(),
                                  {.dropout = dropout, .seed = seed});
  }
  static data::Batch batch(std::int64_t index) { return small_model("bert_gelu").batch(index); }
};

struct SmallRoberta {
  static Classifier<Roberta> make(double dropout, std::uint64_t seed) {
    return load<Classifier<Roberta>>(small_model("roberta_gelu_new").directory(),
                                     {.dropout = dropout, .seed = seed});
  }
  static data::Batch batch(std::int64_t index) {
    return small_model("roberta_gelu_new").batch(index);
  }
};

Classifier<Bert> small_bert(const ClassifierOptions& options) {
  return load<Classifier<Bert>>(small_model("bert_gelu").directory(), options);
}

double loss_of(Classifier<Bert>& model, std::int64_t epoch, std::int64_t index) {
  auto batch = SmallBert::batch(0);
  batch.epoch = epoch;
  batch.index = index;
  return static_cast<double>(model.accumulate(batch, 1));
}

TEST(Classifier, DrawsDropoutFromSeedEpochAndBatchAlone) {
  auto model = SmallBert::make(0.5, 1);
  const double loss = loss_of(model, 0, 0);
  EXPECT_NE(loss_of(model, 0, 1), loss);
  EXPECT_NE(loss_of(model, 1, 0), loss);
  EXPECT_EQ(loss_of(model, 0, 0), loss);
  auto other_seed = SmallBert::make(0.5, 2);
  EXPECT_NE(loss_of(other_seed, 0, 0), loss);
}

TEST(Classifier, TakesDropoutFromTheConfigurationUnlessToldOtherwise) {
  auto configured = small_bert({});
  auto none = small_bert({.dropout = 0});
  EXPECT_NE(loss_of(configured, 0, 0), loss_of(none, 0, 0));
  EXPECT_EQ(loss_of(none, 0, 0), loss_of(none, 0, 1));
  EXPECT_NEAR(loss_of(none, 0, 0), small_model("bert_gelu").expected("loss")[0], 1e-5);
}

TEST(Classifier, TrainsTheHeadAloneWhereTheEncoderIsFrozen) {
  auto model = small_bert({.dropout = 0.5, .freeze_encoder = true});
  const auto batch = SmallBert::batch(0);
  const auto before = model.parameters()[0].value.clone();
  const auto logits = model.logits(batch);
  model.accumulate(batch, 1);
  std::vector<std::string> trained;
  for (const auto& parameter : model.parameters()) {
    if (parameter.gradient.defined()) trained.push_back(parameter.name);
  }
  EXPECT_EQ(trained, (std::vector<std::string>{"bert.pooler.dense.weight", "bert.pooler.dense.bias",
                                               "classifier.weight", "classifier.bias"}));
  optim::Adam optimizer{{.lr = 0.1, .weight_decay = 0.1}};
  optimizer.step(model.parameters(), {});
  EXPECT_TRUE(model.parameters()[0].value.equal(before));
  EXPECT_NE(model.logits(batch), logits);
}

TEST(Classifier, SaysThatWeightsDecayAndBiasesAndNormsDoNot) {
  const auto model = small_bert({});
  for (const auto& parameter : model.parameters()) {
    tensor::Parameter named;
    named.name = parameter.name;
    EXPECT_EQ(optim::decays(parameter), optim::decays(named)) << parameter.name;
  }
}

TEST(Classifier, TrainsByWeightsOfLabelsAndSmoothedTargets) {
  const auto batch = SmallBert::batch(0);
  auto model =
      small_bert({.dropout = 0, .loss = {.class_weights = {0.5, 2, 3}, .label_smoothing = 0.1}});
  const auto logits = model.logits(batch);
  const auto expected = [&](const LossOptions& options) {
    metrics::MeanRowLoss mean;
    mean.add(make_loss(ProblemType::single_label, 3, options).rows(logits, batch));
    return mean.value();
  };
  EXPECT_NEAR(loss_of(model, 0, 0),
              expected({.class_weights = {0.5, 2, 3}, .label_smoothing = 0.1}), 1e-6);
  double sum = 0;
  for (const auto label : batch.labels) sum += std::vector<double>{0.5, 2, 3}.at(label);
  EXPECT_DOUBLE_EQ(model.weight_of(batch), sum);
  model.set_loss(LossOptions{});
  EXPECT_NEAR(loss_of(model, 0, 0), expected({}), 1e-6);
  EXPECT_DOUBLE_EQ(model.weight_of(batch), static_cast<double>(batch.rows));
  EXPECT_THROW(small_bert({.loss = {.class_weights = {1, 2}}}), InputError);
  EXPECT_THROW(small_bert({.loss = {.label_smoothing = 2}}), InputError);
}

TEST(Classifier, RefusesBatchesThatDoNotFit) {
  auto model = SmallBert::make(0, 1);
  const auto refuses = [&](auto change, const char* field) {
    auto batch = SmallBert::batch(0);
    change(batch);
    try {
      model.accumulate(batch, 1);
      FAIL() << "expected an error about " << field;
    } catch (const InputError& error) {
      EXPECT_NE(std::string{error.what()}.find(field), std::string::npos) << error.what();
    }
  };
  refuses([](auto& batch) { batch.input_ids[0] = 24; }, "input_ids");
  refuses([](auto& batch) { batch.input_ids[0] = -1; }, "input_ids");
  refuses([](auto& batch) { batch.token_type_ids[0] = 2; }, "token_type_ids");
  refuses([](auto& batch) { batch.labels[0] = 3; }, "labels");
  refuses([](auto& batch) { batch.labels[0] = -1; }, "labels");
  refuses([](auto& batch) { batch.lengths[0] = 0; }, "lengths");
  refuses([](auto& batch) { batch.input_ids.pop_back(); }, "input_ids");
  refuses(
      [](auto& batch) {
        batch.rows = 1;
        batch.width = 13;
      },
      "13");
}

data::Batch without_targets(const ModelCase& given) {
  auto batch = given.batch(0);
  batch.targets.clear();
  return batch;
}

TEST(Classifier, RefusesTargetsThatDoNotFit) {
  const auto given = small_model("bert_regression");
  auto model = load<Classifier<Bert>>(given.directory());
  EXPECT_EQ(model.problem_type(), ProblemType::regression);
  EXPECT_THROW(model.accumulate(without_targets(given), 1), InputError);
  auto batch = given.batch(0);
  batch.targets[1] = std::nanf("");
  EXPECT_THROW(model.accumulate(batch, 1), InputError);
  EXPECT_NO_THROW(model.logits(batch));
  batch = given.batch(0);
  batch.labels[1] = -1;
  EXPECT_THROW(model.accumulate(batch, 1), InputError);
  auto several = load<Classifier<Roberta>>(small_model("roberta_multi_label").directory());
  EXPECT_EQ(several.problem_type(), ProblemType::multi_label);
  EXPECT_THROW(several.accumulate(without_targets(small_model("roberta_multi_label")), 1),
               InputError);
}

TEST(Classifier, RefusesWeightsAndSmoothingWhereTargetsAreNoLabels) {
  const auto directory = small_model("bert_regression").directory();
  EXPECT_THROW(load<Classifier<Bert>>(directory, {.loss = {.class_weights = {2}}}), InputError);
  EXPECT_THROW(load<Classifier<Bert>>(directory, {.loss = {.label_smoothing = 0.1}}), InputError);
}

TEST(Classifier, SavesWhatItsProblemIs) {
  const tests::TemporaryDirectory directory;
  const auto given = small_model("bert_regression");
  auto model = load<Classifier<Bert>>(given.directory());
  model.save_pretrained(directory.path() / "model");
  auto again = load<Classifier<Bert>>(directory.path() / "model");
  EXPECT_EQ(again.problem_type(), ProblemType::regression);
  EXPECT_EQ(again.logits(given.batch(0)), model.logits(given.batch(0)));
}

TEST(Classifier, SavesWhatItLoads) {
  const tests::TemporaryDirectory directory;
  auto model = small_bert({.labels = {"no", "maybe", "yes"}, .dropout = 0.25});
  model.save_pretrained(directory.path() / "model");
  auto again = load<Classifier<Bert>>(directory.path() / "model");
  EXPECT_EQ(again.config().labels, (std::vector<std::string>{"no", "maybe", "yes"}));
  EXPECT_TRUE(again.load_report().fresh.empty());
  EXPECT_TRUE(again.load_report().left_out.empty());
  EXPECT_EQ(again.logits(SmallBert::batch(0)), model.logits(SmallBert::batch(0)));
}

/// Writes the tensors of a small model again under other names. An empty name leaves a tensor out.
template <class Rename>
void rewrite(const std::string& name, const std::filesystem::path& directory, Rename rename) {
  const auto source = small_model(name).directory();
  std::filesystem::copy_file(source / "config.json", directory / "config.json");
  const weights::SafetensorsFile file{source / "model.safetensors"};
  std::vector<weights::TensorView> tensors;
  for (auto tensor : file.tensors()) {
    tensor.name = rename(tensor.name);
    if (!tensor.name.empty()) tensors.push_back(tensor);
  }
  weights::write_safetensors(directory / "model.safetensors", tensors);
}

TEST(Classifier, FindsNamesWithoutPrefixAndOldOnes) {
  const tests::TemporaryDirectory directory;
  rewrite("bert_gelu", directory.path(), [](std::string name) {
    if (name.starts_with("bert.")) name.erase(0, 5);
    if (name.ends_with("LayerNorm.weight")) name.replace(name.size() - 6, 6, "gamma");
    if (name.ends_with("LayerNorm.bias")) name.replace(name.size() - 4, 4, "beta");
    return name;
  });
  auto model = load<Classifier<Bert>>(directory.path());
  EXPECT_TRUE(model.load_report().fresh.empty());
  EXPECT_TRUE(model.load_report().left_out.empty());
  auto original = SmallBert::make(0, 1);
  EXPECT_EQ(model.logits(SmallBert::batch(0)), original.logits(SmallBert::batch(0)));
}

TEST(Classifier, InitialisesAHeadThatTheCheckpointLacks) {
  const tests::TemporaryDirectory directory;
  rewrite("roberta_gelu_new", directory.path(), [](std::string name) {
    return name == "classifier.dense.weight" ? std::string{"lm_head.dense.weight"} : name;
  });
  const auto fresh = load<Classifier<Roberta>>(directory.path(), {.seed = 1});
  EXPECT_EQ(fresh.load_report().fresh, std::vector<std::string>{"classifier.dense.weight"});
  EXPECT_EQ(fresh.load_report().left_out, std::vector<std::string>{"lm_head.dense.weight"});
  const auto weight = [](const Classifier<Roberta>& model) {
    return std::ranges::find(model.parameters(), "classifier.dense.weight",
                             &tensor::Parameter::name)
        ->value;
  };
  EXPECT_NEAR(weight(fresh).std().item<double>(), 0.02, 0.008);
  const auto same = load<Classifier<Roberta>>(directory.path(), {.seed = 1});
  const auto other = load<Classifier<Roberta>>(directory.path(), {.seed = 2});
  EXPECT_TRUE(weight(fresh).equal(weight(same)));
  EXPECT_FALSE(weight(fresh).equal(weight(other)));
}

TEST(Classifier, NamesAMissingTensorOfTheEncoder) {
  const tests::TemporaryDirectory directory;
  const std::string missing = "bert.encoder.layer.1.output.dense.weight";
  rewrite("bert_gelu", directory.path(),
          [&](const std::string& name) { return name == missing ? std::string{} : name; });
  try {
    load<Classifier<Bert>>(directory.path());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find(missing), std::string::npos) << error.what();
  }
}

TEST(Classifier, NamesBothShapesWhereTheyDiffer) {
  try {
    small_bert({.labels = {"a", "b"}});
    FAIL();
  } catch (const InputError& error) {
    const std::string text = error.what();
    for (const auto* part :
         {"classifier.weight", "[3, 8]", "[2, 8]", "--ignore-mismatched-sizes"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

TEST(Classifier, InitialisesParametersOfOtherSizesIfAsked) {
  const ClassifierOptions options{.labels = {"a", "b"}, .ignore_mismatched_sizes = true, .seed = 1};
  const auto model = small_bert(options);
  EXPECT_EQ(model.load_report().resized,
            (std::vector<std::string>{"classifier.weight", "classifier.bias"}));
  EXPECT_TRUE(model.load_report().fresh.empty());
  EXPECT_TRUE(model.load_report().left_out.empty());
  const auto weight =
      std::ranges::find(model.parameters(), "classifier.weight", &tensor::Parameter::name)->value;
  EXPECT_EQ(weight.sizes(), (std::vector<std::int64_t>{2, 8}));
  EXPECT_NEAR(weight.std().item<double>(), 0.02, 0.01);
  EXPECT_TRUE(small_bert({.ignore_mismatched_sizes = true}).load_report().resized.empty());
}

TEST(Classifier, RefusesAnotherFamily) {
  EXPECT_THROW(load<Classifier<Roberta>>(small_model("bert_gelu").directory()), InputError);
}

}  // namespace

}  // namespace seqtrain::model

namespace seqtrain::tests {
INSTANTIATE_TYPED_TEST_SUITE_P(Bert, ModelConformance, model::SmallBert);
INSTANTIATE_TYPED_TEST_SUITE_P(Roberta, ModelConformance, model::SmallRoberta);
}  // namespace seqtrain::tests
