#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/explain.hpp>
#include <seqtrain/predict/zero_shot.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/threads.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/tensor_view.hpp>

#include "support/awd_lstm_golden.hpp"
#include "support/made_checkpoint.hpp"
#include "support/one_thread.hpp"
#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

using predict::Encoded;
using tests::MadeModel;

/// A made model with a head and a tokenizer of the words w0, w1, ….
class SavedModel {
 public:
  explicit SavedModel(const MadeModel& model = {})
      : SavedModel{load_classifier(tests::MadeCheckpoint{model}.path(), {.seed = 3})} {}

  explicit SavedModel(const AnyClassifier& model) {
    model.save_pretrained(path());
    std::string words = "[UNK]\n[PAD]\n[CLS]\n[SEP]\n[MASK]\n";
    std::string vocabulary = R"("[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4)";
    for (int i = 0; i < 115; ++i) {
      const std::string word = "w" + std::to_string(i);
      words += word + "\n";
      vocabulary += ", \"" + word + "\": " + std::to_string(5 + i);
    }
    tests::write_file(path() / "vocab.txt", words);
    tests::write_file(path() / "tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer"})");
    if (model.config().model_type != "modernbert") return;  // it reads tokenizer.json alone
    tests::write_file(path() / "tokenizer_config.json",
                      R"({"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]",
                          "unk_token": "[UNK]", "mask_token": "[MASK]"})");
    tests::write_file(
        path() / "tokenizer.json",
        R"({"added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": {)" +
            vocabulary + "}}}");
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  tests::TemporaryDirectory directory_;
};

/// Returns texts of 0 to 59 words, some of them pairs.
std::vector<Encoded> texts(const AnyPredictor& predictor, std::size_t count) {
  std::vector<Encoded> result;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    for (std::size_t word = 0; word < i * 23 % 60; ++word) {
      text += "w" + std::to_string((word * 7 + i) % 115) + " ";
    }
    result.push_back(i % 3 == 0 ? predictor.encode(text, "w5 w6") : predictor.encode(text));
  }
  return result;
}

void expect_same_bits_in_any_batch(const AnyPredictor& predictor) {
  const auto all = texts(predictor, 37);
  const auto expected = predictor.predict(all);
  ASSERT_EQ(expected.rows(), 37);
  for (const std::size_t size : {1, 2, 3, 8, 36}) {
    for (std::size_t begin = 0; begin < all.size(); begin += size) {
      const auto count = std::min(size, all.size() - begin);
      const auto part = predictor.predict(std::span{all}.subspan(begin, count));
      for (std::size_t row = 0; row < count; ++row) {
        const auto same = part.row(static_cast<Eigen::Index>(row)) ==
                          expected.row(static_cast<Eigen::Index>(begin + row));
        EXPECT_TRUE(same) << "text " << begin + row << " in batches of " << size;
      }
    }
  }
}

class EachFamily : public testing::TestWithParam<MadeModel> {};

TEST_P(EachFamily, ComputesTheSameBitsInAnyBatch) {
  const SavedModel saved{GetParam()};
  for (const auto precision : {Precision::fp32, Precision::bf16, Precision::int8}) {
    expect_same_bits_in_any_batch(AnyPredictor{saved.path(), {.precision = precision}});
  }
}

TEST_P(EachFamily, ComputesTheSameBitsWithAnyNumberOfThreads) {
  const SavedModel saved{GetParam()};
  for (const auto precision : {Precision::fp32, Precision::bf16, Precision::int8}) {
    const AnyPredictor predictor{saved.path(), {.precision = precision}};
    const auto all = texts(predictor, 9);
    tensor::set_threads(1);
    const auto expected = predictor.predict(all);
    // Operators compute a convolution in fp32, and MKL's bits may depend on the number of threads.
    const bool by_operators =
        precision == Precision::fp32 && GetParam().more.find("conv_") != std::string::npos;
    for (const int threads : by_operators ? std::vector{1} : std::vector{2, 3, 5}) {
      tensor::set_threads(threads);
      EXPECT_EQ(predictor.predict(all), expected) << threads;
      for (Eigen::Index row = 0; row < expected.rows(); ++row) {
        const std::span one{&all[static_cast<std::size_t>(row)], 1};
        EXPECT_EQ(predictor.predict(one), expected.row(row)) << threads;
      }
    }
  }
  tensor::set_threads(static_cast<int>(std::thread::hardware_concurrency()));
}

TEST_P(EachFamily, IsNearFp32InOtherPrecisions) {
  const SavedModel saved{GetParam()};
  const AnyPredictor exact{saved.path()};
  const auto all = texts(exact, 20);
  const auto expected = exact.predict(all);
  const AnyPredictor narrow{saved.path(), {.precision = Precision::bf16}};
  const AnyPredictor quantized{saved.path(), {.precision = Precision::int8}};
  EXPECT_EQ(narrow.precision(), Precision::bf16);
  EXPECT_EQ(quantized.precision(), Precision::int8);
  EXPECT_LT(quantized.maps_in_bf16(), narrow.maps_in_bf16() / 2);
  const auto gap = [&](const AnyPredictor& predictor) {
    return (predictor.predict(all) - expected).cwiseAbs().maxCoeff();
  };
  EXPECT_LT(gap(narrow), 0.05 * expected.cwiseAbs().maxCoeff());
  EXPECT_LT(gap(quantized), 0.1 * expected.cwiseAbs().maxCoeff());
  EXPECT_GT(gap(narrow), 0);
  EXPECT_GT(gap(quantized), 0);
}

