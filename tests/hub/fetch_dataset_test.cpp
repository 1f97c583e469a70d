#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/read_options.hpp>
#include <seqtrain/hub/fetch_dataset.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

class HubFetchDataset : public HubFixture {
 protected:
  hub::FetchedDataset fetch(const hub::Client& client, const std::string& name = "org/s",
                            const std::vector<std::string>& splits = {"train"}) {
    return hub::fetch_dataset(client, cache_, hub::DatasetName::parse(name),
                              [&](const hub::DatasetSplits&) { return splits; },
                              directory_ / "lists",
                              {.tell = [this](std::string_view line) { note(line); },
                               .warn = [this](std::string_view line) { note(line); }});
  }
  std::string commit(const std::string& rows = "1") {
    return hub_.commit("datasets/org/s", {{"README.md", card_},
                                          {"d/train-00000-of-00003.csv", "text,label\na," + rows},
                                          {"d/train-00001-of-00003.csv", "text,label\nb,2"},
                                          {"d/train-00002-of-00003.csv", "text,label\nc,2"},
                                          {"d/test.csv", "text,label\nd,2"}});
  }
  std::string contents(const hub::FetchedDataset& set, const std::string& split = "train") {
    std::string text;
    for (const auto& file : set.files.at(split)) text += read_file(file).substr(11) + ";";
    return text;
  }

  const std::string card_ =
      "---\nconfigs:\n- config_name: c\n  data_files:\n  - split: train\n    path: d/train-*\n"
      "  - split: test\n    path: d/test.csv\n---\n";
};

TEST_F(HubFetchDataset, TakesTheFilesOfTheSplitsAlone) {
  const auto name = commit();
  const auto set = fetch(make_client());
  EXPECT_EQ(set.commit, name);
  EXPECT_EQ(contents(set), "a,1;b,2;c,2;");
  const auto snapshot = directory_ / ("datasets--org--s/snapshots/" + name);
  EXPECT_TRUE(std::filesystem::exists(snapshot / "README.md"));
  EXPECT_FALSE(std::filesystem::exists(snapshot / "d/test.csv"));
  EXPECT_EQ(log_, "Fetching org/s, 3 files of 0 MB, to " + snapshot.string() + "\n");
  EXPECT_EQ(contents(fetch(make_client(), "org/s:c", {"train", "test"}), "test"), "d,2;");
}

TEST_F(HubFetchDataset, FollowsOldNames) {
  commit();
  hub_.rename("datasets/s", "datasets/org/s");
  EXPECT_EQ(contents(fetch(make_client(), "s")), "a,1;b,2;c,2;");
}

TEST_F(HubFetchDataset, NeedsNoCard) {
  hub_.commit("datasets/org/s", {{"train.csv", "text,label\na,1"}, {"dev.csv", "text,label\nb,1"}});
  EXPECT_EQ(contents(fetch(make_client(), "org/s", {"validation"}), "validation"), "b,1;");
}

TEST_F(HubFetchDataset, SendsNoRequestForACommitThatIsHere) {
  const auto name = commit();
  const auto first = fetch(make_client());
  EXPECT_EQ(fetch(make_client_alone(), "org/s@" + name).files, first.files);
  const auto client = make_client();
  fetch(client);
  EXPECT_EQ(transport_->seen().size(), 1U);
  fetch(make_client(), "org/s@" + name, {"test"});
  EXPECT_EQ(fetch(make_offline_client(), "org/s", {"test"}).files.size(), 1U);
}

TEST_F(HubFetchDataset, FollowsABranchAndUsesTheCacheIfTheHubIsAway) {
  commit();
  fetch(make_client());
  const auto second = commit("3");
  EXPECT_EQ(contents(fetch(make_client())), "a,3;b,2;c,2;");
  log_.clear();
  EXPECT_EQ(fetch(make_client_alone()).commit, second);
  EXPECT_NE(log_.find("using " + second + " from the cache"), std::string::npos);
  EXPECT_NE(problem_of([&] { fetch(make_client_alone(), "org/s", {"test"}); }).find("reached"),
            std::string::npos);
}

TEST_F(HubFetchDataset, TakesNoPartOfASplitForTheWhole) {
  const auto name = commit();
  const auto client = make_client([this](const FakeTransport::Seen& seen) {
    const bool cut = seen.method == "GET" && seen.target.ends_with("00001-of-00003.csv");
    if (cut) throw http::TransportError{"cut"};
    return answer(seen);
  });
  EXPECT_NE(problem_of([&] { fetch(client); }).find("cut"), std::string::npos);
  for (const std::string& of : {std::string{"org/s@" + name}, std::string{"org/s"}}) {
    EXPECT_NE(problem_of([&] { fetch(make_offline_client(), of); }).find("as a whole"),
              std::string::npos);
  }
  std::filesystem::remove_all(directory_ / "lists");  // as if Python had fetched the files
  EXPECT_NE(problem_of([&] { fetch(make_offline_client(), "org/s@" + name); }).find("as a whole"),
            std::string::npos);
  EXPECT_EQ(contents(fetch(make_client())), "a,1;b,2;c,2;");
}

