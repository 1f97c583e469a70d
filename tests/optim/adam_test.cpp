#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/optim/adam.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::optim {
namespace {

static_assert(Optimizer<Adam> && Optimizer<AdamW>);

using Parameters = std::vector<tensor::Parameter>;

/// Fills a tensor with element(i), as tests/golden/optim.py does.
template <class Element>
void fill(at::Tensor& tensor, const Element& element) {
  auto* data = tensor.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    data[i] = static_cast<float>(element(static_cast<double>(i)));
  }
}

Parameters make_parameters() {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes{
      {"encoder.dense.weight", {3, 4}}, {"encoder.dense.bias", {4}}, {"out.LayerNorm.weight", {5}}};
  Parameters parameters;
  for (const auto& [name, shape] : shapes) {
    parameters.push_back({name, at::zeros(shape), at::zeros(shape)});
    const auto p = static_cast<double>(parameters.size() - 1);
    fill(parameters.back().value, [p](double i) { return std::sin(i + p); });
  }
  return parameters;
}

void set_gradients(Parameters& parameters, std::int64_t step) {
  const double t = 0.1 * static_cast<double>(step);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    fill(parameters[p].gradient, [=](double i) { return std::cos(t * (i + 1) + double(p)); });
  }
}

template <class O>
void run(O& optimizer, Parameters& parameters, std::int64_t from, std::int64_t to,
         double max_norm) {
  const Schedule schedule{.type = Schedule::Type::linear, .warmup_steps = 10};
  for (std::int64_t step = from; step < to; ++step) {
    set_gradients(parameters, step);
    optimizer.step(parameters,
                   {.lr_scale = schedule.lr_scale(step, 100), .max_grad_norm = max_norm});
  }
}

template <class O>
void compare(const json::Value& golden) {
  const auto betas = golden.at("betas").items();
  O optimizer{{.lr = 0.01,
               .beta1 = betas[0].number(),
               .beta2 = betas[1].number(),
               .eps = golden.at("eps").number(),
               .weight_decay = golden.at("weight_decay").number()}};
  auto parameters = make_parameters();
  const auto max_norm = golden.find("max_norm");
  run(optimizer, parameters, 0, 100,
      max_norm ? max_norm->number() : std::numeric_limits<double>::infinity());
  for (const auto& parameter : parameters) {
    const auto expected = golden.at("values").at(parameter.name).items();
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), parameter.value.numel());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(parameter.value.const_data_ptr<float>()[i], expected[i].number(), 1e-6)
          << parameter.name << " " << i;
    }
  }
}

TEST(Adam, EqualsTorchOver100Steps) {
  const auto document = json::Document::load(tests::golden() / "optim.json");
  std::size_t compared = 0;
  for (const auto& golden : document.root().at("adam").items()) {
    golden.at("name").string() == "adam" ? compare<Adam>(golden) : compare<AdamW>(golden);
    ++compared;
  }
  EXPECT_EQ(compared, 5U);
}

TEST(Adam, TakesAStepsMomentumForBeta1) {
  const auto after = [](double beta1, std::optional<double> momentum) {
    auto parameters = make_parameters();
    Adam optimizer{{.lr = 0.01, .beta1 = beta1}};
    for (std::int64_t step = 0; step < 5; ++step) {
      set_gradients(parameters, step);
      optimizer.step(parameters, {.momentum = momentum});
    }
    return parameters[0].value;
  };
  EXPECT_TRUE(after(0.9, 0.7).equal(after(0.7, {})));
  EXPECT_FALSE(after(0.9, 0.7).equal(after(0.9, {})));
}

TEST(Adam, DecaysWhatTheModelSaysOrElseByName) {
  const auto after = [](std::optional<tensor::Role> role, double weight_decay) {
    auto parameters = make_parameters();
    for (auto& parameter : parameters) parameter.role = role;
    set_gradients(parameters, 0);
    AdamW optimizer{{.lr = 0.01, .weight_decay = weight_decay}};
    optimizer.step(parameters, {});
    return parameters;
  };
  const auto none = after({}, 0);
  const auto by_name = after({}, 0.1);
  const auto all = after(tensor::Role::weight, 0.1);
  const auto off = after(tensor::Role::bias, 0.1);
  for (std::size_t p = 0; p < none.size(); ++p) {
    const bool is_weight = p == 0;
    EXPECT_EQ(by_name[p].value.equal(none[p].value), !is_weight) << none[p].name;
    EXPECT_FALSE(all[p].value.equal(none[p].value)) << none[p].name;
    EXPECT_TRUE(off[p].value.equal(none[p].value)) << none[p].name;
  }
}