INSTANTIATE_TEST_SUITE_P(
    AnyPredictor, EachFamily,
    testing::Values(
        MadeModel{}, MadeModel{.family = "roberta"},
        MadeModel{.family = "electra", .hidden = 128, .more = R"("embedding_size": 64)"},
        MadeModel{.family = "albert", .layers = 3, .more = R"("embedding_size": 192)"},
        MadeModel{.family = "mpnet", .hidden = 128},
        MadeModel{.family = "modernbert", .layers = 4, .more = R"("local_attention": 10)"},
        MadeModel{.family = "modernbert",
                  .layers = 3,
                  .hidden = 128,
                  .inner = 64,
                  .more = R"("local_attention": 24, "classifier_pooling": "mean")"},
        MadeModel{.family = "deberta-v2",
                  .hidden = 128,
                  .more = R"("relative_attention": true, "pos_att_type": "p2c|c2p",
                             "position_buckets": 16, "share_att_key": true,
                             "norm_rel_ebd": "layer_norm")"},
        MadeModel{.family = "deberta-v2",
                  .more = R"("relative_attention": true, "pos_att_type": ["c2p"])"},
        MadeModel{.family = "deberta-v2",
                  .layers = 3,
                  .hidden = 128,
                  .inner = 64,
                  .more = R"("relative_attention": true, "pos_att_type": "p2c|c2p",
                             "conv_kernel_size": 3, "conv_act": "gelu")"},
        MadeModel{.family = "deberta-v2", .more = R"("conv_kernel_size": 7, "conv_act": "relu")"},
        MadeModel{.family = "deberta-v2",
                  .more = R"("conv_kernel_size": 5, "conv_act": "gelu_new")"},
        MadeModel{.family = "ernie"}, MadeModel{.family = "data2vec-text"},
        MadeModel{.family = "rembert", .hidden = 128, .more = R"("input_embedding_size": 64)"}),
    [](const auto& test) {
      return std::to_string(test.index) + test.param.family.substr(0, test.param.family.find('-'));
    });

/// Returns a made model in which a channel is far larger than the others after some normalization.
SavedModel model_with_outliers() {
  auto model = load_classifier(tests::MadeCheckpoint{}.path(), {.seed = 3});
  for (const auto& parameter : model.parameters()) {
    if (!parameter.name.ends_with("layer.0.output.LayerNorm.weight")) continue;
    parameter.value.mutable_data_ptr<float>()[5] = 100;
  }
  return SavedModel{model};
}

TEST(AnyPredictor, KeepsLinearMapsInBf16ThatReadOutliers) {
  EXPECT_EQ((AnyPredictor{SavedModel{}.path(), {.precision = Precision::int8}}.maps_in_bf16()), 0U);
  const SavedModel saved = model_with_outliers();
  const AnyPredictor exact{saved.path()};
  const AnyPredictor predictor{saved.path(), {.precision = Precision::int8}};
  EXPECT_GT(predictor.maps_in_bf16(), 0U);
  EXPECT_LT(predictor.maps_in_bf16(), 8U);
  const auto all = texts(exact, 20);
  const auto expected = exact.predict(all);
  const float gap = (predictor.predict(all) - expected).cwiseAbs().maxCoeff();
  EXPECT_LT(gap, 0.1 * expected.cwiseAbs().maxCoeff());  // 0.17 if all were in int8
  expect_same_bits_in_any_batch(predictor);
}

TEST(AnyPredictor, RefusesInt8WithoutKernels) {
  const auto convolution = [](std::int64_t layers, const char* more) {
    return MadeModel{.family = "deberta-v2",
                     .layers = layers,
                     .more = std::string{R"("conv_kernel_size": 3, "conv_act": )"} + more};
  };
  for (const MadeModel& made :
       {MadeModel{.hidden = 40, .inner = 72}, convolution(2, R"("tanh")"),
        convolution(1, R"("gelu")"), convolution(2, R"("gelu", "conv_groups": 2)")}) {
    const SavedModel saved{made};
    EXPECT_NE(tests::problem_of([&] {
                const AnyPredictor predictor{saved.path(), {.precision = Precision::int8}};
              }).find("int8 is computed on a processor"),
              std::string::npos)
        << made.more;
    EXPECT_NO_THROW(AnyPredictor(saved.path(), {.precision = Precision::bf16}));
  }
}

TEST(AnyPredictor, ComputesTheSameBitsInAnyBatchWithoutKernels) {
  const SavedModel saved{{.hidden = 40, .inner = 72}};
  const AnyPredictor predictor{saved.path()};
  expect_same_bits_in_any_batch(predictor);
}

TEST(AnyPredictor, PredictsByDecoders) {
  for (const char* family : {"llama", "qwen3", "gemma2"}) {
    SCOPED_TRACE(family);
    const SavedModel saved{
        MadeModel{.family = family, .more = R"("num_key_value_heads": 1, "head_dim": 16)"}};
    const AnyPredictor exact{saved.path()};
    expect_same_bits_in_any_batch(exact);
    const auto all = texts(exact, 20);
    const auto expected = exact.predict(all);
    const AnyPredictor narrow{saved.path(), {.precision = Precision::bf16}};
    const double gap = static_cast<double>((narrow.predict(all) - expected).cwiseAbs().maxCoeff());
    EXPECT_LT(gap, 0.05 * static_cast<double>(expected.cwiseAbs().maxCoeff()));
    EXPECT_GT(gap, 0);
    EXPECT_NE(tests::problem_of([&] {
                const AnyPredictor predictor{saved.path(), {.precision = Precision::int8}};
              }).find("int8 is computed on a processor"),
              std::string::npos);
  }
}

TEST(AnyPredictor, AnswersAsAnEvaluationDuringTraining) {
  const SavedModel saved;
  const AnyPredictor predictor{saved.path()};
  const auto all = texts(predictor, 9);
  auto classifier = load_classifier(saved.path());
  EXPECT_EQ(predictor.predict(all), classifier.logits(predict::to_batch(all, 1)));
}

TEST(AnyPredictor, TellsLabelsScoresAndLogits) {
  const SavedModel saved;
  const AnyPredictor predictor{saved.path()};
  EXPECT_EQ(predictor.labels(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(predictor.problem_type(), ProblemType::single_label);
  EXPECT_EQ(predictor.max_length(), 80U);
  const std::vector<Text> given{{.text = "w1 w2"}, {.text = "w3", .pair = "w4"}};
  const auto predictions = predictor(given);
  ASSERT_EQ(predictions.size(), 2U);
  const std::vector<Encoded> encoded{predictor.encode("w1 w2"), predictor.encode("w3", "w4")};
  const auto logits = predictor.predict(encoded);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::span<const float> row{logits.data() + 3 * i, 3};
    const auto expected = predict::interpret(row, predictor.task());
    EXPECT_EQ(predictions[i].labels, expected.labels);
    EXPECT_EQ(predictions[i].scores, expected.scores);
    EXPECT_EQ(predictions[i].logits, expected.logits);
  }
  EXPECT_EQ(predictor.predict({}).rows(), 0);
}

TEST(AnyPredictor, TellsTheWindowThatDecidedWhateverElseIsInTheBatch) {
  // The second has no hand-written backend, so each text is predicted alone.
  for (const auto& made : {MadeModel{}, MadeModel{.hidden = 40, .inner = 72}}) {
    const SavedModel saved{made};
    tests::write_file(saved.path() / "tokenizer_config.json",
                      R"({"tokenizer_class": "BertTokenizer", "model_max_length": 12,
                          "long_texts": "windows", "window_stride": 3})");
    const AnyPredictor predictor{saved.path()};
    std::vector<std::string> words(9);
    std::vector<Text> given;
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::size_t word = 0; word < i * 5; ++word) {
        words[i] += "w" + std::to_string((word * 7 + i) % 115) + " ";
      }
      given.push_back({.text = words[i]});
    }
    const auto all = predictor(given);
    bool later = false;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto& window = all[i].window;
      EXPECT_EQ(window.count, i < 3 ? 1U : (i * 5 - 3 + 6) / 7) << i;
      EXPECT_EQ(window.begin, window.index * 7);
      later = later || window.index > 0;
      const auto alone = predictor(std::span{&given[i], 1})[0];
      EXPECT_EQ(alone.window.index, window.index) << i;
      EXPECT_EQ(alone.window.end, window.end) << i;
    }
    EXPECT_TRUE(later);
  }
}

