#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/baseline/model.hpp>
#include <seqtrain/baseline/saved_model.hpp>
#include <seqtrain/baseline/term_tokenizer.hpp>
#include <seqtrain/weights/safetensors.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::baseline {
namespace {

/// Returns a model of a few texts.
Model small_model(ProblemType type = ProblemType::single_label, std::size_t labels = 3) {
  Learner learner{{.problem_type = type, .labels = labels}};
  const char* const words[] = {"a red river", "green hills of home", "the blue, blue sea"};
  for (std::size_t i = 0; i < 30; ++i) {
    std::vector<float> targets;
    if (type == ProblemType::regression) targets.assign(labels, static_cast<float>(i));
    if (type == ProblemType::multi_label) targets.assign({i % 2 ? 1.F : 0.F, 1, i % 3 ? 0.F : 1.F});
    const auto pair = i % 4 == 0 ? std::optional<std::string_view>{"and a pair"} : std::nullopt;
    learner.add(words[i % 3] + std::to_string(i), pair, static_cast<std::int64_t>(i % labels),
                targets);
  }
  return learner.learn();
}

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> all{"no", "yes, \"perhaps\"", "vielleicht ü"};
  all.resize(count);
  return all;
}

constexpr std::string_view texts[] = {"", "a red river", "The BLUE blue blue sea of hills 17", "?"};

std::vector<float> answers(const Model& model) {
  auto scratch = model.scratch();
  std::vector<float> all, logits(model.labels());
  for (const auto text : texts) {
    for (const auto pair : {std::optional<std::string_view>{}, {"and a green pair"}}) {
      model.answer(text, pair, scratch, logits);
      all.insert(all.end(), logits.begin(), logits.end());
    }
  }
  return all;
}

class SavedModelTest : public testing::Test {
 protected:
  void SetUp() override { save(small_model(), names(3), directory_.path()); }

  /// Returns the problem with the model after `text` was replaced in config.json.
  std::string problem_with_config(std::string_view text, std::string_view by) const {
    auto config = tests::read_file(directory_ / "config.json");
    const auto at = config.find(text);
    EXPECT_NE(at, config.npos) << text;
    tests::write_file(directory_ / "config.json", config.replace(at, text.size(), by));
    return problem();
  }

  /// Returns the problem with the model after `change` of the file's tensors.
  template <class Change>
  std::string problem_with_tensors(const Change& change) const {
    const auto file = directory_ / "model.safetensors";
    const auto text = tests::read_file(file);
    auto tensors = weights::parse_safetensors(std::as_bytes(std::span{text}), file.string());
    change(tensors);
    weights::write_safetensors(file, tensors);
    return problem();
  }

  std::string problem() const {
    auto problem = tests::problem_of([this] { (void)load(directory_.path()); });
    const auto place = directory_.path().string() + "/";
    if (problem.starts_with(place)) problem.erase(0, place.size());
    return problem;
  }

  tests::TemporaryDirectory directory_;
};

TEST(SavedModel, AnswersWithTheSameBits) {
  for (const auto type :
       {ProblemType::single_label, ProblemType::multi_label, ProblemType::regression}) {
    for (const std::size_t labels : {1U, 2U, 3U}) {
      if (type != ProblemType::regression && labels == 1) continue;
      if (type == ProblemType::multi_label && labels == 2) continue;
      const Model model = small_model(type, labels);
      const tests::TemporaryDirectory directory;
      EXPECT_FALSE(is_saved_model(directory.path()));
      save(model, names(labels), directory.path());
      EXPECT_TRUE(is_saved_model(directory.path()));
      const auto [loaded, found] = load(directory.path());
      EXPECT_EQ(found, names(labels));
      EXPECT_EQ(loaded.problem_type(), type);
      EXPECT_EQ(answers(loaded), answers(model));
      EXPECT_TRUE(std::ranges::equal(loaded.majority(), model.majority()));
    }
  }
}

TEST(TermTokenizer, GivesIdsThatTheModelAnswersWithTheSameBits) {
  const auto model = std::make_shared<const Model>(small_model());
  const TermTokenizer tokenizer{model};
  TermTokenizer::Scratch memory;
  auto scratch = model->scratch();
  std::vector<float> all, logits(3);
  for (const auto text : texts) {
    for (const auto pair : {std::optional<std::string_view>{}, {"and a green pair"}}) {
      std::vector<text::Id> ids;
      const std::size_t count = tokenizer.encode(text, pair, {.max_length = 1}, memory, ids);
      EXPECT_EQ(count, ids.size());
      ASSERT_FALSE(ids.empty());
      EXPECT_EQ(ids.front(), 0);
      EXPECT_LT(static_cast<std::size_t>(ids.back()), tokenizer.vocab_size());
      model->answer_ids(ids, scratch, logits);
      all.insert(all.end(), logits.begin(), logits.end());
    }
  }
  EXPECT_EQ(all, answers(*model));
  std::vector<text::Id> ids;
  EXPECT_EQ(tests::problem_of([&] { (void)tokenizer.encode("a\xFF", {}, {}, memory, ids); }),
            "the text is not UTF-8 at byte 2");
}

