#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <openssl/rsa.h>

#include <seqtrain/gcs/credentials_file.hpp>
#include <seqtrain/http/beast_transport.hpp>

#include "support/fake_transport.hpp"
#include "support/fault_server.hpp"
#include "support/sleepless_time.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

using http::Response;

std::string pem_of(EVP_PKEY* key) {
  BIO* memory = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(memory, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const auto size = BIO_get_mem_data(memory, &text);
  std::string pem{text, static_cast<std::size_t>(size)};
  BIO_free(memory);
  return pem;
}

/// Decodes base64url.
std::string decode(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const auto padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string bytes(text.size() / 4 * 3, '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                  reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  return bytes.substr(0, bytes.size() - padding);
}

class Credentials : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (key_ == nullptr) key_.reset(EVP_RSA_gen(2048));
  }

  std::unique_ptr<gcs::Credentials> load(std::string_view text) {
    return gcs::load_credentials(write_file(directory_ / "credentials.json", text));
  }
  [[nodiscard]] std::string service_account(const std::string& token_uri) const {
    json::Writer writer;
    writer.begin_object().member("type", "service_account").member("private_key_id", "key-7");
    writer.member("client_email", "robot@example.iam.gserviceaccount.com");
    writer.member("quota_project_id", "payer").member("private_key", private_key_);
    if (!token_uri.empty()) writer.member("token_uri", token_uri);
    return writer.end_object().text();
  }
  gcs::Token fetch(const gcs::Credentials& credentials) {
    return credentials.fetch({transport_, retry_, timing_, log_}, gcs::scope::storage);
  }
  /// Returns the message of the error, which must not contain the key or the answers.
  template <class Action>
  std::string problem(const Action& action) {
    try {
      action();
    } catch (const InputError& error) {
      EXPECT_EQ(std::string{error.what()}.find("secret"), std::string::npos);
      EXPECT_EQ(std::string{error.what()}.find("BEGIN"), std::string::npos);
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }
  [[nodiscard]] bool signed_by_us(const std::string& jwt) const {
    const auto dot = jwt.rfind('.');
    const auto signature = decode(jwt.substr(dot + 1));
    auto* context = EVP_MD_CTX_new();
    EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key_.get());
    const auto good =
        EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                         signature.size(), reinterpret_cast<const unsigned char*>(jwt.data()), dot);
    EVP_MD_CTX_free(context);
    return good == 1;
  }

  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  static inline std::unique_ptr<EVP_PKEY, Free> key_;
  std::string private_key_ = pem_of(key_.get());
  TemporaryDirectory directory_;
  SleeplessTime time_;
  http::RetryPolicy retry_;
  http::Timing timing_ = time_.timing();
  http::Log log_;
  std::vector<Response> answers_{{200, {}, R"({"access_token": "t", "expires_in": 1799})"}};
  FakeTransport transport_{[this](const FakeTransport::Seen&) {
    const auto answer = answers_.front();
    if (answers_.size() > 1) answers_.erase(answers_.begin());
    return answer;
  }};
};

TEST_F(Credentials, AServiceAccountSignsAStatement) {
  const auto account = load(service_account("https://tokens.example.com/token"));
  const auto token = fetch(*account);
  EXPECT_EQ(token.value, "t");
  EXPECT_EQ(token.lifetime, http::Seconds{1799});
  EXPECT_EQ(account->account(), "robot@example.iam.gserviceaccount.com");
  EXPECT_EQ(account->quota_project, "payer");
  const auto seen = transport_.seen().at(0);
  EXPECT_EQ(seen.origin, "https://tokens.example.com");
  const std::string start =
      "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(seen.body.starts_with(start));
  const auto jwt = seen.body.substr(start.size());
  EXPECT_TRUE(signed_by_us(jwt));
  const auto dot = jwt.find('.');
  EXPECT_EQ(decode(jwt.substr(0, dot)), R"({"alg":"RS256","typ":"JWT","kid":"key-7"})");
  EXPECT_EQ(decode(jwt.substr(dot + 1, jwt.rfind('.') - dot - 1)),
            R"({"iss":"robot@example.iam.gserviceaccount.com",)"
            R"("scope":"https://www.googleapis.com/auth/devstorage.read_write",)"
            R"("aud":"https://tokens.example.com/token","iat":1700000000,"exp":1700003600})");
}

TEST_F(Credentials, AServiceAccountAsksGoogleByDefault) {
  fetch(*load(service_account("")));
  EXPECT_EQ(transport_.seen().at(0).origin + transport_.seen().at(0).target,
            "https://oauth2.googleapis.com/token");
}

TEST_F(Credentials, AKeyGoesNowhereWithoutTls) {
  EXPECT_NE(problem([&] { load(service_account("http://tokens.example.com/")); }).find("https"),
            std::string::npos);
}

TEST_F(Credentials, AnAuthorizedUserRefreshes) {
  const auto user = load(R"({"type": "authorized_user", "client_id": "id&1", "client_secret": "s",
                             "refresh_token": "r/1"})");
  EXPECT_EQ(fetch(*user).value, "t");
  EXPECT_EQ(transport_.seen().at(0).body,
            "grant_type=refresh_token&client_id=id%261&client_secret=s&refresh_token=r%2F1");
}