TEST(AnyPredictor, PoolsTheLogitsOfWindowsToTheBitsOfTheWholeText) {
  for (const std::string pooling : {"", R"(, "window_pooling": "max")"}) {
    const SavedModel saved;
    tests::write_file(saved.path() / "tokenizer_config.json",
                      R"({"tokenizer_class": "BertTokenizer", "model_max_length": 12,
                          "long_texts": "windows", "window_stride": 3)" +
                          pooling + "}");
    const AnyPredictor predictor{saved.path()};
    ASSERT_TRUE(predictor.windows());
    EXPECT_EQ(predictor.windows()->length, 12U);
    std::string words;
    for (int word = 0; word < 50; ++word) words += "w" + std::to_string(word * 7 % 115) + " ";
    for (const auto& whole : {predictor.encode(words), predictor.encode("w1 w2", words),
                              predictor.encode(words, words + words)}) {
      std::vector<Encoded> windows;
      for (auto& window :
           text::windows_of(whole.input_ids, whole.first_segment, *predictor.windows())) {
        windows.push_back({std::move(window.input_ids), window.second});
      }
      ASSERT_GT(windows.size(), 5U);
      std::vector<text::DecidingWindow> deciding;
      const auto expected = predictor.predict(std::span{&whole, 1}, &deciding);
      const auto pooled = predictor.pooled(predictor.predict(windows));
      EXPECT_TRUE(std::ranges::equal(pooled.logits, expected.row(0)));
      EXPECT_EQ(pooled.deciding, deciding[0].index);
    }
  }
}

TEST(AnyPredictor, UsesTheCalibrationInTheConfiguration) {
  const SavedModel saved;
  const std::vector<Text> given{{.text = "w1 w2"}};
  const auto before = AnyPredictor{saved.path()}(given)[0];
  const auto config = saved.path() / "config.json";
  const auto text = tests::read_file(config);
  tests::write_file(config, text.substr(0, text.rfind('}')) +
                                R"(, "seqtrain": {"temperature": 4, "thresholds": []}})");
  const AnyPredictor predictor{saved.path()};
  const auto after = predictor(given)[0];
  EXPECT_EQ(predictor.task().temperature, 4);
  EXPECT_EQ(after.logits, before.logits);
  EXPECT_EQ(after.labels, before.labels);
  EXPECT_LT(*std::ranges::max_element(after.scores), *std::ranges::max_element(before.scores));
  EXPECT_EQ(after.scores, predict::scores(before.logits, ProblemType::single_label, 4));
}

TEST(AnyPredictor, IsSharedByThreads) {
  const tests::OneThread one_thread;
  const SavedModel saved;
  const AnyPredictor predictor{saved.path()};
  const auto expected = predictor.predict(texts(predictor, 12));
  std::vector<int> right(3);
  {
    std::vector<std::jthread> threads;
    for (int& count : right) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) count += predictor.predict(texts(predictor, 12)) == expected;
      });
    }
  }
  EXPECT_EQ(right, (std::vector<int>{10, 10, 10}));
}

TEST(AnyPredictor, RefusesATextThatIsTooLong) {
  const SavedModel saved;
  const AnyPredictor predictor{saved.path()};
  std::string text;
  for (int i = 0; i < 100; ++i) text += "w1 ";
  EXPECT_EQ(predictor.encode(text).input_ids.size(), 80U);
  const std::vector<Encoded> whole{predictor.encode(text, {}, 1000)};
  EXPECT_EQ(whole[0].input_ids.size(), 102U);
  EXPECT_NE(tests::problem_of([&] {
              static_cast<void>(predictor.predict(whole));
            }).find("width 102 is above the model's 80 positions"),
            std::string::npos);
}

TEST(AnyPredictor, FindsTheModelOfARun) {
  const SavedModel saved;
  const tests::TemporaryDirectory run;
  std::filesystem::copy(saved.path(), run / "model");
  tests::write_file(run / "model.pth", "not read");
  const AnyPredictor predictor{run.path()};
  const auto all = texts(predictor, 3);
  EXPECT_EQ(predictor.predict(all), AnyPredictor{saved.path()}.predict(all));
}

TEST(AnyPredictor, TakesTheTokenizerOfAnAdaptersBase) {
  const SavedModel base;
  tests::TemporaryDirectory adapter;
  load_classifier(base.path(), {.lora = LoRA{.rank = 2}}).save_pretrained(adapter.path());
  const AnyPredictor predictor{adapter.path()};
  const auto ids = [](const AnyPredictor& of) { return of.encode("w1 w2", {}).input_ids; };
  EXPECT_EQ(ids(predictor), ids(AnyPredictor{base.path()}));
  std::filesystem::rename(base.path() / "vocab.txt", base.path() / "elsewhere");
  auto config = weights::read_adapter_config(adapter.path());
  config.base = "/nowhere/base";
  tests::write_file(adapter / "adapter_config.json", weights::adapter_config_text(config));
  const auto problem = tests::problem_of([&] { AnyPredictor{adapter.path()}; });
  EXPECT_NE(problem.find("base_model_name_or_path: names '/nowhere/base'"), std::string::npos)
      << problem;
}

