#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/dataset_card.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

std::string configs_of(const std::string& card) {
  std::string text;
  for (const auto& config : hub::configs_in_card(card, "card")) {
    text += config.name + (config.is_default ? "!" : "") + "(" + config.folder + ")";
    for (const auto& [split, patterns] : config.splits) {
      text += " " + split + "=";
      for (const auto& pattern : patterns) text += pattern + ";";
    }
    text += config.not_read + "\n";
  }
  return text;
}

/// Returns a card with these lines among others, some of which are YAML that cannot be read.
std::string card_with(const std::string& configs) {
  return "---\nlanguage:\n- en\npretty_name: \"GLUE: a\n  benchmark\"\ntags: [a, {b: c}]\n" +
         configs +
         "extra_gated_prompt: |\n  configs: are\n  &no: list\ndataset_info:\n- config_name: ax\n"
         "  features:\n  - name: label\n    dtype:\n      class_label:\n        names:\n"
         "          '0': a\n---\n# GLUE\nconfigs: none\n";
}

TEST(HubDatasetCard, ReadsTheConfigs) {
  EXPECT_EQ(configs_of(card_with("configs:\n"
                                 "- config_name: ax\n"
                                 "  data_files:\n"
                                 "  - split: test\n"
                                 "    path: ax/test-*\n"
                                 "- config_name: cola\n"
                                 "  default: true\n"
                                 "  data_files:\n"
                                 "  - split: train\n"
                                 "    path:\n"
                                 "    - cola/a.csv\n"
                                 "    - ./cola/b.csv\n"
                                 "  - split: validation\n"
                                 "    path: \"cola/validation-*\"\n")),
            "ax() test=ax/test-*;\n"
            "cola!() train=cola/a.csv;cola/b.csv; validation=cola/validation-*;\n");
}

TEST(HubDatasetCard, ReadsTheShortForms) {
  EXPECT_EQ(configs_of(card_with("configs:\n  - config_name: a\n    data_files: \"*.csv\"\n"
                                 "  - config_name: b\n    data_dir: b\n    default: false\n"
                                 "  - config_name: c\n    data_files: [x.csv, y.csv]\n"
                                 "    sep: \"\\t\"\n")),
            "a() train=*.csv;\nb(b)\nc() train=x.csv;y.csv;sep\n");
}

TEST(HubDatasetCard, NeedsNoHeader) {
  for (const std::string card :
       {"", "# A set", "---\nlanguage: en\n---\n", "---\nconfigs:\n---\n",
        "---\nconfigs:\n- config_name: no end\n", "---\nconfigs: []\n---"}) {
    EXPECT_EQ(configs_of(card), "") << card;
  }
  EXPECT_EQ(configs_of("\xEF\xBB\xBF---\r\nconfigs:\r\n- config_name: a\r\n---\r\n"), "a()\n");
}

TEST(HubDatasetCard, RefusesHostileConfigs) {
  const auto problem = [](const std::string& configs) {
    return problem_of([&] { configs_of("---\nconfigs:" + configs + "\n---\n"); });
  };
  const std::string name = "\n- config_name: a\n  data_files:";
  for (const std::string configs :
       {" x", "\n  a: b", "\n- a", "\n- x: 1", "\n- config_name:", "\n- config_name: [a]",
        "\n- config_name: a\n- config_name: a", "\n- config_name: a\nconfigs:\n- config_name: b"}) {
    EXPECT_TRUE(problem(configs).starts_with("card:")) << configs << ": " << problem(configs);
  }
  for (const std::string files :
       {" ", " []", " ../x", " /etc/passwd", " https://a/b.csv", " 'a/../../b'", "\n    a: b",
        "\n  - split: x", "\n  - path: x", "\n  - split: x\n    path: []",
        "\n  - split: x\n    path: a\n  - split: x\n    path: b",
        "\n  - split: x\n    path:\n      a: b", "\n  - split: x\n    path: a\n  - b", " &a b",
        " a\n  default: perhaps"}) {
    EXPECT_TRUE(problem(name + files).starts_with("card:"))
        << files << ": " << problem(name + files);
  }
  EXPECT_NE(problem(name + " ../x").find("'../x' is not in the repository"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::tests