TEST_F(Credentials, AnExternalAccountExchangesTheTokenOfAFile) {
  write_file(directory_ / "subject", R"({"inner": "subject-1"})");
  const auto account = load(R"({"type": "external_account", "audience": "//iam/pool",
      "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
      "token_url": "https://sts.googleapis.com/v1/token",
      "credential_source": {"file": ")" +
                            (directory_ / "subject").string() + R"(",
        "format": {"type": "json", "subject_token_field_name": "inner"}}})");
  EXPECT_EQ(fetch(*account).value, "t");
  const auto body = transport_.seen().at(0).body;
  EXPECT_NE(body.find("subject_token=subject-1"), std::string::npos);
  EXPECT_NE(body.find("audience=%2F%2Fiam%2Fpool"), std::string::npos);
  EXPECT_NE(body.find("token-exchange"), std::string::npos);
}

TEST_F(Credentials, AnExternalAccountMayAskAnAddressAndImpersonate) {
  answers_ = {{200, {}, "subject-2\n"},
              {200, {}, R"({"access_token": "own", "expires_in": 60})"},
              {200, {}, R"({"accessToken": "other", "expireTime": "2026-01-01T00:00:00Z"})"}};
  const auto account = load(R"({"type": "external_account", "audience": "a",
      "subject_token_type": "jwt", "token_url": "https://sts.googleapis.com/v1/token",
      "service_account_impersonation_url":
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/)"
                            R"(robot@x.com:generateAccessToken",
      "credential_source": {"url": "http://169.254.169.254/t", "headers": {"Metadata": "True"}}})");
  EXPECT_EQ(fetch(*account).value, "other");
  EXPECT_EQ(account->account(), "robot@x.com");
  const auto seen = transport_.seen();
  EXPECT_EQ(seen.at(0).header("Metadata"), "True");
  EXPECT_NE(seen.at(1).body.find("subject_token=subject-2"), std::string::npos);
  EXPECT_NE(seen.at(1).body.find("auth%2Fcloud-platform"), std::string::npos);
  EXPECT_EQ(seen.at(2).header("Authorization"), "Bearer own");
  EXPECT_EQ(seen.at(2).body,
            R"({"scope":["https://www.googleapis.com/auth/devstorage.read_write"],)"
            R"("lifetime":"3600s","delegates":[]})");
}

TEST_F(Credentials, AnImpersonatedAccountActsThroughItsSource) {
  answers_ = {{200, {}, R"({"access_token": "own"})"}, {200, {}, R"({"accessToken": "other"})"}};
  const auto account = load(R"({"type": "impersonated_service_account", "delegates": ["d"],
      "service_account_impersonation_url":
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/)"
                            R"(r@x.com:generateAccessToken",
      "source_credentials": {"type": "authorized_user", "client_id": "i", "client_secret": "s",
                             "refresh_token": "r"}})");
  EXPECT_EQ(fetch(*account).value, "other");
  EXPECT_NE(transport_.seen().at(1).body.find(R"("delegates":["d"])"), std::string::npos);
}

TEST_F(Credentials, TheMachineAsksItsMetadataServer) {
  const gcs::MachineAccount machine{http::Url::parse("http://metadata.google.internal", "x")};
  answers_ = {{503}, {500}, answers_.front()};
  EXPECT_EQ(fetch(machine).value, "t");
  EXPECT_EQ(transport_.seen().size(), 3u);
  EXPECT_EQ(transport_.seen().at(0).target,
            "/computeMetadata/v1/instance/service-accounts/default/token");
  EXPECT_EQ(transport_.seen().at(0).header("Metadata-Flavor"), "Google");
}

TEST_F(Credentials, WhatIsWrongWithAFileIsSaid) {
  const std::map<std::string, std::string> cases{
      {"", "not valid JSON"},
      {"[]", "expected an object"},
      {"{}", "type: missing"},
      {R"({"type": "service_acount"})", "unknown type of credentials 'service_acount'"},
      {R"({"type": "service_account", "client_email": "e", "private_key": "secret"})",
       "private_key: is not a private key in PEM"},
      {R"({"type": "service_account", "private_key": "secret"})", "client_email: missing"},
      {R"({"type": "authorized_user", "client_id": "i", "client_secret": "s"})",
       "refresh_token: missing"},
      {R"({"type": "external_account", "audience": "a", "subject_token_type": "t",
           "token_url": "https://x.com",
           "credential_source": {"environment_id": "aws1", "url": "http://x"}})",
       "only sources with a file or a url"},
      {R"({"type": "external_account", "audience": "a", "subject_token_type": "t",
           "token_url": "https://x.com",
           "credential_source": {"executable": {"command": "/bin/secret"}}})",
       "credential_source: only sources with a file or a url"}};
  for (const auto& [content, expected] : cases) {
    EXPECT_NE(problem([&, &text = content] { load(text); }).find(expected), std::string::npos)
        << expected;
  }
  EXPECT_NE(problem([&] { gcs::load_credentials(directory_ / "absent"); }).find("absent"),
            std::string::npos);
}