/// Saves an adapter of a made base with numbers that follow from `seed`, and returns its folder.
class MadeAdapter {
 public:
  MadeAdapter(const SavedModel& base, std::uint64_t seed, const LoRA& lora, std::size_t labels) {
    ClassifierOptions options{.ignore_mismatched_sizes = true, .lora = lora, .seed = seed};
    for (std::size_t i = 0; i < labels; ++i) options.labels.push_back("l" + std::to_string(i));
    if (labels == 1) options.problem_type = ProblemType::regression;
    const auto model = load_classifier(base.path(), options);
    for (const auto& parameter : model.parameters()) {
      const at::NoGradGuard no_gradients;
      const auto generator = tensor::make_generator(++seed * 7919, c10::Device{c10::kCPU});
      const bool is_factor = parameter.name.find(".lora_") != std::string::npos;
      parameter.value.normal_(0, is_factor ? 0.05 : 0.2, generator);
    }
    model.save_pretrained(directory_.path());
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  tests::TemporaryDirectory directory_;
};

/// A base and three adapters of other ranks, maps and labels.
struct BaseWithAdapters {
  SavedModel base;
  MadeAdapter one{base, 1, {.rank = 2}, 3};
  MadeAdapter two{base, 2, {.rank = 17, .targets = {"query", "output.dense"}}, 5};
  MadeAdapter three{base, 3, {.rank = 5, .rank_stabilised = true, .targets = {"attention"}}, 1};

