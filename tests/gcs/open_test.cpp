#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/gcs/open.hpp>

namespace seqtrain::gcs {
namespace {

ClientOptions options_with(const std::map<std::string, std::string>& variables) {
  return {.environment = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return {};
    return found->second;
  }};
}

TEST(GcsOpenClient, TakesTheProjectThatPaysFromTheEnvironment) {
  auto options = options_with({{"GOOGLE_CLOUD_QUOTA_PROJECT", "payer"}});
  EXPECT_EQ(detail::session_options(options).user_project, "payer");
  options.user_project = "other";
  EXPECT_EQ(detail::session_options(options).user_project, "other");
  EXPECT_EQ(detail::session_options(options_with({})).user_project, "");
}

TEST(GcsOpenClient, SendsNoCredentialsIfTheEnvironmentSaysSo) {
  const std::string broken = "/nonexistent/credentials.json";
  for (const std::string value : {"true", "True", "1"}) {
    const auto options = options_with(
        {{"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", value}, {"GOOGLE_APPLICATION_CREDENTIALS", broken}});
    EXPECT_NE(dynamic_cast<Anonymous*>(detail::credentials_for(options, false).get()), nullptr);
  }
  const auto options = options_with(
      {{"CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "false"}, {"GOOGLE_APPLICATION_CREDENTIALS", broken}});
  EXPECT_THROW((void)detail::credentials_for(options, false), InputError);
}

}  // namespace
}  // namespace seqtrain::gcs