TEST(Adam, LeavesGradientsZeroAndFrozenParametersAlone) {
  auto parameters = make_parameters();
  set_gradients(parameters, 0);
  const at::Tensor frozen = parameters[1].value.clone();
  parameters[1].gradient.reset();
  Adam optimizer{{.lr = 0.1, .weight_decay = 0.1}};
  optimizer.step(parameters, {});
  EXPECT_TRUE(parameters[1].value.equal(frozen));
  EXPECT_EQ(parameters[0].gradient.count_nonzero().item<std::int64_t>(), 0);
  EXPECT_EQ(optimizer.state().views().size(), 6U);
}

TEST(Adam, GoesOnExactlyFromItsState) {
  const double no_clip = std::numeric_limits<double>::infinity();
  auto straight = make_parameters();
  AdamW optimizer{{.lr = 0.01, .weight_decay = 0.1}};
  run(optimizer, straight, 0, 50, no_clip);
  auto resumed = make_parameters();
  for (std::size_t p = 0; p < resumed.size(); ++p) resumed[p].value.copy_(straight[p].value);
  AdamW other{{.lr = 0.01, .weight_decay = 0.1}};
  other.load_state(optimizer.state().views(), resumed);
  run(optimizer, straight, 50, 100, no_clip);
  run(other, resumed, 50, 100, no_clip);
  for (std::size_t p = 0; p < resumed.size(); ++p) {
    EXPECT_TRUE(resumed[p].value.equal(straight[p].value));
  }
}

TEST(Adam, RefusesStateThatDoesNotFit) {
  auto parameters = make_parameters();
  set_gradients(parameters, 0);
  Adam optimizer;
  optimizer.step(parameters, {});
  const tensor::StateDict dict = optimizer.state();
  const std::vector state(dict.views().begin(), dict.views().end());
  const auto throws = [&](const std::vector<weights::TensorView>& broken) {
    EXPECT_THROW(Adam{}.load_state(broken, parameters), InputError);
  };
  auto stray = state;
  stray.push_back(stray[0]);
  stray.back().name = "nobody.step";
  throws(stray);
  auto misshaped = state;
  misshaped[0].shape = {7};
  throws(misshaped);
  auto mistyped = state;
  mistyped[0].dtype = weights::DType::f64;
  throws(mistyped);
  throws(std::vector(state.begin() + 1, state.end()));
}

TEST(Adam, LeavesAllAsItIsWhereAGradientIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto parameters = make_parameters();
    AdamW optimizer{{.lr = 0.01, .weight_decay = 0.1}};
    run(optimizer, parameters, 0, 3, 1.0);
    const at::Tensor value = parameters[1].value.clone();
    const auto moment = weights::to_floats(optimizer.state().views()[0]);
    set_gradients(parameters, 3);
    parameters[1].gradient.view({-1})[0] = bad;
    Outcome outcome = optimizer.step(parameters, {});
    EXPECT_TRUE(outcome.known());
    EXPECT_EQ(outcome.problem(), "the gradient of " + parameters[1].name + " is not finite");
    EXPECT_TRUE(parameters[1].value.equal(value));
    EXPECT_EQ(weights::to_floats(optimizer.state().views()[0]), moment);
    EXPECT_EQ(parameters[1].gradient.count_nonzero().item<std::int64_t>(), 0);
  }
}

TEST(Adam, TellsTheNormOfTheGradientsBeforeTheyAreClipped) {
  for (const bool by_kernels : {true, false}) {
    auto parameters = make_parameters();
    if (!by_kernels) {
      for (auto& parameter : parameters) {
        parameter.value = parameter.value.to(at::kDouble);
        parameter.gradient = parameter.gradient.to(at::kDouble);
      }
    }
    parameters[0].gradient.view({-1})[2] = 3;
    parameters[2].gradient[1] = -4;
    Adam optimizer{{.lr = 0.1}};
    const Outcome outcome = optimizer.step(parameters, {.max_grad_norm = 1});
    EXPECT_NEAR(outcome.gradient_norm()(), 5, 1e-6) << by_kernels;
  }
}

TEST(Adam, KnowsNoNormWithoutGradients) {
  Adam optimizer{{.lr = 0.1}};
  EXPECT_EQ(optimizer.step({}, {}).problem(), "");
  EXPECT_TRUE(std::isnan(Outcome{}.gradient_norm()()));
}

TEST(Adam, TakesGradientsWhoseNormAloneIsBeyondAFloat) {
  auto parameters = make_parameters();
  set_gradients(parameters, 0);
  parameters[0].gradient.fill_(1.8e19F);
  Adam optimizer{{.lr = 0.1}};
  const at::Tensor before = parameters[0].value.clone();
  EXPECT_EQ(optimizer.step(parameters, {}).problem(), "");
  EXPECT_FALSE(parameters[0].value.equal(before));
}