  [[nodiscard]] std::vector<std::filesystem::path> adapters() const {
    return {one.path(), two.path(), three.path()};
  }
};

/// Returns the logits that a predictor gives to its own texts, each alone.
metrics::Logits alone(const AnyPredictor& predictor, const std::vector<Encoded>& texts) {
  const auto width = static_cast<Eigen::Index>(predictor.labels().size());
  metrics::Logits all{static_cast<Eigen::Index>(texts.size()), width};
  for (Eigen::Index i = 0; i < all.rows(); ++i) {
    all.row(i) = predictor.predict({&texts[static_cast<std::size_t>(i)], 1}).leftCols(width);
  }
  return all;
}

TEST(AnyPredictor, AnswersTextsOfSeveralAdaptersInOneBatch) {
  const BaseWithAdapters saved;
  for (const auto precision : {Precision::bf16, Precision::int8}) {
    const PredictorOptions options{.precision = precision};
    AnyPredictor base{saved.base.path(), options};
    std::vector<AnyPredictor> all{base};
    for (const auto& adapter : saved.adapters()) all.push_back(base.with_adapter(adapter));
    std::vector<Encoded> mixed;
    std::vector<std::vector<Encoded>> own;
    for (const AnyPredictor& each : all) own.push_back(texts(each, 9));
    for (std::size_t i = 0; i < 9; ++i) {
      for (const auto& some : own) mixed.push_back(some[i]);
    }
    const auto logits = all[2].predict(mixed);
    for (std::size_t of = 0; of < all.size(); ++of) {
      AnyPredictor again{saved.base.path(), options};
      const AnyPredictor only = of == 0 ? again : again.with_adapter(saved.adapters()[of - 1]);
      const auto expected = alone(only, texts(only, 9));
      const AnyPredictor merged{of == 0 ? saved.base.path() : saved.adapters()[of - 1], options};
      const auto close = alone(merged, texts(merged, 9));
      EXPECT_EQ(only.labels(), merged.labels());
      for (Eigen::Index i = 0; i < 9; ++i) {
        const auto row =
            logits.row(4 * i + static_cast<Eigen::Index>(of)).leftCols(expected.cols()).eval();
        EXPECT_TRUE(row == expected.row(i)) << name(precision) << " model " << of << " text " << i;
        const float gap = (row - close.row(i)).cwiseAbs().maxCoeff();
        EXPECT_LE(gap, 0.1F * close.cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST_P(EachFamily, TakesAdaptersUnlessDistancesHaveVectors) {
  const SavedModel saved{GetParam()};
  const MadeAdapter adapter{saved, 1, {.rank = 3}, 3};
  const PredictorOptions options{.precision = Precision::int8};
  AnyPredictor base{saved.path(), options}, merged{adapter.path(), options};
  if (GetParam().more.find("relative_attention") != std::string::npos) {
    EXPECT_NE(tests::problem_of([&] {
                (void)base.with_adapter(adapter.path());
              }).find("does not compute several adapters"),
              std::string::npos);
    return;
  }
  const AnyPredictor adapted = base.with_adapter(adapter.path());
  const auto of_base = texts(base, 9), own = texts(adapted, 9);
  std::vector<Encoded> mixed{of_base.begin(), of_base.end()};
  mixed.insert(mixed.end(), own.begin(), own.end());
  const auto logits = adapted.predict(mixed).bottomRows(9).eval();
  const auto close = alone(merged, texts(merged, 9));
  EXPECT_EQ(logits, alone(adapted, own));
  const float step = 127.0F / static_cast<float>(kernels::int8_ranges().weights.most);
  EXPECT_LE((logits - close).cwiseAbs().maxCoeff(), 0.1F * step * close.cwiseAbs().maxCoeff());
}

TEST(AnyPredictor, AdaptersHaveLabelsAndTasksOfTheirOwn) {
  const BaseWithAdapters saved;
  AnyPredictor base{saved.base.path(), {.precision = Precision::bf16}};
  const auto two = base.with_adapter(saved.two.path());
  EXPECT_EQ(two.labels(), (std::vector<std::string>{"l0", "l1", "l2", "l3", "l4"}));
  EXPECT_EQ(two.problem_type(), ProblemType::single_label);
  EXPECT_EQ(base.with_adapter(saved.three.path()).problem_type(), ProblemType::regression);
  std::filesystem::remove(saved.three.path() / "config.json");  // as PEFT leaves it
  EXPECT_EQ(base.with_adapter(saved.three.path()).problem_type(), ProblemType::regression);
  EXPECT_EQ(AnyPredictor{saved.three.path()}.problem_type(), ProblemType::regression);
}

TEST(AnyPredictor, AnAdapterHasItsOwnLengthButNoOtherWayToReadLongTexts) {
  const BaseWithAdapters saved;
  AnyPredictor base{saved.base.path(), {.precision = Precision::bf16}};
  const auto directory = saved.adapters().front();
  for (const auto& file : text::tokenizer_files(saved.base.path())) {
    std::filesystem::copy_file(file, directory / file.filename(),
                               std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_NO_THROW((void)base.with_adapter(directory));
  tests::write_file(directory / "tokenizer_config.json", R"({"model_max_length": 7})");
  EXPECT_EQ(base.with_adapter(directory).usual_length(), 7u);
  EXPECT_EQ(base.usual_length(), AnyPredictor{saved.base.path()}.usual_length());
  tests::write_file(directory / "tokenizer_config.json", R"({"truncation_side": "left"})");
  EXPECT_NE(tests::problem_of([&] {
              (void)base.with_adapter(directory);
            }).find("reads long texts differently from its base"),
            std::string::npos);
}

TEST(AnyPredictor, RefusesTextsOfAdaptersThatItLacks) {
  const BaseWithAdapters saved;
  AnyPredictor base{saved.base.path(), {.precision = Precision::bf16}};
  const AnyPredictor one = base.with_adapter(saved.adapters().front());
  auto encoded = texts(one, 1);
  for (const std::int32_t adapter : {-1, 2}) {
    encoded[0].adapter = adapter;
    EXPECT_THROW((void)one.predict(encoded), InputError) << adapter;
  }
}

TEST(AnyPredictor, ABaseOfAdaptersNeedsNoHead) {
  const BaseWithAdapters saved;
  const tests::MadeCheckpoint bare;
  std::filesystem::copy(saved.base.path() / "vocab.txt", bare.path() / "vocab.txt");
  AnyPredictor base{bare.path(), {.precision = Precision::bf16, .needs_head = false}};
  EXPECT_FALSE(base.has_head());
  EXPECT_TRUE(base.with_adapter(saved.one.path()).has_head());
}

TEST(AnyPredictor, RefusesAdaptersThatDoNotFit) {
  const BaseWithAdapters saved;
  const auto problem = [](const SavedModel& base, const std::filesystem::path& adapter) {
    AnyPredictor predictor{base.path(), {.precision = Precision::bf16}};
    return tests::problem_of([&] { static_cast<void>(predictor.with_adapter(adapter)); });
  };
  EXPECT_NE(problem(saved.base, saved.base.path()).find("is no adapter"), std::string::npos);
  const SavedModel wider{{.inner = 192}};
  EXPECT_NE(problem(wider, saved.one.path()).find("has another shape in the base; name the base"),
            std::string::npos);
  std::filesystem::remove(saved.one.path() / "config.json");
  const SavedModel larger{{.hidden = 128}}, longer{{.layers = 3}}, shorter{{.layers = 1}};
  EXPECT_NE(problem(larger, saved.one.path()).find("does not fit bert.encoder.layer.0"),
            std::string::npos);
  // It has no adapters of the last layer.
  EXPECT_EQ(problem(longer, saved.one.path()), "nothing was thrown");
  EXPECT_NE(problem(shorter, saved.one.path()).find("has no place in the model"),
            std::string::npos);
  AnyPredictor exact{saved.base.path()};
  EXPECT_NE(tests::problem_of([&] {
              static_cast<void>(exact.with_adapter(saved.two.path()));
            }).find("does not compute several adapters; serve it alone by --model"),
            std::string::npos);
}

TEST(AnyPredictor, RefusesASharedAdapterWhoseRankIsAboveALayersSize) {
  const BaseWithAdapters saved;
  auto config = weights::Adapter{saved.one.path()}.config();
  config.lora.rank = 65;
  const std::vector<float> numbers(std::size_t{64} * 65, 0.5F);
  const auto bytes = std::as_bytes(std::span{numbers});
  const std::string map = "bert.encoder.layer.0.attention.self.query.";
  weights::write_adapter(saved.one.path(), config,
                         std::vector<weights::TensorView>{
                             {.name = map + "lora_A.weight", .shape = {65, 64}, .bytes = bytes},
                             {.name = map + "lora_B.weight", .shape = {64, 65}, .bytes = bytes}});
  AnyPredictor base{saved.base.path(), {.precision = Precision::bf16}};
  const auto problem =
      tests::problem_of([&] { static_cast<void>(base.with_adapter(saved.one.path())); });
  EXPECT_NE(problem.find(map + "lora_A.weight: has a rank above the layer's sizes; serve this "
                               "adapter alone, by --model"),
            std::string::npos)
      << problem;
}

TEST(AnyPredictor, SaysWhatItCannotLoad) {
  const auto problem = [](const std::filesystem::path& directory) {
    return tests::problem_of([&] { const AnyPredictor predictor{directory}; });
  };
  EXPECT_NE(problem("/does/not/exist").find("no such directory"), std::string::npos);
  const SavedModel saved;
  const tests::MadeCheckpoint fresh;
  std::filesystem::copy(saved.path() / "vocab.txt", fresh.path() / "vocab.txt");
  EXPECT_NE(problem(fresh.path()).find("fine-tune it first: seqtrain train --model"),
            std::string::npos);
  tests::write_file(saved.path() / "subwords.model", "");
  EXPECT_NE(problem(saved.path()).find("subwords.model: is empty"), std::string::npos);
}

TEST(AnyPredictor, ClassifiesByCandidateLabelsAsTransformersDoes) {
  const AnyPredictor model{tests::golden() / "zero_shot"};
  const auto document = json::Document::load(tests::golden() / "zero_shot/expected.json");
  const auto texts = document.root().at("texts").items();
  for (const auto& expected : document.root().at("cases").items()) {
    predict::CandidateLabels candidates;
    for (const auto& label : expected.at("labels").items()) {
      candidates.labels.emplace_back(label.string());
    }
    const auto multi_label = expected.find("multi_label");
    candidates.multi_label = multi_label && multi_label->boolean();
    if (const auto hypothesis = expected.find("template")) {
      candidates.hypothesis = hypothesis->string();
    }
    const predict::ZeroShot predictor{model, candidates, 3};
    std::vector<predict::Encoded> encoded;
    for (const auto& text : texts) {
      encoded.push_back(predictor.encode(text.string(), {}, model.usual_length()));
    }
    const auto logits = predictor.predict(encoded);
    const auto rows = expected.at("scores").items();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto scores = predict::scores(
          {logits.row(static_cast<Eigen::Index>(i)).data(), candidates.labels.size()},
          predictor.task());
      for (std::size_t label = 0; label < scores.size(); ++label) {
        EXPECT_NEAR(scores[label], rows[i].items()[label].number(), 1e-6) << i << ' ' << label;
      }
    }
  }
}

/// Compares the shares of words with expected ones.
void expect_shares(const predict::Explanation& found, const json::Value& expected,
                   std::string_view shares) {
  const auto words = expected.at("words").items(), values = expected.at(shares).items();
  ASSERT_EQ(found.words.size(), words.size());
  EXPECT_NEAR(found.baseline, expected.at("baseline").number(), 2e-5);
  EXPECT_NEAR(found.logit, expected.at("logit").number(), 2e-5);
  EXPECT_LT(found.gap, 1e-5);
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(found.words[i].begin, static_cast<std::size_t>(words[i].at("start").integer()));
    EXPECT_EQ(found.words[i].end, static_cast<std::size_t>(words[i].at("end").integer()));
    EXPECT_EQ(found.words[i].of_second, words[i].at("of_second").integer() == 1);
    EXPECT_NEAR(found.words[i].share, values[i].number(), 5e-5) << shares << ' ' << i;
  }
}

TEST(AnyPredictor, ExplainsAnswersWithTheShapleyValuesOfCaptum) {
  const AnyPredictor model{tests::golden() / "zero_shot"};
  const auto document = json::Document::load(tests::golden() / "word_shares.json");
  for (const auto& expected : document.root().at("cases").items()) {
    SCOPED_TRACE(expected.at("text").string());
    Text text{.text = expected.at("text").string()};
    if (const auto pair = expected.find("pair")) text.pair = pair->string();
    const auto given = expected.find("max_length");
    const std::size_t length = given ? static_cast<std::size_t>(given->integer()) : 32;
    const std::vector<predict::Encoded> encoded{model.encode(text.text, text.pair, length)};
    const auto logits = model.predict(encoded);
    const auto prediction = predict::interpret({logits.data(), 3}, model.task());
    const auto explain = [&](std::size_t passes) {
      return predict::explain(model, text.text, text.pair, prediction, length, {.passes = passes});
    };
    const auto words = expected.at("words").items().size();
    if (expected.find("all_sets")) {
      const auto all = explain(200);
      ASSERT_EQ(all.size(), 1U);
      EXPECT_TRUE(all[0].exact);
      expect_shares(all[0], expected, "all_sets");
    }
    if (words < 3) continue;  // all sets are as few as those of two orders
    expect_shares(explain(2 * words)[0], expected, "two_orders");
  }
}

/// Writes the files of sentence-transformers beside a model.
void write_modules(const std::filesystem::path& folder, std::string_view pooling, bool normalizes) {
  const std::string type = R"(", "type": "sentence_transformers.models.)";
  const std::string more = R"(, {"path": "2_Normalize)" + type + "Normalize\"}";
  tests::write_file(folder / "modules.json", R"([{"path": ")" + type +
                                                 R"(Transformer"}, {"path": "1_Pooling)" + type +
                                                 "Pooling\"}" + (normalizes ? more : "") + "]");
  std::filesystem::create_directories(folder / "1_Pooling");
  tests::write_file(folder / "1_Pooling/config.json",
                    R"({"pooling_mode": ")" + std::string{pooling} + "\"}");
}

TEST(AnyPredictor, EmbedsTextsAsSentenceTransformersDoes) {
  const auto document = json::Document::load(tests::golden() / "embeddings.json");
  const auto texts = document.root().at("texts").items();
  for (const auto& expected : document.root().at("cases").items()) {
    const tests::TemporaryDirectory folder;
    std::filesystem::copy(tests::golden() / "zero_shot", folder.path(),
                          std::filesystem::copy_options::recursive);
    const bool normalizes = expected.at("normalizes").boolean();
    const auto pooling = expected.at("pooling").string();
    // Without these files an encoder takes the mean.
    if (normalizes || pooling != "mean") write_modules(folder.path(), pooling, normalizes);
    const AnyPredictor predictor{
        folder.path(),
        {.embedding = predict::EmbeddingOptions{
             .size = static_cast<std::size_t>(expected.at("size").integer()),
             .normalize = expected.at("normalize").boolean()}}};
    EXPECT_EQ(predictor.task().pooling, pooling);
    EXPECT_TRUE(predictor.labels().empty());
    std::vector<predict::Encoded> encoded;
    for (const auto& text : texts) encoded.push_back(predictor.encode(text.string()));
    const auto embeddings = predictor.predict(encoded);
    const auto rows = expected.at("embeddings").items();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto numbers = rows[i].items();
      ASSERT_EQ(static_cast<std::size_t>(embeddings.cols()), numbers.size());
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        EXPECT_NEAR(embeddings(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)),
                    numbers[k].number(), 5e-6);
      }
    }
  }
}

