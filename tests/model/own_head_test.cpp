#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/model/token_pooling.hpp>
#include <seqtrain/predict/predictor.hpp>

#include "support/made_checkpoint.hpp"
#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

struct TwoLayers : torch::nn::Module {
  TwoLayers(std::int64_t hidden_size, std::int64_t labels)
      : inner{register_module("inner", torch::nn::Linear(hidden_size, 8))},
        outer{register_module("outer", torch::nn::Linear(8, labels))} {}

  at::Tensor forward(const at::Tensor& pooled) { return outer(inner(pooled).tanh()); }

  torch::nn::Linear inner, outer;
};

ClassifierOptions options_with(Pooling pooling, bool autograd = false) {
  return {.labels = {"a", "b", "c"},
          .dropout = 0.0,
          .head = own_head<TwoLayers>(pooling),
          .seed = 3,
          .autograd = autograd};
}

const tensor::Parameter& parameter(const AnyClassifier& model, const std::string& ending) {
  for (const auto& each : model.parameters()) {
    if (each.name.ends_with(ending)) return each;
  }
  throw Error{"no parameter " + ending};
}

/// Takes the states of all tokens: the sum, to which padding adds 0, and the maximum.
struct SumAndMax : torch::nn::Module {
  SumAndMax(std::int64_t hidden_size, std::int64_t labels)
      : outer{register_module("outer", torch::nn::Linear(hidden_size, labels))} {}

  at::Tensor forward(const at::Tensor& tokens) {
    return outer(max_of_tokens(tokens).add(tokens.sum(1), 0.1));
  }

  torch::nn::Linear outer;
};

ClassifierOptions options_of_all_tokens(bool autograd = false) {
  auto options = options_with(Pooling::none, autograd);
  options.head = own_head<SumAndMax>(Pooling::none);
  return options;
}

/// Returns a batch with four more columns of padding.
data::Batch widened(const data::Batch& batch) {
  data::Batch wide = batch;
  wide.width += 4;
  wide.input_ids.clear();
  wide.token_type_ids.clear();
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    for (std::int64_t i = 0; i < wide.width; ++i) {
      const auto place = static_cast<std::size_t>(row * batch.width + i);
      wide.input_ids.push_back(i < batch.width ? batch.input_ids[place] : 1);
      wide.token_type_ids.push_back(i < batch.width ? batch.token_type_ids[place] : 0);
    }
  }
  return wide;
}

/// The kernels and torch's operators compute the same logits and gradients below the head.
TEST(OwnHead, StandsOnAnyBackend) {
  for (const char* const family : {"bert", "albert", "modernbert", "deberta-v2"}) {
    for (const Pooling pooling : {Pooling::first_token, Pooling::mean, Pooling::none}) {
      SCOPED_TRACE(std::string{family} + " " + std::to_string(static_cast<int>(pooling)));
      const tests::MadeCheckpoint checkpoint{{.family = family}};
      const auto load = [&](bool autograd) {
        return load_classifier(checkpoint.path(), pooling == Pooling::none
                                                      ? options_of_all_tokens(autograd)
                                                      : options_with(pooling, autograd));
      };
      auto kernels = load(false), operators = load(true);
      EXPECT_TRUE(kernels.has_kernels());
      const auto batch = widened(tests::MadeCheckpoint::batch(0));
      EXPECT_LT((kernels.logits(batch) - operators.logits(batch)).cwiseAbs().maxCoeff(), 1e-4F);
      (void)kernels.accumulate(batch, 1);
      (void)operators.accumulate(batch, 1);
      for (std::size_t i = 0; i < kernels.parameters().size(); ++i) {
        const auto &ours = kernels.parameters()[i], &theirs = operators.parameters()[i];
        ASSERT_EQ(ours.name, theirs.name);
        EXPECT_LT((ours.gradient - theirs.gradient).abs().max().item<float>(), 1e-4F) << ours.name;
      }
      EXPECT_GT(parameter(kernels, ".weight").gradient.abs().max().item<float>(), 0);
      EXPECT_GT(kernels.parameters().back().gradient.abs().max().item<float>(), 0);
    }
  }
}

