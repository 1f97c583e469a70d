#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/hub/fetch.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

namespace fs = std::filesystem;

class HubFetch : public HubFixture {
 protected:
  fs::path fetch(const hub::Client& client, const std::string& name = "org/m") {
    return hub::fetch_model(client, cache_, hub::Name::parse(name),
                            {.tell = [this](std::string_view line) { note(line); },
                             .warn = [this](std::string_view line) { note(line); }});
  }
};

TEST_F(HubFetch, TakesWhatAModelNeeds) {
  const auto commit = hub_.commit("models/org/m", small_model("weights"));
  const auto folder = fetch(make_client());
  EXPECT_EQ(folder, directory_ / ("models--org--m/snapshots/" + commit));
  EXPECT_EQ(read_file(folder / "model.safetensors"), "weights");
  EXPECT_TRUE(fs::exists(folder / "config.json"));
  EXPECT_TRUE(fs::exists(folder / "tokenizer.json"));
  EXPECT_FALSE(fs::exists(folder / "README.md"));
  EXPECT_FALSE(fs::exists(folder / "pytorch_model.bin"));
  EXPECT_EQ(log_, "Fetching org/m, 3 files of 0 MB, to " + folder.string() + "\n");
}

TEST_F(HubFetch, TakesTheShardsOfAnIndex) {
  hub_.commit("models/org/m",
              {{"config.json", "{}"},
               {"vocab.txt", "a"},
               {"model.safetensors.index.json",
                R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})"},
               {"model-1.safetensors", "one"},
               {"model-2.safetensors", "two"},
               {"other-3.safetensors", "three"}});
  const auto folder = fetch(make_client());
  EXPECT_EQ(read_file(folder / "model-2.safetensors"), "two");
  EXPECT_FALSE(fs::exists(folder / "other-3.safetensors"));
  EXPECT_TRUE(hub::is_whole_model(folder));
}

TEST_F(HubFetch, RefusesAShardElsewhere) {
  hub_.commit("models/org/m",
              {{"config.json", "{}"},
               {"model.safetensors.index.json", R"({"weight_map": {"a": "../../x"}})"}});
  EXPECT_NE(problem_of([&] { fetch(make_client()); }).find("is not a file name"),
            std::string::npos);
}

TEST_F(HubFetch, AsksForTheCommitOfABranchOnly) {
  const auto commit = hub_.commit("models/org/m", small_model("weights"));
  fetch(make_client());
  const auto client = make_client();
  const auto folder = fetch(client);
  EXPECT_EQ(transport_->seen().size(), 1U);
  EXPECT_EQ(fetch(make_client_alone(), "org/m@" + commit), folder);
}

TEST_F(HubFetch, FollowsABranch) {
  hub_.commit("models/org/m", small_model("first"));
  fetch(make_client());
  hub_.commit("models/org/m", small_model("second"));
  EXPECT_EQ(read_file(fetch(make_client()) / "model.safetensors"), "second");
}

TEST_F(HubFetch, UsesTheCacheWithAWarningIfTheHubIsAway) {
  const auto commit = hub_.commit("models/org/m", small_model("weights"));
  const auto folder = fetch(make_client());
  log_.clear();
  EXPECT_EQ(fetch(make_client_alone()), folder);
  EXPECT_EQ(log_, "org/m: the hub cannot be reached: no route; using " + commit +
                      " from the cache, which was fetched earlier\n");
  const auto busy = make_client([](const auto&) { return http::Response{503}; });
  EXPECT_EQ(fetch(busy), folder);
}

TEST_F(HubFetch, KeepsToTheOldCommitIfTheHubGoesAwayMeanwhile) {
  hub_.commit("models/org/m", small_model("first"));
  const auto folder = fetch(make_client());
  hub_.commit("models/org/m", small_model("second"));
  const auto client = make_client([this](const FakeTransport::Seen& seen) {
    if (seen.origin == "https://files.test") throw http::TransportError{"cut"};
    return answer(seen);
  });
  EXPECT_EQ(fetch(client), folder);
}

TEST_F(HubFetch, HasNothingToUseTheFirstTime) {
  EXPECT_NE(problem_of([&] { fetch(make_client_alone()); }).find("cannot be reached"),
            std::string::npos);
  EXPECT_NE(problem_of([&] { fetch(make_offline_client()); }).find("unset HF_HUB_OFFLINE"),
            std::string::npos);
}

TEST_F(HubFetch, SendsNothingInOfflineMode) {
  hub_.commit("models/org/m", small_model("weights"));
  const auto folder = fetch(make_client());
  EXPECT_EQ(fetch(make_offline_client()), folder);
  fs::remove(folder / "tokenizer.json");
  EXPECT_NE(problem_of([&] { fetch(make_offline_client()); }).find("as a whole"),
            std::string::npos);
}

TEST_F(HubFetch, CompletesAnIncompleteSnapshot) {
  const auto commit = hub_.commit("models/org/m", small_model("weights"));
  const auto folder = fetch(make_client());
  fs::remove(folder / "model.safetensors");
  EXPECT_EQ(fetch(make_client(), "org/m@" + commit), folder);
  EXPECT_TRUE(fs::exists(folder / "model.safetensors"));
}

}  // namespace
}  // namespace seqtrain::tests
