#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/recurrent_passes.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "support/awd_lstm_golden.hpp"

namespace seqtrain::model {
namespace {

const c10::Device cpu_device{c10::kCPU}, gpu_device{c10::kCUDA};

TEST(RecurrentPasses, AreByHandOnAProcessorUnlessAskedOtherwise) {
  EXPECT_EQ(RecurrentPasses{}.by_hand(cpu_device, false), Precision::fp32);
  EXPECT_EQ(RecurrentPasses{.precision = Precision::bf16}.by_hand(cpu_device, false),
            Precision::bf16);
  EXPECT_FALSE(RecurrentPasses{}.by_hand(gpu_device, false));
  EXPECT_FALSE(RecurrentPasses{}.by_hand(cpu_device, true));
  EXPECT_FALSE(RecurrentPasses{.autograd = true}.by_hand(cpu_device, false));
  EXPECT_FALSE(RecurrentPasses{.precision = Precision::automatic}.by_hand(cpu_device, true));
}

TEST(RecurrentPasses, RefuseAPrecisionThatTheyHaveNot) {
  EXPECT_THROW((void)RecurrentPasses{.precision = Precision::int8}.by_hand(cpu_device, false),
               InputError);
  EXPECT_THROW((void)RecurrentPasses{.precision = Precision::bf16}.by_hand(gpu_device, false),
               InputError);
  EXPECT_THROW((void)RecurrentPasses{.precision = Precision::bf16}.by_hand(cpu_device, true),
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

std::vector<at::Tensor> language_results(const RecurrentPasses& passes) {
  static const tests::AwdLstmGolden golden;
  return losses_and_gradients(
      LanguageModel{tests::awd_lstm_words,
                    {.shape = tests::awd_lstm_shape, .seed = 4, .passes = passes}},
      golden.language_batches(0));
}

std::vector<at::Tensor> classifier_results(const RecurrentPasses& passes) {
  static const tests::AwdLstmGolden golden;
  return losses_and_gradients(AwdLstmClassifier{tests::awd_lstm_words,
                                                {.labels = {"a", "b", "c"},
                                                 .shape = tests::awd_lstm_shape,
                                                 .head_hidden = 8,
                                                 .bptt = 5,
                                                 .seed = 4,
                                                 .passes = passes}},
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

TEST(RecurrentPasses, ComputeWhatOperatorsDoWithEqualDropout) {
  expect_close(language_results({}), language_results({.autograd = true}), 1e-4);
  expect_close(classifier_results({}), classifier_results({.autograd = true}), 1e-4);
}

TEST(RecurrentPasses, AreCloseToOperatorsInBf16) {
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

TEST(RecurrentPasses, HaveEqualBitsWithAnyNumberOfThreads) {
  expect_equal_bits(wide_language_results);
  expect_equal_bits(wide_classifier_results);
}

}  // namespace
}  // namespace seqtrain::model