/// A frozen encoder, and one that computes in bfloat16, give the states of all tokens too.
TEST(OwnHead, TakesTokensOfEncodersThatDoNotLearn) {
  const tests::MadeCheckpoint checkpoint;
  auto batch = tests::MadeCheckpoint::batch(0);
  batch.set = 1;  // of a loader, whose rows a frozen encoder may keep
  const at::Tensor tokens =
      load_classifier(checkpoint.path(), options_of_all_tokens()).hidden(batch);
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    auto options = options_of_all_tokens();
    options.precision = precision;
    options.freeze_encoder = true;
    auto frozen = load_classifier(checkpoint.path(), options);
    EXPECT_TRUE(frozen.has_kernels());
    const float bound = precision == Precision::fp32 ? 1e-6F : 0.1F;
    for (int time = 0; time < 2; ++time) {
      const at::Tensor again = frozen.hidden(batch);
      ASSERT_EQ(again.sizes(), tokens.sizes());
      EXPECT_LT(again.sub(tokens).abs().max().item<float>(), bound);
      (void)frozen.accumulate(batch, 1);
    }
    EXPECT_EQ(frozen.hidden(widened(batch)).size(1), batch.width + 4);
    EXPECT_GT(parameter(frozen, "outer.weight").gradient.abs().max().item<float>(), 0);
  }
}

TEST(OwnHead, TakesTheStatesOfAllTokens) {
  for (const char* const family : {"bert", "modernbert", "deberta-v2", "mpnet"}) {
    SCOPED_TRACE(family);
    const tests::MadeCheckpoint checkpoint{{.family = family}};
    const auto batch = tests::MadeCheckpoint::batch(0);
    auto model = load_classifier(checkpoint.path(), options_of_all_tokens());
    const at::Tensor tokens = model.hidden(batch);
    ASSERT_EQ(tokens.dim(), 3);
    EXPECT_EQ(tokens.size(1), batch.width);
    auto mean = load_classifier(checkpoint.path(), options_with(Pooling::mean));
    const at::Tensor pooled = mean.hidden(batch);
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      const auto length = batch.lengths[static_cast<std::size_t>(row)];
      const at::Tensor of_row = tokens.select(0, row);
      EXPECT_EQ(of_row.slice(0, length).abs().sum().item<float>(), 0);
      const at::Tensor difference = of_row.sum(0).div(length).sub(pooled.select(0, row));
      EXPECT_LT(difference.abs().max().item<float>(), 1e-5F);
    }
    (void)model.accumulate(batch, 1);
    EXPECT_GT(parameter(model, "head.outer.weight").gradient.abs().max().item<float>(), 0);
    EXPECT_GT(parameter(model, "embeddings.weight").gradient.abs().max().item<float>(), 0);
  }
}

/// A head with dropout by torch's own module.
struct WithDropout : torch::nn::Module {
  WithDropout(std::int64_t hidden_size, std::int64_t labels)
      : dropout{register_module("dropout", torch::nn::Dropout(0.5))},
        outer{register_module("outer", torch::nn::Linear(hidden_size, labels))} {}

  at::Tensor forward(const at::Tensor& pooled) { return outer(dropout(pooled)); }

  torch::nn::Dropout dropout;
  torch::nn::Linear outer;
};

TEST(OwnHead, HasTheDropoutOfItsStep) {
  const tests::MadeCheckpoint checkpoint;
  auto options = options_with(Pooling::mean);
  options.head = own_head<WithDropout>();
  for (const bool autograd : {false, true}) {
    options.autograd = autograd;
    auto model = load_classifier(checkpoint.path(), options);
    auto batch = tests::MadeCheckpoint::batch(0);
    const auto loss = [&](std::int64_t index) {
      batch.index = index;
      return static_cast<double>(model.accumulate(batch, 1));
    };
    const double first = loss(0), second = loss(1);
    EXPECT_NE(first, second);
    EXPECT_EQ(loss(0), first);
    EXPECT_EQ(loss(1), second);
    EXPECT_TRUE(model.logits(batch) == model.logits(batch));
  }
}

/// Returns numbers of another shape.
struct Misshapen : TwoLayers {
  using TwoLayers::TwoLayers;
  at::Tensor forward(const at::Tensor& pooled) { return TwoLayers::forward(pooled).select(1, 0); }
};

TEST(OwnHead, IsRefusedIfItDoesNotReturnARowForEachRow) {
  const tests::MadeCheckpoint checkpoint;
  auto options = options_with(Pooling::mean);
  options.head = own_head<Misshapen>();
  auto model = load_classifier(checkpoint.path(), options);
  const auto batch = tests::MadeCheckpoint::batch(0);
  const std::string rows = std::to_string(batch.rows);
  EXPECT_EQ(tests::problem_of([&] { (void)model.accumulate(batch, 1); }),
            "head: must return a row of numbers for each of the " + rows +
                " rows that it takes, Float of the shape [" + rows +
                ", outputs], but returns Float of the shape [" + rows + "]");
}

