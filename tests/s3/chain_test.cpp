#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/s3/chain.hpp>

#include "support/fake_transport.hpp"
#include "support/problem_of.hpp"
#include "support/sleepless_time.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

using s3::Keys;

/// An environment, two files of profiles, and services that answer.
class S3Chain : public testing::Test {
 protected:
  S3Chain() {
    write_file(directory_ / "token", "web-token\n");
    variables_ = {{"HOME", directory_.path().string()},
                  {"AWS_CONFIG_FILE", (directory_ / "config").string()},
                  {"AWS_SHARED_CREDENTIALS_FILE", (directory_ / "credentials").string()}};
  }

  std::unique_ptr<s3::Credentials> find() {
    const Environment environment = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return {};
      return found->second;
    };
    const auto profiles = s3::Profiles::from(environment);
    return s3::find_credentials(s3::Surroundings::from(environment, profiles), transport_);
  }
  http::Fresh<Keys> fetch() { return find()->fetch({transport_, retry_, timing_, log_}); }

  void config(const std::string& text) { write_file(directory_ / "config", text); }
  void credentials(const std::string& text) { write_file(directory_ / "credentials", text); }

  http::Response answer(const FakeTransport::Seen& seen) {
    asked_.push_back(seen.method + " " + seen.origin + seen.target);
    if (seen.target == "/latest/api/token") return {has_metadata_ ? 200 : 404, {}, "session"};
    if (seen.target.ends_with("/security-credentials/")) {
      return {seen.header("x-aws-ec2-metadata-token") == "session" ? 200 : 401, {}, "my role\n"};
    }
    if (seen.target.ends_with("/my%20role")) {
      return {200, {}, R"({"AccessKeyId": "machine", "SecretAccessKey": "s", "Token": "t",
                           "Expiration": "2023-11-14T23:13:20Z"})"};
    }
    if (seen.target == "/keys") {
      return {seen.header("Authorization") == "web-token" ? 200 : 403,
              {},
              R"({"AccessKeyId": "container", "SecretAccessKey": "s", "Token": "t"})"};
    }
    if (seen.target.starts_with("/federation/credentials?")) {
      return {200, {}, R"({"roleCredentials": {"accessKeyId": "sso", "secretAccessKey": "s",
                           "sessionToken": "t", "expiration": 1700003600000}})"};
    }
    return sts(seen);
  }

  http::Response sts(const FakeTransport::Seen& seen) const {
    const bool web = seen.body.find("WebIdentityToken=web-token") != std::string::npos;
    const bool is_signed =
        seen.header("Authorization").find("/sts/aws4_request") != std::string::npos;
    if (!broken_.empty()) return {403, {}, broken_};
    if (is_signed && seen.header("x-amz-date").substr(0, 11) != "20231114T22") {
      return {403, {{"Date", "Tue, 14 Nov 2023 22:13:20 GMT"}}, "<ErrorResponse/>"};
    }
    if (refuses_roles_ || web == is_signed) {
      return {403, {}, "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>"};
    }
    const std::string action = web ? "AssumeRoleWithWebIdentity" : "AssumeRole";
    return {200,
            {{"Date", "Tue, 14 Nov 2023 22:13:20 GMT"}},
            "<" + action + "Response><" + action +
                "Result><Credentials><AccessKeyId>role"
                "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
                "<Expiration>2023-11-14T23:13:20Z</Expiration></Credentials></" +
                action + "Result></" + action + "Response>"};
  }

  TemporaryDirectory directory_;
  std::map<std::string, std::string> variables_;
  bool has_metadata_ = false;
  bool refuses_roles_ = false;
  std::string broken_ = {};  ///< the body of a refusal of roles, if not empty
  std::vector<std::string> asked_;
  FakeTransport transport_{[this](const auto& seen) { return answer(seen); }};
  SleeplessTime time_;
  http::Timing timing_ = time_.timing();
  http::RetryPolicy retry_;
  http::Log log_;
};

TEST_F(S3Chain, TakesTheEnvironmentFirst) {
  credentials("[default]\naws_access_key_id = file\naws_secret_access_key = s\n");
  variables_.insert(
      {{"AWS_ACCESS_KEY_ID", "key"}, {"AWS_SECRET_ACCESS_KEY", "s"}, {"AWS_SESSION_TOKEN", "t"}});
  EXPECT_EQ(fetch().value, (Keys{"key", "s", "t"}));
  EXPECT_FALSE(fetch().lifetime);
  variables_["AWS_NO_SIGN_REQUEST"] = "YES";
  EXPECT_EQ(fetch().value, Keys{});
}

