#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "support/awd_lstm_golden.hpp"
#include "support/one_thread.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::model {
namespace {

const c10::Device host_device{c10::kCPU};

AwdLstm make_lstm(const AwdLstmDropout& dropout, std::int64_t words = 30) {
  FreshParameters parameters{3, host_device};
  return {parameters, "0.", words, 1, tests::awd_lstm_shape, dropout};
}

at::Tensor some_ids(std::int64_t rows, std::int64_t width, std::int64_t words = 30) {
  at::Tensor ids = at::empty({rows, width}, at::kInt);
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    ids.mutable_data_ptr<std::int32_t>()[i] = static_cast<std::int32_t>((7 * i + 2) % words);
  }
  return ids;
}

at::Tensor run_lstm(const AwdLstm& model, const at::Tensor& ids, Dropout dropout) {
  RecurrentState state = model.zero_state(ids.size(0));
  return model(ids, state, dropout);
}

double greatest_difference(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b).abs().max().item<double>();
}

/// Share of zeros; expects all other elements to be `kept`.
double share_of_zeros(const at::Tensor& x, double kept) {
  const at::Tensor zero = x.eq(0);
  EXPECT_LT(x.sub(kept).abs().masked_fill(zero, 0).max().item<double>(), 1e-5);
  return zero.to(at::kDouble).mean().item<double>();
}

TEST(AwdLstm, HasFastaisNamesAndShapes) {
  FreshParameters parameters{3, host_device};
  const AwdLstm model{parameters, "0.", 30, 1, tests::awd_lstm_shape, {}};
  std::vector<std::string> names;
  for (const auto& parameter : parameters.parameters()) names.push_back(parameter.name);
  ASSERT_EQ(names.size(), 13U);
  EXPECT_EQ(names[0], "0.encoder.weight");
  EXPECT_EQ(names[1], "0.rnns.0.weight_hh_l0_raw");
  EXPECT_EQ(names[2], "0.rnns.0.module.weight_ih_l0");
  EXPECT_EQ(names[12], "0.rnns.2.module.bias_hh_l0");
  EXPECT_EQ(parameters.parameters()[1].value.sizes(), (at::IntArrayRef{64, 16}));
  EXPECT_EQ(parameters.parameters()[9].value.sizes(), (at::IntArrayRef{48, 12}));
  EXPECT_EQ(model.groups().size(), 4U);
}

TEST(AwdLstm, CarriesItsStateFromChunkToChunk) {
  const tests::OneThread one_thread;
  const AwdLstm model = make_lstm(tests::no_dropout);
  const at::Tensor ids = some_ids(3, 10);
  const at::Tensor whole = run_lstm(model, ids, {});
  RecurrentState state = model.zero_state(3);
  Dropout off;
  const at::Tensor first = model(ids.narrow(1, 0, 4), state, off);
  const at::Tensor second = model(ids.narrow(1, 4, 6), state, off);
  EXPECT_LT(greatest_difference(first, whole.narrow(1, 0, 4)), 1e-6);
  EXPECT_LT(greatest_difference(second, whole.narrow(1, 4, 6)), 1e-6);
  EXPECT_FALSE(state.layers[2].h.requires_grad());
}

TEST(AwdLstm, DrawsDropoutFromTheSeedAlone) {
  const tests::OneThread one_thread;
  const AwdLstm model = make_lstm({});
  const at::Tensor ids = some_ids(3, 10);
  EXPECT_TRUE(run_lstm(model, ids, Dropout{5, host_device})
                  .equal(run_lstm(model, ids, Dropout{5, host_device})));
  EXPECT_FALSE(run_lstm(model, ids, Dropout{5, host_device})
                   .equal(run_lstm(model, ids, Dropout{6, host_device})));
  EXPECT_TRUE(run_lstm(model, ids, {})
                  .equal(run_lstm(make_lstm(tests::no_dropout), ids, Dropout{5, host_device})));
}

TEST(AwdLstm, SharesAMaskOverTheWidthOfARow) {
  Dropout dropout{1, host_device};
  const at::Tensor x = AwdLstm::shared_over_time(at::ones({40, 7, 500}), 0.3, dropout);
  EXPECT_NEAR(share_of_zeros(x, 1 / 0.7), 0.3, 0.02);
  for (std::int64_t i = 1; i < 7; ++i) EXPECT_TRUE(x.select(1, i).equal(x.select(1, 0)));
  EXPECT_FALSE(x.select(0, 0).equal(x.select(0, 1)));
}

/// The gradient of the sum of what one dropout lets through, for a weight of the model.
at::Tensor gradient_of(const AwdLstmDropout& dropout, std::size_t parameter, std::uint64_t seed) {
  const tests::OneThread one_thread;
  FreshParameters parameters{3, host_device};
  const AwdLstm model{parameters, "0.", 30, 1, tests::awd_lstm_shape, dropout};
  run_lstm(model, some_ids(6, 20), Dropout{seed, host_device}).sum().backward();
  return parameters.parameters()[parameter].gradient;
}

