#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/config_file.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::weights {
namespace {

using tests::problem_of;
using Names = std::vector<std::string>;

Names in_config(std::string_view text) {
  return chosen_label_names(json::Document::parse(text, "config.json").root());
}

TEST(ChosenLabelNames, AreThoseThatNameSomething) {
  EXPECT_EQ(in_config(R"({"id2label": {"1": "b", "0": "a", "2": "c"}})"), (Names{"a", "b", "c"}));
  EXPECT_EQ(in_config(R"({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}})"), Names{});
  EXPECT_EQ(in_config(R"({"id2label": {"0": "LABEL_0", "1": "b"}})"), (Names{"LABEL_0", "b"}));
  EXPECT_EQ(in_config(R"({"id2label": null})"), Names{});
  EXPECT_EQ(in_config("{}"), Names{});
}

TEST(ChosenLabelNames, AreTheDigitsOfIntegers) {
  EXPECT_EQ(in_config(R"({"id2label": {"0": 1, "1": 5}})"), (Names{"1", "5"}));
}

TEST(ChosenLabelNames, RefusesOtherIds) {
  for (const char* ids : {R"({"1": "b", "2": "a"})", R"({"x": "b"})", R"({"-1": "b"})"}) {
    const std::string text = R"({"id2label": )" + std::string{ids} + "}";
    EXPECT_NE(problem_of([&] { in_config(text); }).find("config.json: id2label."),
              std::string::npos)
        << ids;
  }
  EXPECT_THROW(in_config(R"({"id2label": {"0": true}})"), InputError);
  EXPECT_THROW(in_config(R"({"id2label": ["a"]})"), InputError);
}

}  // namespace
}  // namespace seqtrain::weights