/// A decoder pools the last token, unless it is asked for the mean or for all tokens.
TEST(OwnHead, TakesTheStatesOfADecodersTokens) {
  const auto load = [](Pooling pooling) {
    return load_classifier(tests::golden() / "model/llama", {.head = no_head(pooling)});
  };
  const std::vector<predict::Encoded> texts{{.input_ids = {5, 6, 7}, .first_segment = 3},
                                            {.input_ids = {8}, .first_segment = 1}};
  const auto batch = predict::to_batch(texts, 0);
  const at::Tensor tokens = load(Pooling::none).hidden(batch);
  ASSERT_EQ(tokens.dim(), 3);
  EXPECT_EQ(tokens.size(1), 3);
  EXPECT_EQ(tokens.select(0, 1).slice(0, 1).abs().sum().item<float>(), 0);
  const at::Tensor difference =
      tokens.select(0, 0).mean(0).sub(load(Pooling::mean).hidden(batch).select(0, 0));
  EXPECT_LT(difference.abs().max().item<float>(), 1e-5F);
}

/// A loss takes the hidden states if there is no head, and the encoder learns from it.
TEST(NoHead, GivesTheHiddenStatesToALoss) {
  const tests::MadeCheckpoint checkpoint;
  const auto batch = tests::MadeCheckpoint::batch(0);
  auto options = options_with(Pooling::mean);
  options.head = no_head(Pooling::mean);
  auto kernels = load_classifier(checkpoint.path(), options);
  options.autograd = true;
  auto operators = load_classifier(checkpoint.path(), options);
  EXPECT_TRUE(kernels.has_kernels());
  for (AnyClassifier* const model : {&kernels, &operators}) {
    model->set_loss([](const at::Tensor& states, const tensor::Batch&) {
      return states.matmul(states.t()).softmax(1).square().sum(1);
    });
    const at::Tensor states = model->hidden(batch);
    EXPECT_EQ(states.size(0), batch.rows);
    EXPECT_EQ(states.size(1), model->config().hidden_size);
    const auto logits = model->logits(batch);
    EXPECT_EQ(logits(0, 1), states[0][1].item<float>());
    (void)model->accumulate(batch, 1);
  }
  for (std::size_t i = 0; i < kernels.parameters().size(); ++i) {
    const auto &ours = kernels.parameters()[i], &theirs = operators.parameters()[i];
    EXPECT_TRUE(ours.name.starts_with("bert.")) << ours.name;
    EXPECT_LT((ours.gradient - theirs.gradient).abs().max().item<float>(), 1e-4F) << ours.name;
  }
}

TEST(OwnHead, PoolsAsItIsAsked) {
  const tests::MadeCheckpoint checkpoint;
  const auto batch = tests::MadeCheckpoint::batch(0);
  auto mean = load_classifier(checkpoint.path(), options_with(Pooling::mean));
  auto first = load_classifier(checkpoint.path(), options_with(Pooling::first_token));
  EXPECT_GT((mean.logits(batch) - first.logits(batch)).cwiseAbs().maxCoeff(), 1e-3F);
}

TEST(OwnHead, IsSavedAndReadAgain) {
  const tests::MadeCheckpoint checkpoint;
  const tests::TemporaryDirectory directory;
  auto model = load_classifier(checkpoint.path(), options_with(Pooling::mean));
  EXPECT_EQ(parameter(model, "head.outer.bias").depth.part, tensor::Depth::Part::head);
  {
    const at::NoGradGuard no_gradients;
    parameter(model, "head.outer.bias").value.fill_(2);
  }
  model.save_pretrained(directory.path());
  auto other = options_with(Pooling::mean);
  other.seed = 4;  // of other initial values
  auto again = load_classifier(directory.path(), other);
  const auto batch = tests::MadeCheckpoint::batch(0);
  EXPECT_TRUE(model.logits(batch) == again.logits(batch));
  EXPECT_TRUE(again.load_report().fresh.empty());
  const auto plain = load_classifier(directory.path(), {.labels = {"a", "b", "c"}});
  const auto problem =
      tests::problem_of([&] { check_trained(plain.load_report(), directory.path()); });
  EXPECT_NE(problem.find("has a head of a program's own"), std::string::npos) << problem;
}

/// A head with running statistics, a counter among them, and a parameter that does not learn.
struct Normalized : torch::nn::Module {
  Normalized(std::int64_t hidden_size, std::int64_t labels)
      : norm{register_module("norm", torch::nn::BatchNorm1d(hidden_size))},
        outer{register_module("outer", torch::nn::Linear(hidden_size, labels))} {
    outer->bias.set_requires_grad(false);
  }

  at::Tensor forward(const at::Tensor& pooled) { return outer(norm(pooled)); }

