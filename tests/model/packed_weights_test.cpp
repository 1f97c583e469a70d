#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/weights/tensor_view.hpp>

#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"

namespace seqtrain::model {
namespace {

using tests::MadeCheckpoint;

data::Batch small_batch(std::int64_t index) {
  data::Batch batch = MadeCheckpoint::batch(index, 3);
  batch.set = 1;
  for (auto& row : batch.row_ids) row += 3 * index;
  return batch;
}

std::vector<float> gradients_of(const Classifier<Bert>& model) {
  std::vector<float> result;
  for (const auto& parameter : model.parameters()) {
    if (!parameter.gradient.defined()) continue;
    const auto* const first = parameter.gradient.const_data_ptr<float>();
    result.insert(result.end(), first, first + parameter.gradient.numel());
  }
  return result;
}

/// Changes or uses the weights of a model in ways that are chosen at random. The results must equal
/// those of a new model with the state_dict of this one.
class Driver {
 public:
  Driver(const std::filesystem::path& checkpoint, const ClassifierOptions& options,
         std::uint64_t seed)
      : checkpoint_{checkpoint}, options_{options}, random_{seed, random::Purpose::data} {
    saved_.assign(model_.state_dict().views());
  }

  /// Does one of these things and returns its name.
  std::string act() {
    static constexpr const char* names[] = {
        "accumulate", "logits", "step", "refused step", "load", "in place", "fused on data"};
    const std::size_t action = random_.below(7);
    const std::function<void()> actions[] = {
        [&] { accumulate(); },   [&] { compare_logits(); }, [&] { step(); },
        [&] { refused_step(); }, [&] { load_or_save(); },   [&] { change_in_place(); },
        [&] { fused_step(); },
    };
    actions[action]();
    if (random_.below(3) > 0) compare_logits();
    return names[action];
  }

 private:
  [[nodiscard]] Classifier<Bert> load() const {
    return Classifier<Bert>{weights::WeightsFolder{checkpoint_}, options_};
  }

  [[nodiscard]] Classifier<Bert> fresh_copy() const {
    auto copy = load();
    copy.load_state_dict(model_.state_dict().views());
    return copy;
  }

  data::Batch next_batch() { return small_batch(static_cast<std::int64_t>(random_.below(4))); }

  void compare_logits() {
    const auto batch = next_batch();
    EXPECT_EQ(model_.logits(batch), fresh_copy().logits(batch));
  }

  void accumulate() {
    const auto batch = next_batch();
    auto copy = fresh_copy();
    for (const auto& parameter : model_.parameters()) {
      if (parameter.gradient.defined()) parameter.gradient.zero_();
    }
    EXPECT_EQ(static_cast<double>(model_.accumulate(batch, 1)),
              static_cast<double>(copy.accumulate(batch, 1)));
    EXPECT_EQ(gradients_of(model_), gradients_of(copy));
  }

  void step() { EXPECT_EQ(optimizer_.step(model_.parameters(), {}).problem(), ""); }

  /// Takes a step whose gradients are not finite, which must change nothing.
  void refused_step() {
    const at::NoGradGuard no_gradients;
    const at::Tensor& bias = model_.parameters()[4].value;
    const at::Tensor before = bias.clone();
    bias.fill_(std::numeric_limits<float>::quiet_NaN());
    auto batch = next_batch();
    batch.set = 0;
    model_.accumulate(batch, 1);
    EXPECT_NE(optimizer_.step(model_.parameters(), {}).problem(), "");
    bias.copy_(before);
  }

  void load_or_save() {
    if (random_.below(2) > 0) {
      saved_.assign(model_.state_dict().views());
    } else {
      model_.load_state_dict(saved_.views());
    }
  }

  const tensor::Parameter& any_parameter() {
    return model_.parameters()[random_.below(model_.parameters().size())];
  }

  void change_in_place() {
    const at::NoGradGuard no_gradients;
    const at::Tensor& value = any_parameter().value;
    if (random_.below(2) > 0) {
      value.mul_(1.25);
    } else {
      value.detach().select(0, 0).add_(0.125);
    }
  }

  /// Takes a step of one of torch's optimizers, whose writes torch does not count.
  void fused_step() {
    accumulate();
    if (random_.below(2) > 0) compare_logits();
    const at::NoGradGuard no_gradients;
    for (const auto& parameter : model_.parameters()) {
      if (!parameter.gradient.defined()) continue;
      at::_fused_adam_({parameter.value}, {parameter.gradient},
                       {at::zeros_like(parameter.gradient)}, {at::zeros_like(parameter.gradient)},
                       {}, {at::zeros({}).add_(1)}, 1e-2, 0.9, 0.999, 0, 1e-8, false, false);
      parameter.gradient.zero_();
    }
    compare_logits();
  }

  std::filesystem::path checkpoint_;
  ClassifierOptions options_;
  Classifier<Bert> model_ = load();
  optim::Adam optimizer_{{.lr = 1e-2}};
  weights::TensorCopies saved_;
  random::Stream random_;
};

class PackedWeights : public testing::TestWithParam<Precision> {
 protected:
  void drive(bool freeze_encoder) const {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const ClassifierOptions options{
          .dropout = 0.1, .freeze_encoder = freeze_encoder, .seed = 3, .precision = GetParam()};
      Driver driver{checkpoint_.path(), options, seed};
      std::string done;
      for (int i = 0; i < 30 && !HasFailure(); ++i) done += driver.act() + ", ";
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ": " << done;
    }
  }

  tests::OneThread one_thread_;
  MadeCheckpoint checkpoint_;
};

TEST_P(PackedWeights, AreThoseOfTheLastStep) {
  Classifier<Bert> model{weights::WeightsFolder{checkpoint_.path()}, {.precision = GetParam()}};
  optim::Adam optimizer{{.lr = 1e-2}};
  const auto batch = small_batch(0);
  for (int step = 0; step < 3; ++step) {
    model.accumulate(batch, 1);
    (void)model.logits(batch);
    optimizer.step(model.parameters(), {});
    Classifier<Bert> copy{weights::WeightsFolder{checkpoint_.path()}, {.precision = GetParam()}};
    copy.load_state_dict(model.state_dict().views());
    EXPECT_EQ(model.logits(batch), copy.logits(batch)) << step;
  }
}

TEST_P(PackedWeights, FollowChangesInAnyOrder) {
  drive(/*freeze_encoder=*/false);
}

TEST_P(PackedWeights, FollowChangesOfAFrozenEncoderInAnyOrder) {
  drive(/*freeze_encoder=*/true);
}

INSTANTIATE_TEST_SUITE_P(Products, PackedWeights, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& test) { return std::string{name(test.param)}; });

}  // namespace
}  // namespace seqtrain::model