TEST_F(S3Chain, ReadsProfilesOfBothFiles) {
  credentials(
      "# a comment\n[default]\naws_access_key_id = file\naws_secret_access_key=a=b\n"
      "[other]\naws_access_key_id=other\naws_secret_access_key = s\r\n");
  config("[profile other]\nregion = eu-west-1\ns3 =\n  addressing_style = path\noutput = json\n");
  EXPECT_EQ(fetch().value, (Keys{"file", "a=b", ""}));
  variables_["AWS_PROFILE"] = "other";
  EXPECT_EQ(fetch().value, (Keys{"other", "s", ""}));
  const Environment environment = [this](const std::string& name) {
    const auto found = variables_.find(name);
    return found == variables_.end() ? std::nullopt : std::optional{found->second};
  };
  const auto profiles = s3::Profiles::from(environment);
  const auto around = s3::Surroundings::from(environment, profiles);
  EXPECT_EQ(around.region, "eu-west-1");
  EXPECT_EQ(s3::setting(around.profile(), "s3.addressing_style"), "path");
  EXPECT_EQ(s3::setting(around.profile(), "output"), "json");
}

TEST_F(S3Chain, RunsTheProgramOfAProfile) {
  config(
      "[default]\ncredential_process = echo '{\"AccessKeyId\": \"program\", "
      "\"SecretAccessKey\": \"s\", \"Expiration\": \"2023-11-14T22:23:20Z\"}'\n");
  EXPECT_EQ(fetch().value, (Keys{"program", "s", ""}));
  EXPECT_EQ(fetch().lifetime, http::Seconds{600});
  config("[default]\ncredential_process = false\n");
  EXPECT_NE(problem_of([&] { fetch(); }).find("ended with an error"), std::string::npos);
}

