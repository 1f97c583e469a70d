#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/fetch.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

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

TEST_F(HubFetch, TakesTheModulesThatTheListNames) {
  auto files = small_model("weights");
  files["modules.json"] = R"([{"type": "m.Transformer", "path": ""},
    {"type": "m.Pooling", "path": "mean"}, {"type": "m.Dense", "path": "head"},
    {"type": "m.Normalize", "path": "2_Normalize"}])";
  for (const auto* const file : {"mean/config.json", "head/config.json", "head/model.safetensors",
                                 "old/1_Pooling/config.json", "9_Dense/model.safetensors"}) {
    files[file] = "{}";
  }
  hub_.commit("models/org/m", files);
  const auto folder = fetch(make_client());
  for (const auto* const file :
       {"mean/config.json", "head/config.json", "head/model.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder / file)) << file;
  }
  EXPECT_FALSE(fs::exists(folder / "old"));
  EXPECT_FALSE(fs::exists(folder / "9_Dense"));
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

namespace seqtrain::hub {
namespace {

using Files = std::vector<std::string>;

TEST(ModelFiles, LeavesOutWhatIsNotNeeded) {
  EXPECT_EQ(
      model_files({".gitattributes", "README.md", "config.json", "flax_model.msgpack", "merges.txt",
                   "model.safetensors", "onnx/model.onnx", "pytorch_model.bin", "tokenizer.json",
                   "vocab.json"},
                  "m"),
      (Files{"config.json", "tokenizer.json", "vocab.json", "merges.txt", "model.safetensors"}));
  EXPECT_EQ(model_files({"config.json", "pytorch_model.bin", "vocab.txt"}, "m"),
            (Files{"config.json", "vocab.txt", "pytorch_model.bin"}));
  EXPECT_EQ(model_files({"config.json", "model-00001-of-00002.safetensors",
                         "model.safetensors.index.json", "pytorch_model.bin", "tokenizer.json"},
                        "m"),
            (Files{"config.json", "tokenizer.json", "model.safetensors.index.json"}));
  EXPECT_EQ(
      model_files({"config.json", "config_sentence_transformers.json", "model.safetensors"}, "m"),
      (Files{"config.json", "config_sentence_transformers.json", "model.safetensors"}));
  EXPECT_EQ(model_files({"config.json", "model.safetensors", "sentence_roberta_config.json",
                         "sentence_bert_config.json"},
                        "m"),
            (Files{"config.json", "sentence_bert_config.json", "model.safetensors"}));
}

TEST(ModelFiles, TakesTheListOfModulesOfASentenceEncoder) {
  EXPECT_EQ(model_files({"1_Pooling/config.json", "config.json", "model.safetensors",
                         "modules.json", "onnx/model.onnx"},
                        "m"),
            (Files{"config.json", "modules.json", "model.safetensors"}));
}

TEST(ModelFiles, TakesASentencePieceModelIfThereIsNoTokenizerJson) {
  const std::vector<std::string> all{"config.json", "spm.model", "tokenizer_config.json",
                                     "model.safetensors"};
  EXPECT_EQ(model_files(all, "org/m"),
            (std::vector<std::string>{"config.json", "tokenizer_config.json", "spm.model",
                                      "model.safetensors"}));
  auto with_json = all;
  with_json.emplace_back("tokenizer.json");
  EXPECT_EQ(model_files(with_json, "org/m"),
            (std::vector<std::string>{"config.json", "tokenizer.json", "tokenizer_config.json",
                                      "model.safetensors"}));
}

TEST(ModelFiles, TakesTheHeadOfAModelOfSetfit) {
  EXPECT_EQ(model_files({"config.json", "config_setfit.json", "model.safetensors", "model_head.pkl",
                         "modules.json"},
                        "m"),
            (Files{"config.json", "modules.json", "model_head.pkl", "config_setfit.json",
                   "model.safetensors"}));
}

TEST(ModelFiles, TakesAnAdapterOfEitherFormat) {
  EXPECT_EQ(model_files({"README.md", "adapter_config.json", "adapter_model.safetensors"}, "m"),
            (Files{"adapter_config.json", "adapter_model.safetensors"}));
  EXPECT_EQ(
      model_files({"adapter_config.json", "adapter_model.safetensors", "config.json", "vocab.txt"},
                  "m"),
      (Files{"config.json", "vocab.txt", "adapter_config.json", "adapter_model.safetensors"}));
  EXPECT_EQ(model_files({"adapter_config.json", "adapter_model.bin"}, "m"),
            (Files{"adapter_config.json", "adapter_model.bin"}));
  EXPECT_EQ(
      model_files({"adapter_config.json", "adapter_model.bin", "adapter_model.safetensors"}, "m"),
      (Files{"adapter_config.json", "adapter_model.safetensors"}));
}

TEST(ModelFiles, RefusesAModelAndAnAdapterInOneRepository) {
  EXPECT_NE(tests::problem_of([] {
              static_cast<void>(model_files(
                  {"adapter_config.json", "config.json", "model.safetensors"}, "org/m"));
            }).find("org/m: holds a model and an adapter; put the one that you mean into a folder"),
            std::string::npos);
}

TEST(ModelFiles, SaysWhatIsMissing) {
  EXPECT_NE(tests::problem_of([] {
              static_cast<void>(model_files({"model.safetensors"}, "org/m"));
            }).find("org/m: has no config.json"),
            std::string::npos);
  EXPECT_NE(tests::problem_of([] {
              static_cast<void>(model_files({"config.json", "tf_model.h5"}, "org/m"));
            }).find("no weights in a known format"),
            std::string::npos);
}

TEST(WholeModel, NeedsEachShard) {
  const tests::TemporaryDirectory folder;
  tests::write_file(folder / "config.json", "{}");
  EXPECT_FALSE(is_whole_model(folder.path()));
  tests::write_file(folder / "tokenizer.json", "{}");
  tests::write_file(folder / "model.safetensors.index.json",
                    R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  tests::write_file(folder / "one.safetensors", "");
  EXPECT_FALSE(is_whole_model(folder.path()));
  tests::write_file(folder / "two.safetensors", "");
  EXPECT_TRUE(is_whole_model(folder.path()));
  tests::write_file(folder / "modules.json", R"([{"type": "m.Pooling", "path": "1_Pooling"}])");
  EXPECT_FALSE(is_whole_model(folder.path()));
  std::filesystem::create_directory(folder / "1_Pooling");
  tests::write_file(folder / "1_Pooling/config.json", "{}");
  EXPECT_TRUE(is_whole_model(folder.path()));
  tests::write_file(folder / "model.safetensors.index.json", "{");
  EXPECT_FALSE(is_whole_model(folder.path()));
}

TEST(WholeModel, NeedsTheModulesOfAnAdapter) {
  const tests::TemporaryDirectory folder;
  tests::write_file(folder / "adapter_config.json", "{}");
  EXPECT_FALSE(is_whole_model(folder.path()));
  tests::write_file(folder / "adapter_model.safetensors", "");
  EXPECT_TRUE(is_whole_model(folder.path()));
  tests::write_file(folder / "modules.json", R"([{"type": "m.Pooling", "path": "1_Pooling"}])");
  EXPECT_FALSE(is_whole_model(folder.path()));
  std::filesystem::create_directory(folder / "1_Pooling");
  tests::write_file(folder / "1_Pooling/config.json", "{}");
  EXPECT_TRUE(is_whole_model(folder.path()));
}

}  // namespace
}  // namespace seqtrain::hub