TEST_F(Credentials, ARefusalIsToldWithoutTheAnswer) {
  answers_ = {
      {400, {}, R"({"error": "invalid_grant", "error_description": "Invalid JWT Signature."})"}};
  const auto account = load(service_account(""));
  EXPECT_EQ(problem([&] { fetch(*account); }),
            "robot@example.iam.gserviceaccount.com: no token was given: status 400, invalid_grant: "
            "Invalid JWT Signature.");
  answers_ = {{200, {}, R"({"secret": 1})"}};
  problem([&] { fetch(*account); });
  answers_ = {{200, {}, R"({"access_token": "two\r\nlines: secret"})"}};
  problem([&] { fetch(*account); });
}

TEST_F(Credentials, AWrongClockIsPointedOut) {
  time_.wall_seconds = 784'111'777 + 4000;
  answers_ = {{400, {{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"}}, R"({"error": "invalid_grant"})"}};
  const auto account = load(service_account(""));
  EXPECT_NE(problem([&] { fetch(*account); }).find("clock is off by 4000 seconds"),
            std::string::npos);
}

class Search : public Credentials {
 protected:
  std::unique_ptr<gcs::Credentials> find() {
    return gcs::find_credentials(
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = variables_.find(name);
          if (found == variables_.end()) return {};
          return found->second;
        },
        transport_);
  }
  std::map<std::string, std::string> variables_;
};

TEST_F(Search, TakesTheFileThatIsSetFirst) {
  variables_["GOOGLE_APPLICATION_CREDENTIALS"] =
      write_file(directory_ / "key.json", service_account("")).string();
  EXPECT_EQ(find()->account(), "robot@example.iam.gserviceaccount.com");
}

TEST_F(Search, DoesNotPassOverAFileThatIsSetButMissing) {
  variables_["GOOGLE_APPLICATION_CREDENTIALS"] = (directory_ / "absent.json").string();
  EXPECT_NE(problem([&] { find(); }).find("absent.json: no such file"), std::string::npos);
}

TEST_F(Search, TakesTheWellKnownFileNext) {
  variables_["HOME"] = directory_.path().string();
  std::filesystem::create_directories(directory_ / ".config/gcloud");
  write_file(directory_ / ".config/gcloud/application_default_credentials.json",
             R"({"type": "authorized_user", "client_id": "i", "client_secret": "s",
          "refresh_token": "r"})");
  EXPECT_EQ(find()->account(), "the gcloud user");
  EXPECT_TRUE(transport_.seen().empty());
}

TEST_F(Search, AsksForAMetadataServerLast) {
  variables_["HOME"] = directory_.path().string();
  variables_["GCE_METADATA_HOST"] = "10.0.0.1:8080";
  answers_ = {{200, {}, "another server"}, {200, {{"metadata-flavor", "Google"}}, ""}};
  EXPECT_EQ(find()->account(), "the machine's service account");
  EXPECT_EQ(transport_.seen().at(0).origin, "http://10.0.0.1:8080");
}

TEST_F(Search, SaysWhatToDoWhenThereIsNothing) {
  answers_ = {{404}};
  EXPECT_NE(problem([&] { find(); }).find("GOOGLE_APPLICATION_CREDENTIALS"), std::string::npos);
  EXPECT_EQ(transport_.seen().size(), 3u);
}

TEST(MetadataServer, ThatIsSlowIsAskedAgain) {
  FaultServer server;
  server.script({.kind = Fault::stall, .times = 2});
  server.script({.kind = Fault::answer, .response = {503}});
  server.script({.kind = Fault::answer, .response = {200, {}, R"({"access_token": "t"})"}});
  http::BeastTransport transport{{.deadlines = {.read = http::Seconds{0.1}}}};
  SleeplessTime time;
  const auto timing = time.timing();
  const http::RetryPolicy retry;
  const http::Log log;
  const gcs::MachineAccount machine{http::Url{"http", "127.0.0.1", server.port()}};
  const auto token = machine.fetch({transport, retry, timing, log}, gcs::scope::storage);
  EXPECT_EQ(token.value, "t");
  EXPECT_EQ(server.count("service-accounts/default/token"), 4);
}

TEST(MetadataServer, ThatNeverAnswersIsGivenUp) {
  FaultServer server;
  server.script({.kind = Fault::stall, .times = 1000});
  http::BeastTransport transport{{.deadlines = {.read = http::Seconds{0.02}}}};
  SleeplessTime time;
  const auto timing = time.timing();
  const http::RetryPolicy retry;
  const http::Log log;
  const gcs::MachineAccount machine{http::Url{"http", "127.0.0.1", server.port()}};
  EXPECT_THROW(
      static_cast<void>(machine.fetch({transport, retry, timing, log}, gcs::scope::storage)),
      http::TransportError);
}

}  // namespace
}  // namespace seqtrain::tests