/// Returns a table of 30 rows. Each step touches two of them; one of these was touched before.
Parameters make_table(bool tells_rows) {
  Parameters parameters{{"embeddings.weight", at::zeros({30, 20}), at::zeros({30, 20})}};
  fill(parameters[0].value, [](double i) { return std::sin(i); });
  if (tells_rows) parameters[0].touched = std::make_shared<tensor::RowSet>(30);
  return parameters;
}

void touch_rows(const tensor::Parameter& table, std::int64_t step) {
  for (const std::int64_t row : {step % 25, step % 3}) {
    table.gradient[row].add_(0.1 + 0.01 * static_cast<double>(step));
    if (table.touched) table.touched->insert(static_cast<std::size_t>(row));
  }
}

template <class O>
void expect_rows_change_nothing(const AdamOptions& options) {
  auto told = make_table(true);
  auto plain = make_table(false);
  O one{options};
  O other{options};
  for (std::int64_t step = 0; step < 40; ++step) {
    touch_rows(told[0], step);
    touch_rows(plain[0], step);
    one.step(told, {.max_grad_norm = 0.5});
    other.step(plain, {.max_grad_norm = 0.5});
    ASSERT_EQ(told[0].gradient.count_nonzero().item<std::int64_t>(), 0);
    told[0].touched->for_each_run([](std::size_t, std::size_t) { FAIL(); });
    if (step == 20) {  // continue from a saved state
      O resumed{options};
      resumed.load_state(one.state().views(), told);
      one = std::move(resumed);
    }
  }
  // The parts of the norm are added in another order, so bits may differ.
  EXPECT_TRUE(told[0].value.allclose(plain[0].value, 1e-6, 1e-7));
  EXPECT_TRUE(told[0].value[29].equal(make_table(false)[0].value[29]) ==
              (options.weight_decay == 0));
}

TEST(Adam, CountsItsChangesOfValues) {
  for (const auto type : {at::kFloat, at::kDouble}) {  // by kernels and by operators
    auto parameters = make_parameters();
    for (auto& parameter : parameters) {
      parameter.value = parameter.value.to(type);
      parameter.gradient = parameter.gradient.to(type);
    }
    parameters[1].gradient.reset();
    const auto before = tensor::changes_of(parameters[0].value);
    const auto frozen = tensor::changes_of(parameters[1].value);
    Adam optimizer;
    optimizer.step(parameters, {});
    EXPECT_GT(tensor::changes_of(parameters[0].value), before) << type;
    EXPECT_EQ(tensor::changes_of(parameters[1].value), frozen) << type;
  }
}

TEST(Adam, PacksRowsThatItHasChangedIfTheRestIsCurrent) {
  for (const bool by_bytes : {false, true}) {
    constexpr std::int64_t count = 96, width = 512;  // large enough for moments of bytes
    Parameters parameters{{"weight", at::ones({count, width}), at::ones({count, width})}};
    auto& parameter = parameters[0];
    std::mutex mutex;
    std::map<std::size_t, float> packed;  // the last number of these rows by the first one
    parameter.packed = std::make_shared<tensor::PackedCopy>(tensor::PackedCopy{
        32, [&](std::size_t row) {
          const std::lock_guard lock{mutex};
          const auto last = static_cast<std::int64_t>(row + 32) * width - 1;
          EXPECT_TRUE(packed.emplace(row, parameter.value.const_data_ptr<float>()[last]).second);
        }});
    Adam optimizer{{.lr = 0.5, .eight_bit = by_bytes}};
    const auto step = [&] {
      packed.clear();
      parameter.gradient.fill_(1);
      optimizer.step(parameters, {});
      return parameter.packed->changes == tensor::changes_of(parameter.value);
    };
    EXPECT_FALSE(step());  // nothing has been packed
    EXPECT_TRUE(packed.empty());
    parameter.packed->changes = tensor::changes_of(parameter.value);
    EXPECT_TRUE(step());
    const auto now = [&](std::int64_t row) {
      return parameter.value[row][width - 1].item<float>();
    };
    EXPECT_EQ(packed, (std::map<std::size_t, float>{{0, now(31)}, {32, now(63)}, {64, now(95)}}));
    parameter.value.mul_(2);
    EXPECT_FALSE(step());
    EXPECT_TRUE(packed.empty());
  }
}

