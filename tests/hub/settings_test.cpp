#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/settings.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::hub {
namespace {

Settings settings_of(std::map<std::string, std::string> variables) {
  variables.try_emplace("HOME", "/home/me");
  return Settings::from([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  });
}

TEST(HubSettings, ArePublicByDefault) {
  const auto settings = settings_of({});
  EXPECT_EQ(settings.cache, "/home/me/.cache/huggingface/hub");
  EXPECT_EQ(settings.url("/api").origin(), "https://huggingface.co");
  EXPECT_EQ(settings.url("/api").target, "/api");
  EXPECT_EQ(settings.token, "");
  EXPECT_FALSE(settings.offline);
}

TEST(HubSettings, FindTheCacheAsThePythonPackageDoes) {
  EXPECT_EQ(settings_of({{"XDG_CACHE_HOME", "/x"}}).cache, "/x/huggingface/hub");
  EXPECT_EQ(settings_of({{"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "~/hf"}}).cache, "/home/me/hf/hub");
  EXPECT_EQ(settings_of({{"HF_HOME", "/hf"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache, "/old");
  EXPECT_EQ(settings_of({{"HF_HUB_CACHE", "/new"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache,
            "/new");
}

TEST(HubSettings, TakeTheTokenFromTheEnvironmentOrAFile) {
  const tests::TemporaryDirectory directory;
  const auto home = directory.path().string();
  EXPECT_EQ(settings_of({{"HF_HOME", home}}).token, "");
  tests::write_file(directory / "token", "hf_file\n");
  EXPECT_EQ(settings_of({{"HF_HOME", home}}).token, "hf_file");
  EXPECT_EQ(settings_of({{"HF_HOME", home}, {"HF_TOKEN", " hf_given "}}).token, "hf_given");
  EXPECT_EQ(settings_of({{"HF_TOKEN_PATH", home + "/token"}}).token, "hf_file");
}

TEST(HubSettings, TakeAnEndpointWithAPath) {
  const auto settings = settings_of({{"HF_ENDPOINT", "http://mirror:8000/hub/"}});
  EXPECT_EQ(settings.url("/api/models").origin(), "http://mirror:8000");
  EXPECT_EQ(settings.url("/api/models").target, "/hub/api/models");
  EXPECT_THROW(settings_of({{"HF_ENDPOINT", "mirror"}}), InputError);
}

TEST(HubSettings, MayForbidRequests) {
  EXPECT_TRUE(settings_of({{"HF_HUB_OFFLINE", "1"}}).offline);
  EXPECT_TRUE(settings_of({{"TRANSFORMERS_OFFLINE", "yes"}}).offline);
  EXPECT_FALSE(settings_of({{"HF_HUB_OFFLINE", "0"}}).offline);
}

}  // namespace
}  // namespace seqtrain::hub
