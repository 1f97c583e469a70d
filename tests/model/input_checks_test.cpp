#include <string>

#include <gtest/gtest.h>

#include <seqtrain/model/input_checks.hpp>

namespace seqtrain::model {
namespace {

TEST(InputChecks, CompareTheVocabularyWithTheEmbedding) {
  weights::ModelConfig config;
  config.vocab_size = 100;
  check_vocabulary(config, 99);
  check_vocabulary(config, 100);
  try {
    check_vocabulary(config, 101);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("101"), std::string::npos);
    EXPECT_NE(std::string{error.what()}.find("100"), std::string::npos);
  }
}

}  // namespace
}  // namespace seqtrain::model