TEST_F(S3Chain, TakesTheRoleOfAWebIdentity) {
  variables_.insert({{"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                     {"AWS_WEB_IDENTITY_TOKEN_FILE", (directory_ / "token").string()},
                     {"AWS_REGION", "eu-west-1"}});
  EXPECT_EQ(fetch().value, (Keys{"role", "s", "t"}));
  EXPECT_EQ(fetch().lifetime, http::Seconds{3600});
  EXPECT_EQ(asked_.back(), "POST https://sts.eu-west-1.amazonaws.com/");
  time_.wall_seconds = 4'000'000'000;
  EXPECT_EQ(fetch().lifetime, http::Seconds{3600}) << "the clock of the service counts";
  refuses_roles_ = true;
  const auto said = problem_of([&] { fetch(); });
  EXPECT_NE(said.find("the role is not given: status 403, AccessDenied"), std::string::npos)
      << said;
  EXPECT_EQ(said.find("web-token"), std::string::npos);
}

TEST_F(S3Chain, TakesTheRoleOfAProfileByAnotherProfile) {
  config(
      "[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\n"
      "[profile base]\naws_access_key_id = base\naws_secret_access_key = s\n");
  variables_["AWS_PROFILE"] = "work";
  EXPECT_EQ(fetch().value, (Keys{"role", "s", "t"}));
  config("[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = work\n");
  EXPECT_NE(problem_of([&] { fetch(); }).find("lead to each other"), std::string::npos);
  config("[profile work]\nrole_arn = arn:aws:iam::1:role/r\n");
  EXPECT_NE(problem_of([&] { fetch(); }).find("add source_profile"), std::string::npos);
}

TEST_F(S3Chain, TakesARoleWithAWrongClockToo) {
  config(
      "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\n"
      "[profile base]\naws_access_key_id = base\naws_secret_access_key = s\n");
  time_.wall_seconds = 1'700'000'000 + 3 * 3600;
  EXPECT_EQ(fetch().value, (Keys{"role", "s", "t"}));
  EXPECT_EQ(asked_.size(), 2U);
}

TEST_F(S3Chain, SaysThatARoleIsRefusedInWhateverForm) {
  variables_.insert({{"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                     {"AWS_WEB_IDENTITY_TOKEN_FILE", (directory_ / "token").string()}});
  for (const std::string& answer :
       {std::string{"<html>"},
        "<E><Error><Code>\x1b[2J" + std::string(100'000, 'x') + "\n</Code></Error></E>"}) {
    broken_ = answer;
    const auto said = problem_of([&] { fetch(); });
    EXPECT_NE(said.find("the role is not given: status 403"), std::string::npos) << said;
    EXPECT_EQ(said.find_first_of("\x1b\n"), std::string::npos) << said;
    EXPECT_LT(said.size(), 300U);
  }
}

TEST_F(S3Chain, TakesAProfileThatNamesItselfAndItsOwnKeys) {
  config(
      "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = default\n"
      "aws_access_key_id = base\naws_secret_access_key = s\n");
  EXPECT_EQ(fetch().value, (Keys{"role", "s", "t"}));
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(S3Chain, TakesARoleByACredentialSource) {
  const auto role = [&](const std::string& source) {
    config("[default]\nrole_arn = arn:aws:iam::1:role/r\ncredential_source = " + source + "\n");
    has_metadata_ = true;
    asked_.clear();
    return fetch().value;
  };
  EXPECT_EQ(role("Ec2InstanceMetadata"), (Keys{"role", "s", "t"}));
  EXPECT_EQ(asked_.front(), "PUT http://169.254.169.254/latest/api/token");
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://127.0.0.1/keys";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "web-token";
  EXPECT_EQ(role("EcsContainer"), (Keys{"role", "s", "t"}));
  EXPECT_EQ(asked_.front(), "GET http://127.0.0.1/keys");
  EXPECT_NE(problem_of([&] { role("Environment"); }).find("add source_profile"), std::string::npos);
  EXPECT_NE(problem_of([&] { role("Moon"); }).find("unknown credential_source"), std::string::npos);
}

TEST_F(S3Chain, ReadsTheTimeZoneOfAnEnd) {
  for (const char* end : {"2023-11-14T14:23:20-08:00", "2023-11-14T22:23:20Z",
                          "2023-11-14T22:23:20", "2023-11-15T00:23:20.123+0200"}) {
    config(
        "[default]\ncredential_process = echo '{\"AccessKeyId\": \"program\", "
        "\"SecretAccessKey\": \"s\", \"Expiration\": \"" +
        std::string{end} + "\"}'\n");
    EXPECT_EQ(fetch().lifetime, http::Seconds{600}) << end;
  }
  config(
      "[default]\ncredential_process = echo '{\"AccessKeyId\": \"program\", "
      "\"SecretAccessKey\": \"s\", \"Expiration\": \"2023-11-14T22:23:20 tomorrow\"}'\n");
  EXPECT_NE(problem_of([&] { fetch(); }).find("no date"), std::string::npos);
}

TEST_F(S3Chain, TakesALoginOfIdentityCenter) {
  config(
      "[default]\nsso_session = mine\nsso_account_id = 12\nsso_role_name = reader\n"
      "[sso-session mine]\nsso_region = eu-west-1\nsso_start_url = https://x\n");
  EXPECT_NE(problem_of([&] { fetch(); }).find("run `aws sso login`"), std::string::npos);
  const auto folder = directory_ / ".aws/sso/cache";
  std::filesystem::create_directories(folder);
  // printf mine | sha1sum
  write_file(folder / "8034c43d15bb7ef42e2cc24255217acfc5f4b2f4.json", R"({"accessToken": "t"})");
  EXPECT_EQ(fetch().value, (Keys{"sso", "s", "t"}));
  EXPECT_EQ(fetch().lifetime, http::Seconds{3600});
}

TEST_F(S3Chain, AsksAContainerWithItsToken) {
  variables_.insert({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:80/keys"},
                     {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", (directory_ / "token").string()}});
  EXPECT_EQ(fetch().value, (Keys{"container", "s", "t"}));
  for (const char* other : {"http://example.com/keys", "http://127.evil.com/keys"}) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = other;
    EXPECT_THROW(fetch(), InputError) << other;
  }
}

TEST_F(S3Chain, AsksTheMachineLast) {
  has_metadata_ = true;
  EXPECT_EQ(fetch().value, (Keys{"machine", "s", "t"}));
  EXPECT_EQ(fetch().lifetime, http::Seconds{3600});
  EXPECT_EQ(asked_.front(), "PUT http://169.254.169.254/latest/api/token");
  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_NE(problem_of([&] { fetch(); }).find("no credentials for s3://"), std::string::npos);
}

TEST_F(S3Chain, RefusesWhatIsIncomplete) {
  variables_["AWS_PROFILE"] = "absent";
  EXPECT_NE(problem_of([&] { fetch(); }).find("no such profile"), std::string::npos);
  variables_.erase("AWS_PROFILE");
  variables_["AWS_ACCESS_KEY_ID"] = "key";
  EXPECT_NE(problem_of([&] { fetch(); }).find("the keys are incomplete"), std::string::npos);
  variables_["AWS_SECRET_ACCESS_KEY"] = "a\nb";
  EXPECT_NE(problem_of([&] { fetch(); }).find("broken"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::tests
