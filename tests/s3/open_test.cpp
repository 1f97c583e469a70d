#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/s3/open.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

/// An environment and a file of profiles.
class S3Open : public testing::Test {
 protected:
  s3::SessionOptions options() {
    const Environment environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return {};
      return found->second;
    };
    const auto profiles = s3::Profiles::from(environment);
    return s3::detail::session_options({.environment = environment},
                                       s3::Surroundings::from(environment, profiles));
  }
  void config(const std::string& text) { write_file(directory_ / "config", text); }

  TemporaryDirectory directory_;
  std::map<std::string, std::string> variables_{
      {"AWS_CONFIG_FILE", (directory_ / "config").string()},
      {"AWS_SHARED_CREDENTIALS_FILE", (directory_ / "credentials").string()}};
};

TEST_F(S3Open, UsesAmazonsServiceUnlessAnotherIsNamed) {
  EXPECT_FALSE(options().endpoint);
  EXPECT_FALSE(options().path_style);
  EXPECT_FALSE(options().dual_stack);
  EXPECT_EQ(options().region, "us-east-1");
  variables_["AWS_USE_DUALSTACK_ENDPOINT"] = "true";
  EXPECT_TRUE(options().dual_stack);
}

TEST_F(S3Open, TakesTheMostSpecialAddressFirst) {
  config("[default]\nendpoint_url = http://profile:1\n");
  EXPECT_EQ(options().endpoint->origin(), "http://profile:1");
  variables_["AWS_ENDPOINT_URL"] = "http://all:2";
  EXPECT_EQ(options().endpoint->origin(), "http://all:2");
  variables_["AWS_ENDPOINT_URL_S3"] = "http://storage:3";
  EXPECT_EQ(options().endpoint->origin(), "http://storage:3");
  variables_["AWS_ENDPOINT_URL_S3"] = "storage:3";
  EXPECT_NE(problem_of([&] { options(); }).find("AWS_ENDPOINT_URL"), std::string::npos);
}

TEST_F(S3Open, PutsTheBucketWhereTheProfileSays) {
  const auto in_path = [&](const std::string& style) {
    config("[default]\ns3 =\n  addressing_style = " + style + "\n");
    return options().path_style;
  };
  EXPECT_TRUE(in_path("path"));
  EXPECT_FALSE(in_path("virtual"));
  EXPECT_FALSE(in_path("auto"));
  variables_["AWS_ENDPOINT_URL"] = "http://other:1";
  EXPECT_TRUE(in_path("path"));
  EXPECT_FALSE(in_path("virtual"));
  EXPECT_TRUE(in_path("auto"));
}

TEST_F(S3Open, TakesTheRegionOfTheEnvironmentBeforeTheProfiles) {
  config("[default]\nregion = eu-west-1\n");
  EXPECT_EQ(options().region, "eu-west-1");
  variables_["AWS_DEFAULT_REGION"] = "eu-west-2";
  EXPECT_EQ(options().region, "eu-west-2");
  variables_["AWS_REGION"] = "eu-west-3";
  EXPECT_EQ(options().region, "eu-west-3");
}

}  // namespace
}  // namespace seqtrain::tests
