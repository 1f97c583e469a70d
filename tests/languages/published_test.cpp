#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/languages/published.hpp>
#include <seqtrain/log/log.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::languages {
namespace {

using tests::write_into_folder;

TEST(PublishedLayout, NamesItsLabels) {
  EXPECT_EQ(Published{}.labels(), (std::vector<std::string>{"categ1", "categ2"}));
  EXPECT_EQ((Published{.label_delimiter = ";", .label_list = "a;;b"}.labels()),
            (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Published{}.metric(), "loss");
  EXPECT_EQ((Published{.monitored_metric = "macro_f1"}.metric()), "macro_f1");
}

TEST(PublishedLayout, RefusesWhatIsOutOfRange) {
  const auto problem = [](const Published& published) {
    return tests::problem_of([&] { published.validate(); });
  };
  Published{}.validate();
  EXPECT_NE(problem({.model_file = "a/b"}).find("--model-filename"), std::string::npos);
  EXPECT_NE(problem({.label_delimiter = ", "}).find("--label-delim"), std::string::npos);
  EXPECT_NE(problem({.monitored_metric = "f1"}).find("--monitored-metric"), std::string::npos);
  EXPECT_NE(problem({.label_list = "a", .monitored_metric = "micro_f1"}).find("several labels"),
            std::string::npos);
  EXPECT_NE(problem({.drop_mult = 3}).find("--drop-mult"), std::string::npos);
  EXPECT_NE(problem({.threshold = 1}).find("--prediction-threshold"), std::string::npos);
  EXPECT_NE(problem({.rate_ratio = 0.5}).find("--rate-ratio"), std::string::npos);
}

TEST(PublishedLayout, LinksTheFilesOfALanguageModel) {
  const tests::TemporaryDirectory from, to;
  const Published published;
  const auto problem =
      tests::problem_of([&] { published.gather(from.path(), to / "first", false); });
  EXPECT_NE(problem.find("weights.pth: is missing"), std::string::npos) << problem;
  for (const char* const name : {"weights.pth", "vocab.pkl", "config.json"}) {
    write_into_folder(from / (std::string{"forward/"} + name), name);
  }
  write_into_folder(from / "spm/spm.model", "pieces");
  published.gather(from.path(), to / "second", false);
  EXPECT_EQ(tests::read_file(to / "second/pretrained.pth"), "weights.pth");
  EXPECT_EQ(tests::read_file(to / "second/vocabulary.pkl"), "vocab.pkl");
  EXPECT_EQ(tests::read_file(to / "second/model.json"), "config.json");
  EXPECT_EQ(tests::read_file(to / "second/subwords.model"), "pieces");
  EXPECT_EQ(linked_file(to / "second/model.json"), from / "forward/config.json");
  EXPECT_EQ(linked_file(from / "forward/config.json"), from / "forward/config.json");
}

TEST(PublishedLayout, LetsEnglishBeginWithoutALanguageModel) {
  const tests::TemporaryDirectory from, to;
  Published{}.gather(from.path(), to.path(), true);
  EXPECT_TRUE(std::filesystem::is_empty(to.path()));
}

TEST(PublishedLayout, SplitsADataSetIntoFourFiles) {
  const tests::TemporaryDirectory from, to;
  std::string table = "text,a,b\n";
  for (int row = 0; row < 20; ++row) {
    table += "text " + std::to_string(row) + (row % 2 == 0 ? ",1,0\n" : ",0,1\n");
  }
  write_into_folder(from / "labelled_dataset.csv", table);
  const Published published{.label_list = "a,b"};
  const auto labels = published.split(from.path(), to.path(), log::Log{});
  EXPECT_EQ(labels.problem_type(), ProblemType::multi_label);
  const auto lines = [&](const char* file) {
    const std::string text = tests::read_file(to / file);
    return std::count(text.begin(), text.end(), '\n') - 1;
  };
  EXPECT_EQ(lines("test.csv"), 5);
  EXPECT_EQ(lines("train.csv"), 12);
  EXPECT_EQ(lines("valid.csv"), 3);
  EXPECT_EQ(lines(Published::counted_file), 15);
  write_into_folder(from / "labelled_dataset.csv", "text,a,b\none,1,0\n");
  const auto problem = tests::problem_of(
      [&] { static_cast<void>(published.split(from.path(), to.path(), log::Log{})); });
  EXPECT_NE(problem.find("need at least 7"), std::string::npos) << problem;
}

TEST(PublishedLayout, WritesScoresThatAreUndefinedAsNull) {
  const tests::TemporaryDirectory to;
  const Published published{.label_list = "a,b"};
  const data::Labels labels{{"a", "b", "other"}, ProblemType::multi_label};
  published.save_scores(to / "scores.json", labels,
                        {{.accuracy = 0.5, .precision = 0.25, .recall = 1.0}, {.accuracy = 1.0}},
                        log::Log{});
  const auto document = json::Document::load(to / "scores.json");
  const auto root = document.root();
  EXPECT_EQ(root.at("a").at("Precision").number(), 0.25);
  EXPECT_TRUE(root.at("b").has_null("Recall"));
  EXPECT_FALSE(root.find("other").has_value());
}

}  // namespace
}  // namespace seqtrain::languages