TEST(Adam, LeavesOutRowsThatNeverHadAGradient) {
  for (const double weight_decay : {0.0, 0.1}) {
    expect_rows_change_nothing<Adam>({.lr = 0.01, .weight_decay = weight_decay});
    expect_rows_change_nothing<AdamW>({.lr = 0.01, .weight_decay = weight_decay});
  }
}

TEST(Adam, FindsRowsOfGradientsThatOperatorsHaveWrittenTo) {
  auto told = make_table(true);
  auto plain = make_table(false);
  Adam one{{.lr = 0.01}};
  Adam other{{.lr = 0.01}};
  for (std::int64_t step = 0; step < 5; ++step) {
    told[0].gradient.mutable_data_ptr<float>()[0] = 0.5F;
    told[0].touched->insert(0);
    plain[0].gradient[0][0] = 0.5F;
    for (const auto* parameters : {&told, &plain}) {
      if (step % 2 > 0) (*parameters)[0].gradient[20 + step].add_(0.25);
    }
    one.step(told, {});
    other.step(plain, {});
    EXPECT_EQ(told[0].gradient.count_nonzero().item<std::int64_t>(), 0) << step;
    EXPECT_TRUE(told[0].value.equal(plain[0].value)) << step;
  }
  EXPECT_TRUE(told[0].value[22].equal(make_table(false)[0].value[22]));
}

TEST(Adam, ForgetsTouchedRowsWithTheirGradientsWhereAStepIsNotTaken) {
  auto parameters = make_table(true);
  touch_rows(parameters[0], 1);
  parameters[0].gradient[1][0] = std::numeric_limits<float>::infinity();
  Adam optimizer;
  EXPECT_NE(optimizer.step(parameters, {}).problem(), "");
  EXPECT_EQ(parameters[0].gradient.count_nonzero().item<std::int64_t>(), 0);
  EXPECT_TRUE(parameters[0].value.equal(make_table(true)[0].value));
  parameters[0].touched->for_each_run([](std::size_t, std::size_t) { FAIL(); });
}

TEST(Adam, StepsByKernelsAsByOperators) {
  auto floats = make_parameters();
  auto doubles = make_parameters();  // torch updates these, not the kernels
  for (auto& parameter : doubles) {
    parameter.value = parameter.value.to(at::kDouble);
    parameter.gradient = parameter.gradient.to(at::kDouble);
  }
  AdamW kernels{{.lr = 0.01, .weight_decay = 0.1}};
  AdamW operators{{.lr = 0.01, .weight_decay = 0.1}};
  for (std::int64_t step = 0; step < 30; ++step) {
    set_gradients(floats, step);
    for (std::size_t p = 0; p < floats.size(); ++p) {
      doubles[p].gradient.copy_(floats[p].gradient);
    }
    const Step numbers{.lr_scale = 1 / (1.0 + double(step)), .max_grad_norm = 1};
    kernels.step(floats, numbers);
    operators.step(doubles, numbers);
  }
  for (std::size_t p = 0; p < floats.size(); ++p) {
    EXPECT_TRUE(floats[p].value.to(at::kDouble).allclose(doubles[p].value, 1e-5, 1e-6));
  }
}

TEST(Adam, RefusesOptionsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Adam{{.lr = -1}}, InputError);
  EXPECT_THROW(Adam{{.lr = nan}}, InputError);
  EXPECT_THROW(Adam{{.beta1 = 1}}, InputError);
  EXPECT_THROW(Adam{{.beta2 = -0.1}}, InputError);
  EXPECT_THROW(Adam{{.eps = nan}}, InputError);
  EXPECT_THROW(AdamW{{.weight_decay = -1}}, InputError);
}

TEST(Adam, ScalesTheLearningRateByTheParametersName) {
  const auto moved = [](AdamOptions options) {
    Parameters parameters = make_parameters();
    const Parameters before = make_parameters();
    Adam optimizer{std::move(options)};
    set_gradients(parameters, 1);
    optimizer.step(parameters, {});
    std::vector<double> moves;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      moves.push_back(parameters[i].value.sub(before[i].value).abs().max().item<double>());
    }
    return moves;
  };
  const auto plain = moved({.lr = 0.01});
  const auto scaled =
      moved({.lr = 0.01, .lr_factors = {{"encoder.dense.bias", 0.5}, {"other", 9}}});
  EXPECT_EQ(scaled[0], plain[0]);
  EXPECT_NEAR(scaled[1], plain[1] / 2, 1e-6);
  EXPECT_EQ(scaled[2], plain[2]);
  EXPECT_THROW((Adam{{.lr_factors = {{"a", -1}}}}), InputError);
}

}  // namespace
}  // namespace seqtrain::optim