TEST_F(SavedModelTest, NamesTheKeyOfAWrongConfig) {
  EXPECT_EQ(problem(), "nothing was thrown");
  EXPECT_EQ(problem_with_config("\"most_words\":2", "\"most_words\":99"),
            "config.json: terms.most_words: must be 1 to 16");
  EXPECT_EQ(problem_with_config("\"most_words\":99", "\"most_words\":2.5"),
            "config.json: terms.most_words: expected an integer");
  EXPECT_EQ(problem_with_config("\"most_words\":2.5", "\"words\":2"),
            "config.json: terms.most_words: missing");
  EXPECT_EQ(problem_with_config("\"words\":2", "\"most_words\":2"), "nothing was thrown");
  EXPECT_EQ(problem_with_config("\"most_characters\":5", "\"most_characters\":2"),
            "config.json: terms.most_characters: must be 3 to 16");
  EXPECT_EQ(problem_with_config("single_label", "other_label"),
            "config.json: problem_type: 'other_label_classification' is not supported; supported "
            "are single_label_classification, regression, multi_label_classification");
}

TEST_F(SavedModelTest, RefusesLabelsThatDoNotFitTheWeights) {
  tests::write_file(directory_ / "config.json",
                    R"({"model_type": "seqtrain-tfidf", "id2label": {"0": "a", "1": "b"}, "terms":
                    {"most_words": 2, "fewest_characters": 3, "most_characters": 5}})");
  const auto said = problem();
  EXPECT_TRUE(said.starts_with("model.safetensors: weights: has the shape [")) << said;
}

TEST_F(SavedModelTest, NamesTheTensorThatIsWrong) {
  using Tensors = std::vector<weights::TensorView>;
  EXPECT_EQ(problem_with_tensors([](Tensors& all) { all.pop_back(); }),
            "model.safetensors: majority: is missing");
  save(small_model(), names(3), directory_.path());
  std::vector<std::int64_t> order;
  EXPECT_EQ(problem_with_tensors([&](Tensors& all) {
              order.assign(all[0].bytes.size() / 8, 7);
              all[0].bytes = std::as_bytes(std::span{order});
            }),
            "model.safetensors: terms: is not in ascending order");
  save(small_model(), names(3), directory_.path());
  EXPECT_EQ(problem_with_tensors([](Tensors& all) { all[1].dtype = weights::DType::i32; }),
            "model.safetensors: idf: is of I32, not of F32");
  save(small_model(), names(3), directory_.path());
  EXPECT_EQ(
      problem_with_tensors([](Tensors& all) { std::swap(all[2].name, all[1].name); }).substr(0, 39),
      "model.safetensors: idf: has the shape [");
  save(small_model(), names(3), directory_.path());
  std::vector<float> bias{0, std::numeric_limits<float>::quiet_NaN(), 0};
  EXPECT_EQ(
      problem_with_tensors([&](Tensors& all) { all[3].bytes = std::as_bytes(std::span{bias}); }),
      "model.safetensors: bias: has a number that is not finite");
}

TEST_F(SavedModelTest, RefusesAModelWithoutTerms) {
  const auto said = problem_with_tensors([](std::vector<weights::TensorView>& all) {
    for (auto& tensor : all) {
      if (tensor.shape.size() == 1 && tensor.shape[0] <= 3) continue;
      tensor.shape[0] = 0;
      tensor.bytes = {};
    }
  });
  EXPECT_EQ(said, "model.safetensors: terms: is empty: the model knows no term");
}

TEST_F(SavedModelTest, RefusesAFileThatIsCutOffAnywhere) {
  const auto file = directory_ / "model.safetensors";
  const auto whole = tests::read_file(file);
  for (std::size_t size = 0; size < whole.size(); size += size < 1000 ? 37 : 997) {
    tests::write_file(file, std::string_view{whole}.substr(0, size));
    EXPECT_TRUE(problem().starts_with("model.safetensors: ")) << size;
  }
  std::filesystem::remove(file);
  EXPECT_TRUE(problem().starts_with("model.safetensors: ")) << problem();
}

}  // namespace
}  // namespace seqtrain::baseline