TEST(AnyPredictor, RefusesEmbeddingsThatItDoesNotHave) {
  const tests::TemporaryDirectory folder;
  std::filesystem::copy(tests::golden() / "zero_shot", folder.path(),
                        std::filesystem::copy_options::recursive);
  const auto problem = [&](std::size_t size) {
    return tests::problem_of([&] {
      const AnyPredictor predictor{folder.path(),
                                   {.embedding = predict::EmbeddingOptions{.size = size}}};
    });
  };
  EXPECT_NE(problem(33).find("its embeddings have 32 numbers, fewer than 33"), std::string::npos);
  write_modules(folder.path(), "max", false);
  EXPECT_NE(problem(8).find("the pooling 'max' is not supported"), std::string::npos);
}

/// Returns what is thrown if a folder is loaded to embed texts.
std::string problem_of_embedding(const std::filesystem::path& folder) {
  return tests::problem_of([&] {
    const AnyPredictor predictor{folder, {.embedding = predict::EmbeddingOptions{}}};
  });
}

TEST(AnyPredictor, RefusesTheFirstTokenOfADecoder) {
  const SavedModel saved{
      MadeModel{.family = "llama", .more = R"("num_key_value_heads": 1, "head_dim": 16)"}};
  write_modules(saved.path(), "mean", false);
  EXPECT_EQ(problem_of_embedding(saved.path()), "nothing was thrown");
  write_modules(saved.path(), "cls", false);
  EXPECT_EQ(problem_of_embedding(saved.path()),
            (saved.path() / "modules.json").string() +
                ": takes the first token, which sees no other token in a decoder; use a Pooling by "
                "the mean or lasttoken");
}

TEST(AnyPredictor, RefusesTheLastTokenOfAnEncoder) {
  const SavedModel saved;
  write_modules(saved.path(), "lasttoken", false);
  EXPECT_EQ(problem_of_embedding(saved.path()),
            "modules.json: the pooling lasttoken is not supported for a bert; decoders have it; "
            "use a Pooling by the mean or cls");
}

