#include <algorithm>
#include <concepts>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/byte_level_pipeline.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/tokenizer_family.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

constexpr std::size_t whole_text = std::numeric_limits<std::size_t>::max();

/// Calls `test(pipeline)` with the pipeline of a golden tokenizer.
template <class Test>
void with_pipeline(const std::string& name, Test&& test) {
  load_tokenizer(tests::golden() / "tokenizers" / name).visit([&](const auto& tokenizer) {
    if constexpr (std::same_as<decltype(tokenizer), const RobertaTokenizer&>) {
      test(tokenizer.pipeline());
    } else {
      FAIL() << name << " is of another family";
    }
  });
}

std::vector<Id> by_parts(const ByteLevelPipeline& pipeline, const std::string& text) {
  ByteLevelPipeline::Plain::Scratch scratch;
  std::vector<Id> ids;
  pipeline.plain().encode(text, whole_text, scratch, ids);
  return ids;
}

std::string random_text(std::mt19937& random, std::size_t parts) {
  static const std::vector<std::string> pool{" the",
                                             "bridge",
                                             " ",
                                             "\n",
                                             "'s",
                                             "'",
                                             "x",
                                             "\u00e9",
                                             "\u65e5\u672c",
                                             "\U0001F642",
                                             "12",
                                             "...",
                                             "weather and other",
                                             "\u3000",
                                             "t",
                                             "qz",
                                             "\t",
                                             "river's",
                                             "abcdefghijklmnopqrst"};
  std::string text;
  for (; parts > 0; --parts) text += pool[random() % pool.size()];
  return text;
}

TEST(ByteLevelPipeline, EqualsItsPartsWithOneCacheForAll) {
  ByteLevelPipeline::Scratch scratch;
  for (const char* name : {"roberta", "gpt2", "roberta", "ambiguous"}) {
    with_pipeline(name, [&](const ByteLevelPipeline& pipeline) {
      std::mt19937 random{21};
      for (int round = 0; round < 500; ++round) {
        const std::string text = random_text(random, random() % (round % 50 == 0 ? 3000 : 40));
        std::vector<Id> ids;
        pipeline.encode(text, whole_text, scratch, ids);
        ASSERT_EQ(ids, by_parts(pipeline, text)) << name << ": " << text;
      }
    });
  }
}

TEST(ByteLevelPipeline, StopsSoonAfterTheLimit) {
  with_pipeline("roberta", [](const ByteLevelPipeline& pipeline) {
    ByteLevelPipeline::Scratch scratch;
    std::string text;
    while (text.size() < 100'000) text += " the bridge";
    const auto expected = by_parts(pipeline, text);
    for (const std::size_t limit : {0u, 1u, 31u, 33u, 500u}) {
      std::vector<Id> ids;
      pipeline.encode(text, limit, scratch, ids);
      ASSERT_GE(ids.size(), limit);
      EXPECT_LT(ids.size(), limit + 200);
      EXPECT_TRUE(std::equal(ids.begin(), ids.end(), expected.begin()));
    }
  });
}

TEST(ByteLevelPipeline, TakesWhateverIsLong) {
  with_pipeline("roberta", [](const ByteLevelPipeline& pipeline) {
    ByteLevelPipeline::Scratch scratch;
    for (const std::string part : {"a", "ab", " ", "'", "\u0301", "\U0001F642", "1", "\u3000"}) {
      std::string text;
      while (text.size() < 100'000) text += part;
      std::vector<Id> ids;
      pipeline.encode(text, whole_text, scratch, ids);
      EXPECT_EQ(ids, by_parts(pipeline, text)) << part;
    }
  });
}

}  // namespace
}  // namespace seqtrain::text