TEST(AwdLstm, LeavesElementsOfTheHiddenWeightsOutForAWholeBatch) {
  AwdLstmDropout dropout = tests::no_dropout;
  dropout.weight = 0.4;
  const double without =
      gradient_of(tests::no_dropout, 1, 1).eq(0).to(at::kDouble).mean().item<double>();
  EXPECT_EQ(without, 0);
  const at::Tensor gradient = gradient_of(dropout, 1, 1);  // zero where no step used the element
  EXPECT_NEAR(gradient.eq(0).to(at::kDouble).mean().item<double>(), 0.4, 0.05);
  EXPECT_EQ(gradient_of(dropout, 2, 1).eq(0).to(at::kDouble).mean().item<double>(), 0);
}

TEST(AwdLstm, LeavesWordsOutWhereverTheyStand) {
  AwdLstmDropout dropout = tests::no_dropout;
  dropout.embedding = 0.5;
  std::int64_t left_out = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor gradient = gradient_of(dropout, 0, seed);  // [30 words, embedding]
    const at::Tensor zero_rows = gradient.eq(0).all(1);
    EXPECT_TRUE(zero_rows.equal(gradient.eq(0).any(1)));  // a word as a whole, or not at all
    EXPECT_TRUE(zero_rows[1].item<bool>());               // padding, which never learns
    left_out += zero_rows.sum().item<std::int64_t>() - 1;
  }
  EXPECT_NEAR(static_cast<double>(left_out) / (20 * 29), 0.5, 0.08);
}

TEST(AwdLstm, RefusesSizesAndRatesOutOfRange) {
  EXPECT_THROW(AwdLstmShape{.hidden = 0}.validate(), InputError);
  EXPECT_THROW(AwdLstmShape{.layers = -1}.validate(), InputError);
  EXPECT_THROW(AwdLstmDropout{.weight = 1}.validate(), InputError);
  EXPECT_THROW(AwdLstmDropout{}.scaled(-1).validate(), InputError);
  EXPECT_DOUBLE_EQ(AwdLstmDropout{}.scaled(0.5).input, 0.125);
}

const c10::Device cpu_device{c10::kCPU}, gpu_device{c10::kCUDA};

TEST(RecurrentBackend, AreByHandOnAProcessorUnlessAskedOtherwise) {
  EXPECT_EQ(RecurrentBackend{}.by_hand(cpu_device, false), Precision::fp32);
  EXPECT_EQ(RecurrentBackend{.precision = Precision::bf16}.by_hand(cpu_device, false),
            Precision::bf16);
  EXPECT_FALSE(RecurrentBackend{}.by_hand(gpu_device, false));
  EXPECT_FALSE(RecurrentBackend{}.by_hand(cpu_device, true));
  EXPECT_FALSE(RecurrentBackend{.autograd = true}.by_hand(cpu_device, false));
  EXPECT_FALSE(RecurrentBackend{.precision = Precision::automatic}.by_hand(cpu_device, true));
}

TEST(RecurrentBackend, RefuseAPrecisionThatTheyHaveNot) {
  EXPECT_THROW((void)RecurrentBackend{.precision = Precision::int8}.by_hand(cpu_device, false),
               InputError);
  EXPECT_THROW((void)RecurrentBackend{.precision = Precision::bf16}.by_hand(gpu_device, false),
               InputError);
  EXPECT_THROW((void)RecurrentBackend{.precision = Precision::bf16}.by_hand(cpu_device, true),
               InputError);
}

/// The losses of batches with dropout, then the gradients.
template <class Model, class Batch>
std::vector<at::Tensor> losses_and_gradients(Model model, const std::vector<Batch>& batches) {
  std::vector<at::Tensor> results;
  for (const Batch& batch : batches) {
    const auto loss = static_cast<double>(model.accumulate(batch, 0.5));
    results.push_back(at::empty({}, at::kDouble).fill_(loss));
  }
  for (const auto& parameter : model.parameters()) results.push_back(parameter.gradient.clone());
  return results;
}

std::vector<at::Tensor> language_results(const RecurrentBackend& backend) {
  static const tests::AwdLstmGolden golden;
  return losses_and_gradients(
      LanguageModel{tests::awd_lstm_words,
                    {.shape = tests::awd_lstm_shape, .seed = 4, .backend = backend}},
      golden.language_batches(0));
}

std::vector<at::Tensor> classifier_results(const RecurrentBackend& backend) {
  static const tests::AwdLstmGolden golden;
  return losses_and_gradients(AwdLstmClassifier{tests::awd_lstm_words,
                                                {.labels = {"a", "b", "c"},
                                                 .shape = tests::awd_lstm_shape,
                                                 .head_hidden = 8,
                                                 .bptt = 5,
                                                 .seed = 4,
                                                 .backend = backend}},
                              golden.classifier_batches());
}

void expect_close(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& expected,
                  double share) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double size = expected[i].norm().item<double>();
    EXPECT_LE(got[i].sub(expected[i]).norm().item<double>(), share * size + 1e-7) << i;
  }
}

