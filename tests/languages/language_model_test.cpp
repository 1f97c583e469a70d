#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/languages/language_model.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::languages {
namespace {

using tests::write_file;

TEST(PretrainedVocabulary, IsTheListOrElseThePickle) {
  const tests::TemporaryDirectory data;
  const auto problem =
      tests::problem_of([&] { static_cast<void>(pretrained_vocabulary(data.path())); });
  EXPECT_NE(problem.find("add it, or vocabulary.pkl"), std::string::npos) << problem;
  write_file(data / "vocabulary.pkl", "");
  EXPECT_EQ(pretrained_vocabulary(data.path()), data / "vocabulary.pkl");
  write_file(data / "vocabulary.txt", "");
  EXPECT_EQ(pretrained_vocabulary(data.path()), data / "vocabulary.txt");
}

TEST(LanguageOfAModel, IsOtherIfMostWordsAreUnknown) {
  const std::vector<std::string> words{"xxunk", "xxpad", "un", "deux", "trois", "▁quatre"};
  check_same_language(words, {"un", "deux"}, "vocabulary.txt");  // half of four words
  const auto problem = tests::problem_of([&] {
    check_same_language(words, {"xxunk", "un"}, "vocabulary.txt");
  });
  EXPECT_NE(problem.find("vocabulary.txt"), std::string::npos) << problem;
  EXPECT_NE(problem.find("knows 1 of 4 words"), std::string::npos) << problem;
}

TEST(LanguageStreams, AreAsManyAsTheTextsAllow) {
  const auto texts = [](std::size_t tokens) {
    data::EncodedSet set{10, 0};
    set.push_back(std::vector<std::int32_t>(tokens, 5), tokens, 0);
    return set;
  };
  Job job;
  job.batch_size = 4;
  EXPECT_EQ(streams(job, texts(30), 5).epoch(0).begin()->rows, 3);
  EXPECT_EQ(streams(job, texts(400), 5).epoch(0).begin()->rows, 4);
  EXPECT_EQ(streams(job, texts(5), 5).epoch(0).begin()->rows, 1);
}

TEST(PretrainedModel, IsNotLoadedWithoutAFile) {
  const tests::TemporaryDirectory data;
  Job job;
  job.data = data.path();
  model::LanguageModel model{6, {.shape = {.embedding = 4, .hidden = 6, .layers = 2}}};
  EXPECT_FALSE(load_pretrained(job, model, {"xxunk", "xxpad", "a", "b", "c", "d"}));
}

}  // namespace
}  // namespace seqtrain::languages