TEST(AnyPredictor, EmbedsByTheLastTokenAsSentenceTransformersDoes) {
  const auto folder = tests::golden() / "last_token";
  const AnyPredictor predictor{folder, {.embedding = predict::EmbeddingOptions{}}};
  EXPECT_EQ(predictor.task().pooling, "lasttoken");
  EXPECT_EQ(predictor.describe_embeddings(), "Embeddings: lasttoken, normalized, as " +
                                                 (folder / "modules.json").string() + " says");
  const auto document = json::Document::load(folder / "expected.json");
  const auto texts = document.root().at("texts").items();
  const auto rows = document.root().at("embeddings").items();
  std::vector<predict::Encoded> encoded;
  for (const auto& text : texts) encoded.push_back(predictor.encode(text.string()));
  const auto embeddings = predictor.predict(encoded);
  ASSERT_EQ(static_cast<std::size_t>(embeddings.rows()), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto numbers = rows[i].items();
    ASSERT_EQ(static_cast<std::size_t>(embeddings.cols()), numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      EXPECT_NEAR(embeddings(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)),
                  numbers[k].number(), 1e-5)
          << texts[i].string();
    }
  }
}

TEST(AnyPredictor, ScoresPairsByADecoderAsCrossEncoderDoes) {
  const auto folder = tests::golden() / "reranker";
  const AnyPredictor predictor{folder};
  const auto document = json::Document::load(folder / "expected.json");
  const auto query = document.root().at("query").string();
  const auto scores = document.root().at("scores").items();
  const auto logits = document.root().at("logits").items();
  const auto documents = document.root().at("documents").items();
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::vector<Text> one{{query, documents[i].string()}};
    const auto prediction = predictor(one).front();
    EXPECT_NEAR(prediction.logits.at(0), logits[i].number(), 1e-5) << i;
    EXPECT_NEAR(1 / (1 + std::exp(-double{prediction.logits.at(0)})), scores[i].number(), 1e-6)
        << i;
  }
}

/// The settings of an embedding are the adapter's if it has a modules.json, else its base's.
TEST(AnyPredictor, TakesAllSettingsOfAnAdaptersEmbeddingsFromOnePlace) {
  const SavedModel base;
  tests::TemporaryDirectory adapter;
  load_classifier(base.path(), {.lora = LoRA{.rank = 2}}).save_pretrained(adapter.path());
  const auto prompts = [](const std::filesystem::path& folder, const std::string& prompt) {
    tests::write_file(folder / "config_sentence_transformers.json",
                      R"({"prompts": {"p": ")" + prompt + R"("}, "default_prompt_name": "p"})");
  };
  write_modules(base.path(), "cls", true);
  tests::write_file(base.path() / "sentence_bert_config.json", R"({"max_seq_length": 7})");
  prompts(base.path(), "w1 ");
  prompts(adapter.path(), "w2 w2 ");  // does not count without a modules.json
  const auto load = [&] {
    return AnyPredictor{adapter.path(), {.embedding = predict::EmbeddingOptions{}}};
  };
  const auto check = [](const AnyPredictor& predictor, const std::string& pooling,
                        std::size_t length, std::size_t ids, const std::string& described) {
    EXPECT_EQ(predictor.task().pooling, pooling);
    EXPECT_EQ(predictor.usual_length(), length);
    EXPECT_EQ(predictor.encode("w3").input_ids.size(), ids);
    EXPECT_EQ(predictor.describe_embeddings(), described);
  };
  const auto says = [](const tests::TemporaryDirectory& folder) {
    return ", as " + (folder.path() / "modules.json").string() + " says";
  };
  const std::string of_base = "Embeddings: cls, normalized, 7 ids, prompt w1 , as " +
                              (base.path() / "modules.json").string() + " says";
  check(load(), "cls", 7, 4, of_base);
  std::filesystem::copy(base.path() / "vocab.txt", adapter / "vocab.txt");
  check(load(), "cls", 7, 4, of_base);  // also with a tokenizer of its own
  write_modules(adapter.path(), "mean", false);
  check(load(), "mean", AnyPredictor{base.path()}.usual_length(), 5,
        "Embeddings: mean, prompt w2 w2 " + says(adapter));
}

