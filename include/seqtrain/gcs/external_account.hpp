#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/gcs/credentials.hpp>

namespace seqtrain::gcs {

/// The place of a token from another identity provider.
struct SubjectTokenPlace {
  std::filesystem::path file = {};         ///< a file with the token, unless `url` is set
  http::Url url = {};                      ///< an address that returns the token
  std::vector<http::Header> headers = {};  ///< headers of the request to `url`
  std::string json_field = {};  ///< the field of a JSON object with the token; empty for plain text
};

/// An identity of another provider. Its token is exchanged at Google's security token service (RFC
/// 8693).
class ExternalAccount final : public Credentials {
 public:
  struct Options {
    std::string audience;
    std::string subject_token_type;
    http::Url token_url;
    SubjectTokenPlace place;
    std::string client_id = {};  ///< only if the service asks for it
    std::string client_secret = {};
    std::string workforce_project = {};
    std::string quota_project = {};
  };

  explicit ExternalAccount(Options options) : options_{std::move(options)} {}

  [[nodiscard]] Token fetch(const TokenContext& context, std::string_view scope) const override {
    const auto subject = subject_token(context);
    const auto extra = project_option();
    std::vector<std::pair<std::string_view, std::string_view>> fields{
        {"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
        {"audience", options_.audience},
        {"scope", scope},
        {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
        {"subject_token_type", options_.subject_token_type},
        {"subject_token", subject}};
    if (!extra.empty()) fields.emplace_back("options", extra);
    std::string body;
    auto request = detail::form_post(options_.token_url, fields, body);
    if (!options_.client_id.empty()) {
      const auto pair = options_.client_id + ":" + options_.client_secret;
      request.headers.push_back({"Authorization", "Basic " + http::base64(pair)});
    }
    return read_token(ask_for_token(context, request, "token exchange"), context.timing, account());
  }
  [[nodiscard]] std::string account() const override {
    return "the external account of " + options_.audience;
  }
  [[nodiscard]] std::string quota_project() const override { return options_.quota_project; }

 private:
  [[nodiscard]] std::string project_option() const {
    if (options_.workforce_project.empty() || !options_.client_id.empty()) return {};
    json::Writer writer;
    writer.begin_object().member("userProject", options_.workforce_project).end_object();
    return writer.text();
  }

  [[nodiscard]] std::string subject_token(const TokenContext& context) const {
    const auto& place = options_.place;
    auto text = place.file.empty() ? ask(context) : read(place.file);
    if (place.json_field.empty()) {
      while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
      return text;
    }
    const auto document = json::Document::parse(text, "subject token");
    return std::string{document.root().at(place.json_field).string()};
  }

  static std::string read(const std::filesystem::path& file) {
    std::ifstream stream{file, std::ios::binary};
    std::ostringstream text;
    if (!(text << stream.rdbuf())) throw InputError{"cannot be read", {.object = file.string()}};
    return text.str();
  }

  [[nodiscard]] std::string ask(const TokenContext& context) const {
    const http::Request request{.url = options_.place.url, .headers = options_.place.headers};
    auto response = ask_for_token(context, request, "subject token");
    if (response.succeeded()) return std::move(response.body);
    throw InputError{"no subject token: status " + std::to_string(response.status),
                     {.object = options_.place.url.origin()}};
  }

  Options options_;
};

}  // namespace seqtrain::gcs
