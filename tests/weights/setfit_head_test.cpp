#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/setfit_head.hpp>

#include "support/corrupt.hpp"
#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights {
namespace {

using namespace std::string_literals;

std::string golden_head(const std::string& name) {
  return tests::read_file(tests::golden() / "setfit" / (name + ".pkl"));
}

SetfitHead head_of(const std::string& bytes, SetfitConfig config = {}) {
  return SetfitHead{tests::bytes_of(bytes), "head", std::move(config)};
}

std::string refused_head(const std::string& bytes) {
  return tests::problem_of([&] { static_cast<void>(head_of(bytes)); });
}

/// Returns the probabilities of labels by a head's map.
std::vector<double> probabilities(const SetfitHead& head, const std::vector<double>& features) {
  const auto tensors = head.tensors();
  const auto weights = to_floats(tensors[0]), biases = to_floats(tensors[1]);
  std::vector<double> result(biases.begin(), biases.end());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    result[i / features.size()] += weights[i] * features[i % features.size()];
  }
  const bool each = head.problem_type() == ProblemType::multi_label;
  for (double& logit : result) logit = each ? 1 / (1 + std::exp(-logit)) : std::exp(logit);
  const double sum = each ? 1 : std::accumulate(result.begin(), result.end(), 0.0);
  for (double& value : result) value /= sum;
  return result;
}

std::vector<double> numbers_in(const json::Value& value) {
  std::vector<double> numbers;
  for (const auto& item : value.items()) numbers.push_back(item.number());
  return numbers;
}

TEST(SetfitHead, GivesTheProbabilitiesOfScikitLearn) {
  const auto document = json::Document::load(tests::golden() / "setfit" / "expected.json");
  std::size_t count = 0;
  for (const auto& [name, expected] : document.root().at("heads").members()) {
    const auto head = head_of(golden_head(std::string{name}));
    const auto rows = expected.at("probabilities").items();
    const auto texts = document.root().at("features").items();
    ASSERT_EQ(rows.size(), texts.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto ours = probabilities(head, numbers_in(texts[row]));
      const auto theirs = numbers_in(rows[row]);
      ASSERT_EQ(ours.size(), theirs.size()) << name;
      for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i], theirs[i], 3e-7) << name << " row " << row;
      }
    }
    ++count;
  }
  EXPECT_EQ(count, 16U);
}

