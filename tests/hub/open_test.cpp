#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/hub/open.hpp>

#include "support/fake_hub.hpp"
#include "support/fault_server.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

/// A hub and the server of its large files on two ports, with faults.
class HubOverHttp : public testing::Test {
 protected:
  HubOverHttp() {
    hub_.service.keep_large_files(files_.service, "http://127.0.0.1:" + files_.port());
    hub_.service.commit(
        "models/org/m",
        {{"config.json", "{}"}, {"vocab.txt", "[UNK]\n"}, {"model.safetensors", weights_}});
  }

  std::optional<std::string> variable(const std::string& name) const {
    if (name == "HF_ENDPOINT") return "http://127.0.0.1:" + hub_.port();
    if (name == "HF_HUB_CACHE") return directory_.path().string();
    if (name == "HF_TOKEN") return "hf_secret";
    return {};
  }
  std::filesystem::path fetch(const hub::Client& client) const {
    return hub::fetch_model(client, hub::Cache{client.settings().cache}, hub::Name::parse("org/m"));
  }
  /// Fetches with a client that waits only briefly between attempts.
  void expect_fetched() const {
    const auto environment = [this](const std::string& name) { return variable(name); };
    const hub::Client client{http::open_transport(),
                             hub::Settings::from(environment),
                             {.retry = {.first = http::Seconds{0.01}}}};
    EXPECT_EQ(read_file(fetch(client) / "model.safetensors"), weights_);
  }

  const std::string weights_ = [] {
    std::string text;
    for (int i = 0; i < 300'000; ++i) text += std::to_string(i);
    return text;
  }();
  FaultyServer<FakeHub> hub_;
  FaultyServer<FakeFileStore> files_;
  TemporaryDirectory directory_;
};

TEST_F(HubOverHttp, AModelIsFetched) {
  const auto client =
      hub::open_client({}, [this](const std::string& name) { return variable(name); });
  EXPECT_EQ(read_file(fetch(client) / "model.safetensors"), weights_);
  EXPECT_EQ(hub_.count("HEAD /org/m/resolve/"), 3);
  for (const auto& token : files_.authorizations()) EXPECT_EQ(token, "");
  for (const auto& token : hub_.authorizations()) EXPECT_EQ(token, "Bearer hf_secret");
}

TEST_F(HubOverHttp, ACutBodyIsContinued) {
  files_.script({.kind = Fault::cut_answer});
  expect_fetched();
  EXPECT_EQ(files_.count("GET"), 2);
  EXPECT_EQ(files_.count("bytes="), 1);
}

TEST_F(HubOverHttp, LostAnswersAreAskedForAgain) {
  hub_.script({.kind = Fault::lose_answer, .contains = "/api/"});
  hub_.script({.kind = Fault::lose_answer, .method = "HEAD"});
  hub_.script({.kind = Fault::answer, .method = "HEAD", .response = {502}});
  expect_fetched();
}

TEST_F(HubOverHttp, AWrongBodyIsFetchedAgain) {
  files_.script({.kind = Fault::answer, .response = {200, {}, std::string(weights_.size(), '?')}});
  expect_fetched();
}

TEST_F(HubOverHttp, AChunkedBodyIsTaken) {
  files_.script({.kind = Fault::chunked});
  expect_fetched();
}

TEST_F(HubOverHttp, TwoAtOnceFetchAFileOnce) {
  {
    const std::jthread other{[this] { expect_fetched(); }};
    expect_fetched();
  }
  EXPECT_EQ(files_.count("GET"), 1);
}

}  // namespace
}  // namespace seqtrain::tests