TEST_F(HubFetchDataset, TakesWhatPythonFetched) {
  commit();
  const auto set = fetch(make_client());
  std::filesystem::remove_all(directory_ / "lists");
  log_.clear();
  EXPECT_EQ(fetch(make_offline_client()).files, set.files);
  EXPECT_NE(log_.find("for all of the commit's"), std::string::npos);
}

TEST_F(HubFetchDataset, SaysWhatIsWrong) {
  const auto problem = [&](const std::string& name) {
    return problem_of([&] { fetch(make_client(), name, {"dev"}); });
  };
  EXPECT_NE(problem("org/none").find("there is no such dataset"), std::string::npos);
  commit();
  EXPECT_NE(problem("org/s@v9").find("has no revision 'v9'"), std::string::npos);
  EXPECT_NE(problem("org/s:x").find("has no config 'x'; there are: c"), std::string::npos);
  EXPECT_NE(problem("org/s").find("has no split 'dev'; there are: train, test"), std::string::npos);
  hub_.commit("datasets/org/gated", {{"README.md", card_}, {"d/test.csv", "text,label\na,1"}});
  hub_.gate("datasets/org/gated");
  EXPECT_NE(problem("org/gated").find("accept them at https://hub.test/datasets/org/gated"),
            std::string::npos);
}

TEST_F(HubFetchDataset, ReadsALocalDirectory) {
  const TemporaryDirectory local;
  std::filesystem::create_directories(local / "d");
  write_file(local / "README.md", card_);
  write_file(local / "d/train-1.csv", "text,label\na,1");
  const auto set = hub::dataset_in(local.path(), "c",
                                   [](const auto&) { return std::vector<std::string>{"train"}; });
  EXPECT_EQ(contents(set), "a,1;");
  EXPECT_EQ(set.commit, "");
  EXPECT_NE(problem_of([&] {
              (void)hub::dataset_in(local.path(), "",
                                    [](const auto&) { return std::vector<std::string>{"test"}; });
            }).find("has no file of the split 'test'"),
            std::string::npos);
}

TEST(HubKnownDatasets, HaveTheirUsualDevSplit) {
  EXPECT_EQ(hub::known_dataset("nyu-mll/multi_nli", "").dev_split, "validation_matched");
  EXPECT_EQ(hub::known_dataset("multi_nli", "default").dev_split, "validation_matched");
  EXPECT_EQ(hub::known_dataset("nyu-mll/glue", "mnli").dev_split, "validation_matched");
  EXPECT_EQ(hub::known_dataset("glue", "sst2").dev_split, "validation");
  EXPECT_EQ(hub::known_dataset("imdb", "").dev_split, "test");
  EXPECT_EQ(hub::known_dataset("org/imdb", "").dev_split, "validation");
}

TEST(HubKnownDatasets, OnlyStsbIsRegression) {
  EXPECT_EQ(hub::known_dataset("glue", "stsb").problem_type, "regression");
  EXPECT_EQ(hub::known_dataset("glue", "rte").problem_type, "");
  EXPECT_EQ(hub::known_dataset("other/set", "stsb").problem_type, "");
}

/// The columns of the sets with defaults are recognised, so they need no entry in the table.
TEST(HubKnownDatasets, HaveColumnsThatAreRecognised) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> sets{
      {{"sentence", "label", "idx"}, "sentence//label"},                          // cola, sst2
      {{"sentence1", "sentence2", "label", "idx"}, "sentence1/sentence2/label"},  // mrpc, stsb, rte
      {{"question1", "question2", "label", "idx"}, "question1/question2/label"},  // qqp
      {{"premise", "hypothesis", "label", "idx"}, "premise/hypothesis/label"},    // mnli
      {{"question", "sentence", "label", "idx"}, "question/sentence/label"},      // qnli
      {{"text", "label"}, "text//label"},                                         // imdb
      {{"promptID", "pairID", "premise", "premise_binary_parse", "premise_parse", "hypothesis",
        "hypothesis_binary_parse", "hypothesis_parse", "genre", "label"},
       "premise/hypothesis/label"}};  // multi_nli
  for (const auto& [columns, expected] : sets) {
    const auto fields = data::choose_fields(columns, {}, "set");
    const auto has_pair = std::ranges::count(columns, fields.pair) > 0;
    EXPECT_EQ(fields.text + "/" + (has_pair ? fields.pair : "") + "/" + fields.label, expected);
  }
}

}  // namespace
}  // namespace seqtrain::tests