TEST(RecurrentBackend, ComputeWhatOperatorsDoWithEqualDropout) {
  expect_close(language_results({}), language_results({.autograd = true}), 1e-4);
  expect_close(classifier_results({}), classifier_results({.autograd = true}), 1e-4);
}

TEST(RecurrentBackend, AreCloseToOperatorsInBf16) {
  expect_close(language_results({.precision = Precision::bf16}),
               language_results({.autograd = true}), 3e-2);
}

/// Large enough for torch's operators to share their work between threads.
constexpr AwdLstmShape wide_shape{.embedding = 48, .hidden = 96, .layers = 2};

std::vector<at::Tensor> wide_language_results() {
  data::LanguageBatch batch{.rows = 16, .width = 40};
  for (std::int32_t i = 0; i < 16 * 40; ++i) {
    batch.input_ids.push_back(2 + i * 7 % 600);
    batch.labels.push_back(2 + (i + 1) * 7 % 600);
  }
  return losses_and_gradients(LanguageModel{700, {.shape = wide_shape, .seed = 4}},
                              std::vector{batch});
}

std::vector<at::Tensor> wide_classifier_results() {
  data::Batch batch;
  batch.rows = 16;
  batch.width = 40;
  batch.token_type_ids.resize(16 * 40);
  for (std::int32_t i = 0; i < 16 * 40; ++i) batch.input_ids.push_back(2 + i * 7 % 600);
  for (std::int32_t row = 0; row < 16; ++row) {
    batch.lengths.push_back(40 - row);
    batch.labels.push_back(row % 2);
    batch.row_ids.push_back(row);
  }
  return losses_and_gradients(
      AwdLstmClassifier{700, {.labels = {"a", "b"}, .shape = wide_shape, .bptt = 30, .seed = 4}},
      std::vector{batch});
}

template <class Results>
void expect_equal_bits(const Results& results) {
  const int before = tensor::threads();
  tensor::set_threads(1);
  const std::vector<at::Tensor> expected = results();
  for (const int threads : {2, 3}) {
    tensor::set_threads(threads);
    const std::vector<at::Tensor> got = results();
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i].equal(expected[i])) << threads << " " << i;
    }
  }
  tensor::set_threads(before);
}

TEST(RecurrentBackend, HaveEqualBitsWithAnyNumberOfThreads) {
  expect_equal_bits(wide_language_results);
  expect_equal_bits(wide_classifier_results);
}

template <class Element>
at::Tensor made(at::IntArrayRef shape, const Element& element) {
  at::Tensor tensor = at::empty(shape, at::kDouble);
  auto* const numbers = tensor.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers[i] = element(static_cast<double>(i));
  return tensor;
}

void expect_near(const at::Tensor& found, const json::Value& expected) {
  const at::Tensor flat = found.detach().contiguous();
  const auto numbers = expected.items();
  ASSERT_EQ(static_cast<std::size_t>(flat.numel()), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(flat.const_data_ptr<double>()[i], numbers[i].number(), 1e-12) << i;
  }
}

TEST(Qrnn, EqualsFastaisLayersAndTheirGradients) {
  const auto document = json::Document::load(tests::golden() / "qrnn.json");
  const auto golden = document.root();
  std::vector<std::int64_t> sizes;
  for (const auto& size : golden.at("sizes").items()) sizes.push_back(size.integer());
  const std::int64_t rows = golden.at("rows").integer();
  std::vector<at::Tensor> parameters;  // weight and bias of each layer
  std::vector<RecurrentState::Layer> states;
  const auto add = [&](at::IntArrayRef shape) {
    const auto p = static_cast<double>(parameters.size());
    parameters.push_back(made(shape, [p](double i) { return std::sin(i + p) / 3; }));
    parameters.back().set_requires_grad(true);
  };
  for (std::size_t i = 0; i < 2; ++i) {
    add({3 * sizes[i + 1], (i == 0 ? 2 : 1) * sizes[i]});
    add({3 * sizes[i + 1]});
    states.push_back({at::zeros({rows, sizes[i + 1]}, at::kDouble),
                      at::zeros({rows, i == 0 ? sizes[0] : 1}, at::kDouble)});
  }
  at::Tensor loss = at::zeros({}, at::kDouble);
  for (std::size_t b = 0; b < 2; ++b) {
    at::Tensor x = made({rows, golden.at("widths").items()[b].integer(), sizes[0]},
                        [b](double i) { return std::cos(i + static_cast<double>(b)); });
    for (std::size_t i = 0; i < 2; ++i) {
      x = qrnn(x, states[i], parameters[2 * i], parameters[2 * i + 1]);
    }
    expect_near(x, golden.at("outputs").items()[b]);
    loss = loss.add(x.mul(made(x.sizes(), [](double i) { return std::cos(3 * i); })).sum());
  }
  loss.backward();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    expect_near(parameters[i].grad(), golden.at("gradients").items()[i]);
  }
}

}  // namespace
}  // namespace seqtrain::model
