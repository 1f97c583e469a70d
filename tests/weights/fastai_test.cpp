#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/weights/fastai.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

std::filesystem::path in_golden(const char* name) {
  return tests::golden() / "awd_lstm" / name;
}

TEST(FastaiFile, FindsTensorsByTheirNames) {
  const FastaiFile file{in_golden("language.pth")};
  EXPECT_EQ(file.at("0.encoder.weight").shape, (std::vector<std::int64_t>{40, 12}));
  EXPECT_EQ(file.at("0.rnns.2.module.bias_ih_l0").shape, (std::vector<std::int64_t>{48}));
  EXPECT_FALSE(file.find("0.rnns.3.weight_hh_l0_raw"));
  EXPECT_NE(tests::problem_of([&] {
              static_cast<void>(file.at("1.other"));
            }).find("1.other: there is no such tensor"),
            std::string::npos);
}

TEST(FastaiFile, FindsCopiesWhereTheTensorItselfIsMissing) {
  const tests::TemporaryDirectory directory;
  const FastaiFile whole{in_golden("language.pth")};
  auto embedding = whole.at("0.encoder.weight");
  embedding.name = "0.encoder_dp.emb.weight";
  auto weight = whole.at("0.rnns.1.weight_hh_l0_raw");
  weight.name = "0.rnns.1.module.weight_hh_l0";
  write_torch_file(directory / "copies.pth", std::vector{embedding, weight});
  const FastaiFile copies{directory / "copies.pth"};
  EXPECT_EQ(to_floats(copies.at("0.encoder.weight")), to_floats(embedding));
  EXPECT_EQ(to_floats(copies.at("0.rnns.1.weight_hh_l0_raw")), to_floats(weight));
}

TEST(FastaiFile, SaysThatAnEncoderAloneIsNoModel) {
  const tests::TemporaryDirectory directory;
  const FastaiFile whole{in_golden("language.pth")};
  auto embedding = whole.at("0.encoder.weight");
  embedding.name = "encoder.weight";
  write_torch_file(directory / "encoder.pth", std::vector{embedding});
  const FastaiFile file{directory / "encoder.pth"};
  EXPECT_EQ(tests::problem_of([&] { static_cast<void>(file.at("0.encoder.weight")); }),
            file.path() +
                ": 0.encoder.weight: there is no such tensor; the file is of fastai's "
                "save_encoder; save the whole model by learn.save");
}

TEST(FastaiFile, FindsTheModelBesideAnOptimizer) {
  const FastaiFile file{tests::golden() / "weights" / "nested.pth"};
  EXPECT_EQ(to_floats(file.at("weight")), (std::vector<float>{1, 1}));
}

TEST(PickledWords, AreReadWithoutRunningAnything) {
  const auto words = read_pickled_words(in_golden("words.pkl"));
  ASSERT_EQ(words.size(), 40U);
  EXPECT_EQ(words[1], "xxpad");
  EXPECT_EQ(words[39], "word39");
}

TEST(PickledWords, RefuseAnythingElse) {
  const tests::TemporaryDirectory directory;
  const auto problem = [&](std::string_view bytes) {
    const auto file = tests::write_file(directory / "words.pkl", bytes);
    return tests::problem_of([&] { static_cast<void>(read_pickled_words(file)); });
  };
  EXPECT_NE(problem({"\x80\x02}.", 4}).find("expected a list of words"), std::string::npos);
  EXPECT_NE(problem({"\x80\x02]K\x01"
                     "a.",
                     7})
                .find("an item of the list is not a string"),
            std::string::npos);
  EXPECT_NE(problem("\x80\x02"
                    "cos\nsystem\n.")
                .find("os.system"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::weights