TEST(SetfitHead, NamesTheLabelsByTheSettingsOrByTheClasses) {
  const auto labels = [](const char* name, std::vector<std::string> given = {}) {
    return head_of(golden_head(name), {.labels = std::move(given)}).labels();
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels("three"), (Labels{"0", "1", "2"}));
  EXPECT_EQ(labels("three", {"bad", "good", "so so"}), (Labels{"bad", "good", "so so"}));
  EXPECT_EQ(labels("three", {"bad", "good"}), (Labels{"bad", "good", "2"}));
  EXPECT_EQ(labels("truths"), (Labels{"0", "1"}));
  EXPECT_EQ(labels("truths", {"no", "yes"}), (Labels{"no", "yes"}));
  EXPECT_EQ(labels("names", {"bad", "good", "so so"}), (Labels{"gut", "schön", "日本 😀"}));
  EXPECT_EQ(labels("objects"), (Labels{"gut", "schön", "日本 😀"}));
  EXPECT_EQ(labels("multi_output"), (Labels{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(labels("multi_output", {"a", "b", "c"}), (Labels{"a", "b", "c"}));
}

TEST(SetfitHead, ReadsTheSettingsBesideIt) {
  const tests::TemporaryDirectory folder;
  EXPECT_FALSE(is_setfit(folder.path()));
  tests::write_file(folder / "model_head.pkl", golden_head("two"));
  EXPECT_TRUE(is_setfit(folder.path()));
  EXPECT_FALSE(SetfitHead{folder.path()}.normalizes());
  tests::write_file(folder / "config_setfit.json",
                    R"({"labels": ["no", "yes"], "normalize_embeddings": true})");
  const SetfitHead head{folder.path()};
  EXPECT_TRUE(head.normalizes());
  EXPECT_EQ(head.labels(), (std::vector<std::string>{"no", "yes"}));
  tests::write_file(folder / "config_setfit.json", R"({"labels": null})");
  EXPECT_EQ(SetfitHead{folder.path()}.labels(), (std::vector<std::string>{"0", "1"}));
  tests::write_file(folder / "model_head.pkl", "\x78\x9c compressed");
  EXPECT_EQ(tests::problem_of([&] { SetfitHead{folder.path()}; }),
            (folder / "model_head.pkl").string() +
                ": is no pickle, or a compressed one; save it by joblib.dump without compress");
}

const std::string remedy =
    "; fit scikit-learn's LogisticRegression as the head, or train on the same examples by "
    "seqtrain "
    "train --few-shot";

TEST(SetfitHead, NamesTheClassOfAnotherHead) {
  EXPECT_EQ(refused_head(golden_head("refused_svc")),
            "head: pickle: 'sklearn.svm._classes.SVC' is not supported" + remedy);
  EXPECT_EQ(
      refused_head(golden_head("refused_rest")),
      "head: label_binarizer_: is one class against the rest, whose scores are no logits" + remedy);
  EXPECT_EQ(
      refused_head(golden_head("refused_old_rest")),
      "head: multi_class: is one class against the rest, whose scores are no logits" + remedy);
  EXPECT_EQ(refused_head("\x80\x04}."s), "head: is no logistic regression" + remedy);
}

TEST(SetfitHead, ExecutesNothing) {
  const auto problem = refused_head(
      "\x80\x02"
      "cos\nsystem\nX\x04\x00\x00\x00true\x85R."s);
  EXPECT_TRUE(problem.starts_with("head: pickle: 'os.system' is not supported")) << problem;
}

/// Returns a golden head with a part replaced, which must be there.
std::string changed(const char* name, const std::string& from, const std::string& to) {
  std::string bytes = golden_head(name);
  const auto place = bytes.find(from);
  EXPECT_NE(place, bytes.npos) << from;
  return bytes.replace(place, from.size(), to);
}

TEST(SetfitHead, SaysWhichPartDoesNotFit) {
  EXPECT_EQ(refused_head(changed("three",
                                 "\x05"
                                 "coef_",
                                 "\x05"
                                 "caef_")),
            "head: coef_: is missing: the head was not fitted");
  // The shape of coef_, (3, 8), becomes (4, 6).
  EXPECT_EQ(refused_head(changed("three", "K\x03K\x08\x86", "K\x04K\x06\x86")),
            "head: coef_: has 4 rows for 3 classes");
  EXPECT_NE(refused_head(changed("three", "K\x03K\x08\x86", "K\x03K\xff\x86"))
                .find("cut off in the middle"),
            std::string::npos);
  EXPECT_NE(refused_head(changed("three",
                                 "\x02"
                                 "f4",
                                 "\x02"
                                 "c8"))
                .find("of a type"),
            std::string::npos);
  EXPECT_NE(refused_head(changed("three", "\x01<", "\x01>")).find("of a type"), std::string::npos);
}

std::string text_opcode(const std::string& text) {
  return "\x8c"s + static_cast<char>(text.size()) + text;
}

/// Returns the opcodes of an array of one f8.
std::string array_opcodes(const std::string& shape) {
  return "cnumpy._core.numeric\n_frombuffer\n(C\x08"s + std::string(8, '\0') + "cnumpy\ndtype\n" +
         text_opcode("f8") + "\x85R(K\x03" + text_opcode("<") + "NNNK\x01K\x01K\x00tb"s + shape +
         text_opcode("C") + "tR";
}

/// Returns a head of one regression of one feature, which is in its list `count` times.
std::string repeated_head(std::size_t count) {
  auto classes = array_opcodes("K\x02\x85");
  classes.replace(classes.find("C\x08"), 10, "C\x10"s + std::string(14, '\0') + "\xf0\x3f");
  const std::string regression = "csklearn.linear_model._logistic\nLogisticRegression\n)\x81}(" +
                                 text_opcode("coef_") + array_opcodes("K\x01K\x01\x86") +
                                 text_opcode("intercept_") + array_opcodes("K\x01\x85") +
                                 text_opcode("classes_") + classes + "ub";
  std::string bytes =
      "\x80\x04"
      "csklearn.multioutput\nMultiOutputClassifier\n)\x81}" +
      text_opcode("estimators_") + "](" + regression + "q\x07";
  for (std::size_t i = 1; i < count; ++i) bytes += "h\x07";
  return bytes + "esb.";
}

TEST(SetfitHead, MayNotNameOneRegressionForAnyNumberOfLabels) {
  EXPECT_EQ(head_of(repeated_head(3)).labels().size(), 3U);
  EXPECT_EQ(refused_head(repeated_head(20'000)),
            "head: coef_: maps 1 features to 20000 labels, which are too few or too many");
}

TEST(SetfitHead, ADamagedOneIsReadOrRefused) {
  std::mt19937 random{5};
  for (const char* name : {"three", "names", "objects", "multi_label", "pickle5", "old_three"}) {
    const std::string whole = golden_head(name);
    for (std::size_t size = 0; size < whole.size(); size += 3) {
      EXPECT_NE(refused_head(whole.substr(0, size)), "nothing was thrown") << name << size;
    }
    for (int i = 0; i < 500; ++i) {
      std::string damaged = whole;
      for (int changes = 0; changes < 3; ++changes) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      try {
        const auto head = head_of(damaged);
        ASSERT_EQ(head.tensors()[0].shape[0], static_cast<std::int64_t>(head.labels().size()));
      } catch (const InputError& error) {
        ASSERT_TRUE(std::string{error.what()}.starts_with("head: ")) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace seqtrain::weights
