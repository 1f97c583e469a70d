#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/pretrained_words.hpp>
#include <seqtrain/weights/fastai.hpp>
#include <seqtrain/weights/tensor_view.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

#include "support/awd_lstm_golden.hpp"
#include "support/one_thread.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model::pretrained {
namespace {

model::LanguageModel make_language_model(std::uint64_t seed) {
  return model::LanguageModel{
      tests::awd_lstm_words,
      {.shape = tests::awd_lstm_shape, .dropout = tests::no_dropout, .seed = seed}};
}

TEST(RearrangedRows, ComeFromTheirPlacesOrAreTheMean) {
  const std::vector<std::string> known{"a", "b", "c"};
  EXPECT_EQ(places_of({"c", "x", "a"}, known), (std::vector<std::int64_t>{2, -1, 0}));
  const std::vector<float> numbers{1, 2, 3, 4, 5, 9};
  const weights::TensorView matrix{
      .name = "m", .shape = {3, 2}, .bytes = std::as_bytes(std::span{numbers})};
  EXPECT_EQ(rearranged_rows(matrix, {2, -1, 0}), (std::vector<float>{5, 9, 3, 5, 1, 2}));
  const weights::TensorView vector{
      .name = "v", .shape = {6}, .bytes = std::as_bytes(std::span{numbers})};
  EXPECT_EQ(rearranged_rows(vector, {-1, 5}), (std::vector<float>{4, 9}));
}

TEST(PretrainedWords, CopiesRowsOfSharedWordsAndTakesTheMeanElsewhere) {
  const weights::FastaiFile file{tests::awd_lstm_golden() / "language.pth"};
  const auto old_words = weights::read_pickled_words(tests::awd_lstm_golden() / "words.pkl");
  const std::vector<std::string> words{"xxunk", "xxpad", "new", "word39", "word3"};
  model::LanguageModel model{5, {.shape = tests::awd_lstm_shape}};
  load(model, words, file, old_words);
  const auto rows = weights::to_floats(file.at("0.encoder.weight"));
  const at::Tensor embedding = model.encoder().embedding();
  double mean = 0;
  for (std::size_t i = 0; i < 40; ++i) mean += rows[i * 12 + 4] / 40;
  EXPECT_EQ(embedding[0][4].item<float>(), rows[4]);
  EXPECT_NEAR(embedding[2][4].item<double>(), mean, 1e-6);
  EXPECT_EQ(embedding[3][4].item<float>(), rows[39 * 12 + 4]);
  EXPECT_EQ(embedding[4][4].item<float>(), rows[3 * 12 + 4]);
  const auto biases = weights::to_floats(file.at("1.decoder.bias"));
  EXPECT_EQ(model.parameters().back().value[3].item<float>(), biases[39]);
  EXPECT_EQ(weights::to_floats(model.state_dict().views()[1]),
            weights::to_floats(file.at("0.rnns.0.weight_hh_l0_raw")));
}

TEST(PretrainedWords, NamesBothSizesWhereTheyDoNotFit) {
  const weights::FastaiFile file{tests::awd_lstm_golden() / "language.pth"};
  auto words = weights::read_pickled_words(tests::awd_lstm_golden() / "words.pkl");
  const auto problem = [&](model::LanguageModel model, const std::vector<std::string>& of_file) {
    return tests::problem_of([&] { load(model, words, file, of_file); });
  };
  model::LanguageModel wider{40, {.shape = {.embedding = 12, .hidden = 20, .layers = 3}}};
  const std::string place = file.path() + ": ";
  EXPECT_EQ(problem(std::move(wider), words),
            place + "the size of its layers is 16, the model's 20; give --hidden 16");
  model::LanguageModel broader{40, {.shape = {.embedding = 20, .hidden = 16, .layers = 3}}};
  EXPECT_EQ(problem(std::move(broader), words),
            place + "the size of its embeddings is 12, the model's 20; give --embedding 12");
  const std::vector<std::string> fewer{words.begin(), words.end() - 1};
  EXPECT_NE(problem(make_language_model(1), fewer).find("has 40 rows, the vocabulary 39 words"),
            std::string::npos);
  model::LanguageModel deeper{40, {.shape = {.embedding = 12, .hidden = 16, .layers = 4}}};
  EXPECT_NE(problem(std::move(deeper), words).find("the number of its layers is 3, the model's 4"),
            std::string::npos);
  model::LanguageModel other{40,
                             {.shape = {.embedding = 12, .hidden = 16, .layers = 3, .qrnn = true}}};
  EXPECT_NE(problem(std::move(other), words).find("has layers of an LSTM"), std::string::npos);
  words.pop_back();
  EXPECT_NE(
      problem(make_language_model(1), words).find("has 39 words, the model's embedding 40 rows"),
      std::string::npos);
}

/// fastai's models have no bias if their configuration says `"out_bias": false`.
TEST(PretrainedWords, ADecoderWithoutABiasGetsZeros) {
  const tests::TemporaryDirectory directory;
  const weights::FastaiFile whole{tests::awd_lstm_golden() / "language.pth"};
  const auto words = weights::read_pickled_words(tests::awd_lstm_golden() / "words.pkl");
  std::vector<weights::TensorView> tensors;
  auto model = make_language_model(1);
  for (const auto& parameter : model.parameters()) {
    if (parameter.name == "1.decoder.bias") continue;
    tensors.push_back(whole.at(parameter.name));
    tensors.back().name = parameter.name;
  }
  weights::write_torch_file(directory / "without.pth", tensors);
  load(model, words, weights::FastaiFile{directory / "without.pth"}, words);
  const auto& bias = model.parameters().back();
  ASSERT_EQ(bias.name, "1.decoder.bias");
  EXPECT_EQ(bias.value.abs().max().item<float>(), 0);
  EXPECT_EQ(weights::to_floats(model.state_dict().views()[0]),
            weights::to_floats(whole.at("0.encoder.weight")));
}

TEST(PretrainedWords, SavesWhatItReads) {
  const tests::OneThread one_thread;
  const tests::TemporaryDirectory directory;
  const auto batch = tests::AwdLstmGolden{}.language_batches(0)[0];
  auto model = make_language_model(5);
  model.accumulate(batch, 1);
  save_for_fastai(directory / "model.pth", model);
  const weights::FastaiFile file{directory / "model.pth"};
  EXPECT_TRUE(file.find("1.decoder.weight") && file.find("0.encoder_dp.emb.weight"));
  EXPECT_FALSE(file.find("carried.0.h"));
  auto other = make_language_model(6);
  const auto words = weights::read_pickled_words(tests::awd_lstm_golden() / "words.pkl");
  load(other, words, file, words);
  EXPECT_EQ(other.evaluate(batch), model.evaluate(batch));
}

}  // namespace
}  // namespace seqtrain::model::pretrained