/// A model of setfit whose encoder is that of golden/sentence.
class LeftBySetfit {
 public:
  explicit LeftBySetfit(bool normalizes) {
    const std::string flag = normalizes ? "true" : "false";
    std::filesystem::copy(tests::golden() / "sentence", path(),
                          std::filesystem::copy_options::recursive);
    tests::write_file(path() / "modules.json", R"([
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
    tests::write_file(
        path() / "config_setfit.json",
        R"({"labels": ["no", "yes", "perhaps"], "normalize_embeddings": )" + flag + "}");
    std::filesystem::copy(
        tests::golden() / "setfit" / (normalizes ? "model_True.pkl" : "model_False.pkl"),
        path() / "model_head.pkl");
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  tests::TemporaryDirectory directory_;
};

TEST(AnyPredictor, AnswersAsSetfit) {
  const auto answers = json::Document::load(tests::golden() / "setfit" / "answers.json");
  for (const bool normalizes : {false, true}) {
    const std::string which = normalizes ? "True" : "False";
    const AnyPredictor predictor{LeftBySetfit{normalizes}.path()};
    EXPECT_EQ(predictor.labels(), (std::vector<std::string>{"no", "yes", "perhaps"}));
    const auto texts = answers.root().at("texts").items();
    const auto labels = answers.root().at("labels_" + which).items();
    const auto rows = answers.root().at("probabilities_" + which).items();
    ASSERT_EQ(rows.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::vector<Text> one{{texts[i].string()}};
      const auto prediction = predictor(one).front();
      const auto expected = rows[i].items();
      ASSERT_EQ(prediction.scores.size(), expected.size());
      for (std::size_t label = 0; label < expected.size(); ++label) {
        EXPECT_NEAR(prediction.scores[label], expected[label].number(), 1e-6) << i;
      }
      EXPECT_EQ(predictor.labels().at(prediction.labels.at(0)), labels[i].string());
    }
  }
}

/// A head is one for predictions: a training begins with a new one.
TEST(LoadClassifier, TrainsTheEncoderOfAModelOfSetfitWithANewHead) {
  const auto model = load_classifier(LeftBySetfit{false}.path());
  EXPECT_FALSE(model.load_report().fresh.empty());
  EXPECT_FALSE(model.config().sentence);
}

TEST(AnyPredictor, RefusesAModelOfSetfitWithAnotherHead) {
  const LeftBySetfit left{false};
  std::filesystem::copy_file(tests::golden() / "setfit" / "refused_svc.pkl",
                             left.path() / "model_head.pkl",
                             std::filesystem::copy_options::overwrite_existing);
  const auto problem = tests::problem_of([&] { const AnyPredictor predictor{left.path()}; });
  EXPECT_NE(problem.find("'sklearn.svm._classes.SVC' is not supported; fit"), problem.npos);
}

TEST(AnyPredictor, RecommendsNoFlagOfTrainingForOtherSizes) {
  const SavedModel saved;
  auto config = tests::read_file(saved.path() / "config.json");
  const std::string from = "\"2\": \"c\"";
  const auto place = config.find(from);
  ASSERT_NE(place, config.npos) << config;
  config.replace(place, from.size(), from + ", \"3\": \"d\"");
  tests::write_file(saved.path() / "config.json", config);
  const auto problem = tests::problem_of([&] { const AnyPredictor predictor{saved.path()}; });
  EXPECT_TRUE(problem.ends_with("; take the config.json that was saved with these weights"))
      << problem;
}

/// Files as `languages` writes them, with weights that PyTorch has trained.
class LeftByLanguages {
 public:
  explicit LeftByLanguages(const std::string& performance) {
    std::filesystem::copy(tests::awd_lstm_golden() / "classifier.pth", path() / "model.pth");
    std::string words;
    for (const auto mark : text::Mark::all) words.append(mark).append("\n");
    for (std::int64_t i = 9; i < tests::awd_lstm_words; ++i) {
      words += "w" + std::to_string(i) + "\n";
    }
    tests::write_file(path() / "vocabulary.txt", words);
    tests::write_file(path() / "performance.json", performance);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  tests::TemporaryDirectory directory_;
};

TEST(AnyPredictor, LoadsWhatLanguagesLeavesWithUlmfit) {
  const tests::OneThread one_thread;
  const LeftByLanguages left{R"({"labels": {"no": {}, "maybe": {}, "yes": {}}})"};
  const AnyPredictor predictor{left.path()};
  EXPECT_EQ(predictor.labels(), (std::vector<std::string>{"no", "maybe", "yes"}));
  EXPECT_EQ(predictor.max_length(), 512U);
  const std::vector<Encoded> all{predictor.encode("w10 w11 W12"), predictor.encode("w39")};
  EXPECT_EQ(all[1].input_ids, (std::vector<std::int32_t>{2, 39}));
  AwdLstmClassifier classifier{
      tests::awd_lstm_words,
      {.labels = predictor.labels(), .shape = tests::awd_lstm_shape, .head_hidden = 10}};
  tests::load_all(classifier, weights::FastaiFile{left.path() / "model.pth"});
  const auto expected = classifier.logits(predict::to_batch(all, 1));
  EXPECT_EQ(predictor.predict(all), expected);
  const AnyPredictor narrow{left.path(), {.precision = Precision::bf16}};
  EXPECT_EQ(narrow.precision(), Precision::bf16);
  const float gap = (narrow.predict(all) - expected).cwiseAbs().maxCoeff();
  EXPECT_LT(gap, 0.05 * expected.cwiseAbs().maxCoeff());
  EXPECT_GT(gap, 0);
  EXPECT_NE(tests::problem_of([&] {
              const AnyPredictor none{left.path(), {.precision = Precision::int8}};
            }).find("a recurrent model has no int8 here; use fp32, bf16 or auto"),
            std::string::npos);
}

TEST(AnyPredictor, LoadsAModelAsItsDescriptionSays) {
  const tests::OneThread one_thread;
  const LeftByLanguages left{"{}"};
  std::filesystem::rename(left.path() / "model.pth", left.path() / "fastai_model.pth");
  const auto describe = [&](const std::string& labels) {
    tests::write_file(left.path() / "description.json",
                      R"({"model": "fastai_model.pth", "labels": )" + labels +
                          R"(, "problem_type": "multi_label_classification",)"
                          R"( "max_length": 3, "backwards": true,)"
                          R"( "seqtrain": {"thresholds": [0.9, 0.1, 0]}})");
  };
  describe(R"(["a", "b", "c"])");
  const AnyPredictor predictor{left.path()};
  EXPECT_EQ(predictor.labels(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(predictor.problem_type(), ProblemType::multi_label);
  EXPECT_EQ(predictor.max_length(), 3U);
  EXPECT_EQ(predictor.task().thresholds, (std::vector<double>{0.9, 0.1, 0}));
  EXPECT_EQ(predictor.encode("w10 w11 w12").input_ids, (std::vector<std::int32_t>{11, 10, 2}));
  describe(R"(["a", "b"])");
  EXPECT_NE(tests::problem_of([&] {
              const AnyPredictor other{left.path()};
            }).find("has 2 labels, the model 3"),
            std::string::npos);
}

TEST(AnyPredictor, RefusesLabelsThatAreNotTheModels) {
  const LeftByLanguages left{R"({"labels": {"no": {}, "yes": {}}})"};
  EXPECT_NE(tests::problem_of([&] {
              const AnyPredictor predictor{left.path()};
            }).find("has 2 labels, the model 3"),
            std::string::npos);
  std::filesystem::remove(left.path() / "performance.json");
  EXPECT_EQ(AnyPredictor{left.path()}.labels(),
            (std::vector<std::string>{"LABEL_0", "LABEL_1", "LABEL_2"}));
}

TEST(AnyPredictor, ReadsTextsAsTheFilesOfASentenceEncoderSay) {
  const tests::TemporaryDirectory copy;
  std::filesystem::copy(tests::golden() / "sentence", copy.path(),
                        std::filesystem::copy_options::recursive);
  const AnyPredictor plain{copy.path()};
  tests::write_file(copy / "config_sentence_transformers.json",
                    R"({"prompts": {"q": "the children "}, "default_prompt_name": "q"})");
  tests::write_file(copy / "sentence_bert_config.json",
                    R"({"max_seq_length": 9, "do_lower_case": true})");
  const AnyPredictor changed{copy.path()};
  EXPECT_EQ(plain.usual_length(), 24U);
  EXPECT_EQ(changed.usual_length(), 9U);
  EXPECT_EQ(changed.encode("RAN under the BRIDGE").input_ids,
            plain.encode("the children ran under the bridge").input_ids);
}

}  // namespace
}  // namespace seqtrain::model
