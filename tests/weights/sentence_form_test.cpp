#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/sentence_form.hpp>
#include <seqtrain/weights/weights_folder.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

using tests::problem_of;
using tests::write_file;

const std::vector<float> eight_numbers{1, 2, 3, 4, 5, 6, 7, 8};
const std::vector<TensorView> dense_map{
    {"linear.weight", DType::f32, {2, 3}, std::as_bytes(std::span{eight_numbers}.first(6))},
    {"linear.bias", DType::f32, {2}, std::as_bytes(std::span{eight_numbers}.last(2))}};

/// A classifier whose encoder has one tensor.
class Directory {
 public:
  explicit Directory(const SentenceForm& form = {}) {
    write_file(
        path() / "config.json",
        R"({"problem_type": "single_label_classification", "id2label": {"0": "a", "1": "b"}})");
    write_safetensors(path() / "model.safetensors", std::vector{dense_map.back()});
    write_sentence_form(path(), form, dense_map);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

  void write(const std::string& name, const std::string& text) const {
    write_file(path() / name, text);
  }
  [[nodiscard]] std::string problem() const {
    return problem_of([&] { (void)WeightsFolder{path()}; });
  }

 private:
  tests::TemporaryDirectory directory_;
};

TEST(SentenceForm, ReadsWhatItWrites) {
  for (const bool mean : {false, true}) {
    for (const bool normalizes : {false, true}) {
      const Directory directory{{.mean_pooling = mean, .normalizes = normalizes}};
      EXPECT_TRUE(read_sentence_classifier(directory.path()).has_value());
      const auto form = read_sentence_form(directory.path());
      EXPECT_EQ(form.mean_pooling, mean);
      EXPECT_EQ(form.normalizes, normalizes);
      EXPECT_EQ(form.dense, directory.path() / (normalizes ? "3_Dense" : "2_Dense"));
      const WeightsFolder folder{directory.path()};
      ASSERT_TRUE(folder.sentence() && folder.find("linear.weight"));
      EXPECT_EQ(to_floats(*folder.find("linear.bias")), (std::vector<float>{7, 8}));
    }
  }
}

TEST(SentenceForm, WritesThePoolingByTheLastToken) {
  const Directory directory{{.mean_pooling = false, .last_pooling = true}};
  const auto form = read_sentence_form(directory.path());
  EXPECT_TRUE(form.last_pooling && !form.mean_pooling);
  EXPECT_EQ(describe(form), "lasttoken");
}

TEST(SentenceForm, ReadsWhatIsDoneToTexts) {
  const Directory directory;
  const auto form = [&] { return read_sentence_form(directory.path()); };
  EXPECT_TRUE(form().max_length == 0 && !form().lowercases && form().prompt.empty());
  directory.write("sentence_roberta_config.json", R"({"max_seq_length": 7})");
  EXPECT_EQ(form().max_length, 7U);
  directory.write("sentence_bert_config.json", R"({"max_seq_length": 128, "do_lower_case": true})");
  EXPECT_EQ(form().max_length, 128U);
  EXPECT_TRUE(form().lowercases);
  const auto prompts = [&](const std::string& text) {
    directory.write("config_sentence_transformers.json", text);
    return form().prompt;
  };
  EXPECT_EQ(prompts(R"({"prompts": {"q": "query: "}, "default_prompt_name": "q"})"), "query: ");
  EXPECT_EQ(prompts(R"({"prompts": {"q": "query: "}, "default_prompt_name": null})"), "");
  EXPECT_EQ(prompts(R"({"prompts": {"q": null}, "default_prompt_name": "q"})"), "");
  EXPECT_EQ(prompts(R"({"default_prompt_name": "document"})"), "");
}

TEST(SentenceForm, WritesWhatIsDoneToTexts) {
  const Directory directory{{.max_length = 9, .lowercases = true, .prompt = "as: \"text\" "}};
  const auto form = read_sentence_form(directory.path());
  EXPECT_EQ(form.max_length, 0U);  // the tokenizer's files have it
  EXPECT_TRUE(form.lowercases);
  EXPECT_EQ(form.prompt, "as: \"text\" ");
}

TEST(SentenceForm, NamesTheSettingOfTextsThatIsWrong) {
  const auto problem = [](const std::string& name, const std::string& text) {
    const Directory directory;
    directory.write("config_sentence_transformers.json",
                    R"({"prompts": {"q": "query: "}, "default_prompt_name": "q"})");
    directory.write(name, text);
    const std::string found = directory.problem();
    EXPECT_TRUE(found.starts_with((directory.path() / name).string())) << found;
    return found;
  };
  EXPECT_NE(problem("sentence_bert_config.json", R"({"max_seq_length": 0})")
                .find("max_seq_length: must be at least 1"),
            std::string::npos);
  EXPECT_NE(problem("config_sentence_transformers.json", R"({"default_prompt_name": "passage"})")
                .find("default_prompt_name: 'passage' is none of the prompts"),
            std::string::npos);
  EXPECT_NE(problem("1_Pooling/config.json", R"({"include_prompt": false})")
                .find("include_prompt: false is not supported for texts with a prompt; write "
                      "\"default_prompt_name\": null into config_sentence_transformers.json"),
            std::string::npos);
}

TEST(SentenceForm, ReadsTheLayoutOfTheirSixthVersion) {
  const auto form = read_sentence_form(tests::golden() / "sentence");
  EXPECT_TRUE(form.mean_pooling && form.normalizes);
  EXPECT_EQ(form.dense.filename(), "3_Dense");
}

TEST(SentenceForm, IsAnEncoderWithMeanPoolingWithoutModules) {
  const tests::TemporaryDirectory empty;
  EXPECT_FALSE(read_sentence_classifier(empty.path()).has_value());
  const auto form = read_sentence_form(empty.path());
  EXPECT_TRUE(form.mean_pooling && !form.normalizes && form.dense.empty());
}

TEST(SentenceForm, LeavesEncodersAloneWhoseDenseMapsToNoLabels) {
  const Directory directory;
  directory.write("config.json", R"({"id2label": {"0": "a", "1": "b"}})");
  EXPECT_FALSE(read_sentence_classifier(directory.path()).has_value());
  EXPECT_EQ(directory.problem(), "nothing was thrown");
  EXPECT_NE(problem_of([&] {
              (void)read_sentence_form(directory.path());
            }).find("modules.json: has modules that are not supported"),
            std::string::npos);
}

TEST(SentenceForm, RefusesHostileFiles) {
  const auto refuses = [](const std::string& name, const std::string& text,
                          const std::string& problem) {
    const Directory directory;
    directory.write(name, text);
    const std::string found = directory.problem();
    EXPECT_NE(found.find(problem), std::string::npos) << name << ": " << found;
    const auto file = std::filesystem::path{name}.filename().string();
    EXPECT_NE(found.find(file), std::string::npos) << name << ": " << found;
  };
  const auto module = [](const std::string& type, const std::string& path) {
    return R"({"type": "sentence_transformers.models.)" + type + R"(", "path": ")" + path + "\"}";
  };
  const std::string encoder = module("Transformer", "") + ", " + module("Pooling", "1_Pooling");
  const std::string dense = ", " + module("Dense", "2_Dense") + "]";
  for (const char* path : {"..", ".", "../2_Dense", "/tmp", "a/b"}) {
    refuses("modules.json", "[" + encoder + ", " + module("Dense", path) + "]",
            "is not the name of a folder beside modules.json");
  }
  refuses("modules.json", "{", "modules.json");
  refuses("modules.json", "[{\"type\": 3, \"path\": \"\"}]", "expected a string");
  refuses("modules.json", "[" + module("Transformer", "") + dense, "not supported");
  refuses("modules.json", "[" + encoder + ", " + module("LSTM", "1") + dense, "not supported");
  refuses("1_Pooling/config.json", R"({"pooling_mode": "max"})", "the pooling 'max'");
  refuses("1_Pooling/config.json", R"({"pooling_mode_cls_token": true, "pooling_mode": "mean"})",
          "is not supported");
  refuses("1_Pooling/config.json", R"({"pooling_mode_mean_tokens": false})", "the pooling ''");
  refuses("modules.json", "[" + module("Transformer", "") + ", " + module("Pooling", "") + dense,
          "is not the name of a folder");
  refuses("1_Pooling/config.json", R"({"pooling_mode_cls_token": true,
      "pooling_mode_mean_tokens": true})",
          "is not supported");
  const std::string start = R"({"in_features": 3, "out_features": 2, "bias": )";
  const std::string identity = R"("activation_function": "torch.nn.modules.linear.Identity")";
  refuses("2_Dense/config.json", start + R"(true, "activation_function": "torch.nn.Tanh"})",
          "is no plain linear layer");
  refuses("2_Dense/config.json", start + "false, " + identity + "}", "is no plain linear layer");
  refuses("2_Dense/config.json", start + R"(true, "use_residual": true, )" + identity + "}",
          "is no plain linear layer");
  refuses("2_Dense/model.safetensors", "hostile", "model.safetensors");
}