  torch::nn::BatchNorm1d norm;
  torch::nn::Linear outer;
};

ClassifierOptions options_of_normalized(std::uint64_t seed) {
  auto options = options_with(Pooling::mean);
  options.head = own_head<Normalized>(Pooling::mean);
  options.seed = seed;
  return options;
}

TEST(OwnHead, KeepsBuffersAndFixedParametersInItsState) {
  const tests::MadeCheckpoint checkpoint;
  const tests::TemporaryDirectory directory;
  const auto batch = tests::MadeCheckpoint::batch(0);
  auto model = load_classifier(checkpoint.path(), options_of_normalized(3));
  const at::Tensor bias = parameter(model, "head.outer.bias").value.clone();
  for (int step = 0; step < 3; ++step) (void)model.accumulate(batch, 1);
  EXPECT_EQ(parameter(model, "head.norm.num_batches_tracked").value.item<std::int64_t>(), 3);
  EXPECT_FALSE(parameter(model, "head.norm.running_mean").gradient.defined());
  EXPECT_TRUE(parameter(model, "head.outer.bias").value.equal(bias));
  EXPECT_FALSE(parameter(model, "head.outer.bias").gradient.defined());

  auto resumed = load_classifier(checkpoint.path(), options_of_normalized(4));
  resumed.load_state_dict(model.state_dict().views());
  EXPECT_TRUE(model.logits(batch) == resumed.logits(batch));

  model.save_pretrained(directory.path());
  auto saved = load_classifier(directory.path(), options_of_normalized(4));
  EXPECT_TRUE(model.logits(batch) == saved.logits(batch));
  EXPECT_TRUE(saved.load_report().fresh.empty());
  EXPECT_EQ(parameter(saved, "head.norm.num_batches_tracked").value.item<std::int64_t>(), 3);
}

TEST(OwnHead, LetsAFrozenEncoderRunOnceForARow) {
  const tests::MadeCheckpoint checkpoint;
  auto options = options_of_normalized(3);
  options.freeze_encoder = true;
  auto model = load_classifier(checkpoint.path(), options);
  auto batch = tests::MadeCheckpoint::batch(0);
  batch.set = 1;
  const at::Tensor states = model.hidden(batch).clone();
  (void)model.accumulate(batch, 1);
  // torch does not count this change
  parameter(model, "embeddings.LayerNorm.weight").value.data().mul_(2);
  EXPECT_TRUE(model.hidden(batch).equal(states));
  batch.set = 0;
  EXPECT_FALSE(model.hidden(batch).equal(states));
}

TEST(OwnHead, KeepsItsBuffersFromABatchThatIsNotFinite) {
  const tests::MadeCheckpoint checkpoint;
  const auto batch = tests::MadeCheckpoint::batch(0);
  for (const bool autograd : {false, true}) {
    auto options = options_of_normalized(3);
    options.autograd = autograd;
    auto model = load_classifier(checkpoint.path(), options);
    (void)model.accumulate(batch, 1);
    const at::Tensor& running = parameter(model, "running_mean").value;
    const at::Tensor before = running.clone();
    EXPECT_GT(before.abs().max().item<float>(), 0);
    const at::NoGradGuard no_gradients;
    const at::Tensor& norm = parameter(model, "layer.1.output.LayerNorm.weight").value;
    const at::Tensor weight = norm.clone();
    norm.fill_(NAN);
    EXPECT_TRUE(std::isnan(static_cast<double>(model.accumulate(batch, 1))));
    EXPECT_TRUE(running.equal(before));
    norm.copy_(weight);
    (void)model.accumulate(batch, 1);
    EXPECT_TRUE(running.isfinite().all().item<bool>());
    EXPECT_FALSE(running.equal(before));
  }
}

TEST(OwnHead, BeginsWithTheSeed) {
  const tests::MadeCheckpoint checkpoint;
  const auto batch = tests::MadeCheckpoint::batch(0);
  const auto logits = [&](std::uint64_t seed) {
    auto options = options_with(Pooling::mean);
    options.seed = seed;
    return load_classifier(checkpoint.path(), options).logits(batch);
  };
  EXPECT_TRUE(logits(1) == logits(1));
  EXPECT_FALSE(logits(1) == logits(2));
}

TEST(OwnHead, DoesNotGoWithFewShot) {
  const tests::MadeCheckpoint checkpoint;
  auto options = options_with(Pooling::mean);
  options.few_shot = true;
  EXPECT_NE(tests::problem_of([&] {
              (void)load_classifier(checkpoint.path(), options);
            }).find("few_shot: has a head of its own"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::model
