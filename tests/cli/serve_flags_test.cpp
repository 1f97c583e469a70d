#include <list>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/serve_flags.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::cli {
namespace {

/// Parses flags in an environment without variables.
struct ServeFlagsTest : testing::Test {
  ServeFlagsTest() {
    for (const char* name :
         {"AIP_STORAGE_URI", "AIP_HEALTH_ROUTE", "AIP_PREDICT_ROUTE", "AIP_HTTP_PORT", "HOSTNAME",
          "PORT", "SEQTRAIN_HOST", "API_KEY", "MAX_BATCH_TOKENS", "MAX_CONCURRENT_REQUESTS",
          "MAX_CLIENT_BATCH_SIZE", "PAYLOAD_LIMIT"}) {
      set.emplace_back(name, std::nullopt);
    }
  }

  static ServeFlags parsed(std::vector<const char*> arguments) {
    ServeFlags flags;
    arguments.insert(arguments.begin(), "serve");
    EXPECT_TRUE(flags.parse(static_cast<int>(arguments.size()), arguments.data()));
    return flags;
  }

  std::list<tests::Environment> set;
};

TEST_F(ServeFlagsTest, HaveDefaults) {
  const auto flags = parsed({"--model", "m"});
  EXPECT_EQ(flags.model, "m");
  EXPECT_EQ(flags.host, "127.0.0.1");
  EXPECT_EQ(flags.service_options().access.api_key, "");
  EXPECT_EQ(flags.port, 8080);
  EXPECT_EQ(flags.precision, "auto");
  EXPECT_EQ(flags.service_options().max_batch_tokens, 16384u);
  EXPECT_EQ(flags.service_options().predict_route, "/predict");
  EXPECT_EQ(flags.service_options().model_name, "model");
}

TEST_F(ServeFlagsTest, TheEnvironmentGivesDefaultsAndTheCommandLineWins) {
  set.emplace_back("AIP_STORAGE_URI", "gs://bucket/model");
  set.emplace_back("AIP_HTTP_PORT", "7080");
  set.emplace_back("PORT", "3000");
  set.emplace_back("AIP_HEALTH_ROUTE", "/ping");
  set.emplace_back("AIP_PREDICT_ROUTE", "/predictions/bert");
  set.emplace_back("HOSTNAME", "127.0.0.1");
  set.emplace_back("MAX_BATCH_TOKENS", "1");
  set.emplace_back("MAX_CONCURRENT_REQUESTS", "2");
  set.emplace_back("MAX_CLIENT_BATCH_SIZE", "3");
  set.emplace_back("PAYLOAD_LIMIT", "4");
  const auto given = parsed({});
  EXPECT_EQ(given.model, "gs://bucket/model");
  EXPECT_EQ(given.port, 7080);
  EXPECT_EQ(given.host, "127.0.0.1");
  EXPECT_EQ(given.payload_limit, 4);
  const auto options = given.service_options();
  EXPECT_EQ(options.max_batch_tokens, 1u);
  EXPECT_EQ(options.max_concurrent_requests, 2u);
  EXPECT_EQ(options.max_client_batch_size, 3u);
  EXPECT_EQ(options.health_route, "/ping");
  EXPECT_EQ(options.predict_route, "/predictions/bert");
  const auto said = parsed({"--model", "m", "--port", "1", "--host", "::1", "--payload_limit=5",
                            "--model-name=A-1.b_~"});
  EXPECT_EQ(said.service_options().model_name, "A-1.b_~");
  EXPECT_EQ(said.service_options().max_windows, 128u);
  EXPECT_EQ(parsed({"--max-windows=7"}).service_options().max_windows, 7u);
  EXPECT_EQ(said.model, "m");
  EXPECT_EQ(said.port, 1);
  EXPECT_EQ(said.host, "::1");
  EXPECT_EQ(said.payload_limit, 5);
}

TEST_F(ServeFlagsTest, AContainersNameIsNoAddress) {
  set.emplace_back("HOSTNAME", "5f0c2a91b7d3");
  EXPECT_EQ(parsed({"--model", "m"}).host, "127.0.0.1");
}

TEST_F(ServeFlagsTest, AContainerListensOnAllItsAddresses) {
  for (const char* name : {"PORT", "AIP_HTTP_PORT"}) {
    const tests::Environment port{name, "7080"};
    EXPECT_EQ(parsed({"--model", "m"}).host, "0.0.0.0") << name;
  }
  const tests::Environment image{"SEQTRAIN_HOST", "0.0.0.0"};
  EXPECT_EQ(parsed({"--model", "m"}).host, "0.0.0.0");
  EXPECT_EQ(parsed({"--model", "m", "--host", "::1"}).host, "::1");
}

TEST_F(ServeFlagsTest, SayWhoMayUseTheServer) {
  const tests::Environment key{"API_KEY", "secret"};
  const auto access = parsed({"--model", "m", "--cors-allow-origin", "http://a,https://b",
                              "--allowed-hosts=localhost"})
                          .service_options()
                          .access;
  EXPECT_EQ(access.origins, (std::vector<std::string>{"http://a", "https://b"}));
  EXPECT_EQ(access.hosts, std::vector<std::string>{"localhost"});
  EXPECT_EQ(access.api_key, "secret");
  EXPECT_EQ(parsed({"--model", "m", "--api-key=other"}).api_key, "other");
}

TEST_F(ServeFlagsTest, SayWhatIsWrong) {
  EXPECT_NE(tests::problem_of([] { parsed({}); }).find("--model: is needed"), std::string::npos);
  for (const char* flag :
       {"--port=65536", "--port=-1", "--threads=0", "--max-batch-tokens=0",
        "--max-concurrent-requests=0", "--max-client-batch-size=0", "--payload-limit=0",
        "--max-windows=0", "--max-buffered-bytes=1", "--grace-seconds=0",
        "--model-name=", "--model-name=a/b", "--model-name=a b", "--model-name=\xc3\xa9"}) {
    const std::string name{flag, std::string{flag}.find('=')};
    EXPECT_NE(tests::problem_of([&] {
                parsed({"--model=m", flag});
              }).find(name),
              std::string::npos)
        << flag;
  }
  set.emplace_back("PORT", "tcp://10.0.0.1:80");
  EXPECT_EQ(tests::problem_of([] { parsed({"--model=m"}); }),
            "PORT: 'tcp://10.0.0.1:80' is not a number");
}

}  // namespace
}  // namespace seqtrain::cli