TEST(SentenceForm, IsNoClassifierWhoseHeadIsElsewhere) {
  const Directory directory;
  EXPECT_TRUE(read_sentence_classifier(directory.path()).has_value());
  const std::string labels =
      R"("problem_type": "single_label_classification", "id2label": {"0": "a", "1": "b"})";
  directory.write("config.json",
                  R"({"architectures": ["BertForSequenceClassification"], )" + labels + "}");
  EXPECT_FALSE(read_sentence_classifier(directory.path()).has_value());
  directory.write("config.json", R"({"architectures": ["BertModel"], )" + labels + "}");
  EXPECT_TRUE(read_sentence_classifier(directory.path()).has_value());
  directory.write("2_Dense/config.json", R"({"in_features": 3, "out_features": 128})");
  EXPECT_FALSE(read_sentence_classifier(directory.path()).has_value());
}

TEST(SentenceForm, NamesWhatIsMissing) {
  const Directory directory;
  std::filesystem::remove(directory.path() / "2_Dense/model.safetensors");
  EXPECT_NE(directory.problem().find("2_Dense/model.safetensors"), std::string::npos)
      << directory.problem();
  std::filesystem::remove(directory.path() / "2_Dense/config.json");
  EXPECT_NE(directory.problem().find("2_Dense/config.json"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::weights
