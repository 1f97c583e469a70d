#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/json.hpp>
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
  /// The content of a configuration file.
  struct Options {
    std::string audience;
    std::string subject_token_type;
    http::Url token_url;
    SubjectTokenPlace place;
    std::string client_id = {};  ///< only if the service asks for it
    std::string client_secret = {};
    std::string workforce_project = {};
  };

  explicit ExternalAccount(Options options) : options_{std::move(options)} {}

  [[nodiscard]] Token fetch(const http::FetchContext& context,
                            std::string_view scope) const override {
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
    return fetch_token(context, request, account());
  }
  [[nodiscard]] std::string account() const override {
    return "the external account of " + options_.audience;
  }

 private:
  [[nodiscard]] std::string project_option() const {
    if (options_.workforce_project.empty() || !options_.client_id.empty()) return {};
    json::Writer writer;
    writer.begin_object().member("userProject", options_.workforce_project).end_object();
    return writer.text();
  }

  [[nodiscard]] std::string subject_token(const http::FetchContext& context) const {
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

  [[nodiscard]] std::string ask(const http::FetchContext& context) const {
    const http::Request request{.url = options_.place.url, .headers = options_.place.headers};
    auto response = ask_for_token(context, request, "subject token");
    if (response.succeeded()) return std::move(response.body);
    throw InputError{"no subject token: status " + std::to_string(response.status),
                     {.object = options_.place.url.origin()}};
  }

  Options options_;
};

namespace detail {

inline std::string text_or(const json::Value& object, std::string_view key,
                           std::string_view otherwise = {}) {
  const auto value = object.find(key);
  return std::string{value ? value->string() : otherwise};
}

/// Returns the address in the field `key`. It must be https, because secrets are sent to it.
inline http::Url secure_url(const json::Value& object, std::string_view key,
                            std::string_view otherwise = {}) {
  const auto text = text_or(object, key, otherwise);
  if (text.empty()) return http::Url::parse(object.at(key).string(), "credentials");
  auto url = http::Url::parse(text, "credentials: " + std::string{key});
  if (url.scheme != "https") throw object.at(key).error("must be an https:// address");
  return url;
}

inline constexpr std::string_view google_token_uri = "https://oauth2.googleapis.com/token";

inline std::unique_ptr<Credentials> service_account(const json::Value& file,
                                                    const std::string& name) {
  return std::make_unique<ServiceAccount>(ServiceAccount::Options{
      .email = std::string{file.at("client_email").string()},
      .key_id = text_or(file, "private_key_id"),
      .key = {file.at("private_key").string(), {.object = name, .field = "private_key"}},
      .token_url = secure_url(file, "token_uri", google_token_uri),
      .token_uri = text_or(file, "token_uri", google_token_uri)});
}

inline std::unique_ptr<Credentials> authorized_user(const json::Value& file) {
  return std::make_unique<AuthorizedUser>(
      AuthorizedUser::Options{.client_id = std::string{file.at("client_id").string()},
                              .client_secret = std::string{file.at("client_secret").string()},
                              .refresh_token = std::string{file.at("refresh_token").string()},
                              .token_url = secure_url(file, "token_uri", google_token_uri)});
}

inline SubjectTokenPlace subject_token_place(const json::Value& source) {
  SubjectTokenPlace place;
  if (const auto file = source.find("file")) {
    place.file = std::string{file->string()};
  } else if (const auto url = source.find("url"); url && !source.find("environment_id")) {
    place.url = http::Url::parse(url->string(), "credential_source.url");
  } else {
    throw source.error("only sources with a file or a url are supported",
                       "a source that runs a program or asks AWS is not");
  }
  if (const auto headers = source.find("headers")) {
    for (const auto& [key, value] : headers->members()) {
      place.headers.push_back({std::string{key}, std::string{value.string()}});
    }
  }
  if (const auto format = source.find("format"); format && text_or(*format, "type") == "json") {
    place.json_field = format->at("subject_token_field_name").string();
  }
  return place;
}

inline std::unique_ptr<Credentials> impersonated(std::unique_ptr<Credentials> source,
                                                 const json::Value& file) {
  std::vector<std::string> delegates;
  if (const auto list = file.find("delegates")) {
    for (const auto& one : list->items()) delegates.emplace_back(one.string());
  }
  return std::make_unique<Impersonated>(std::move(source),
                                        secure_url(file, "service_account_impersonation_url"),
                                        std::move(delegates));
}

inline std::unique_ptr<Credentials> external_account(const json::Value& file) {
  auto own = std::make_unique<ExternalAccount>(ExternalAccount::Options{
      .audience = std::string{file.at("audience").string()},
      .subject_token_type = std::string{file.at("subject_token_type").string()},
      .token_url = secure_url(file, "token_url"),
      .place = subject_token_place(file.at("credential_source")),
      .client_id = text_or(file, "client_id"),
      .client_secret = text_or(file, "client_secret"),
      .workforce_project = text_or(file, "workforce_pool_user_project")});
  if (!file.find("service_account_impersonation_url")) return own;
  return impersonated(std::move(own), file);
}

inline std::unique_ptr<Credentials> from_json(const json::Value& file, const std::string& name) {
  const auto type = file.at("type");
  if (type.string() == "service_account") return service_account(file, name);
  if (type.string() == "authorized_user") return authorized_user(file);
  if (type.string() == "external_account") return external_account(file);
  if (type.string() == "impersonated_service_account") {
    const auto source = file.at("source_credentials");
    if (text_or(source, "type") == "impersonated_service_account") {
      throw source.error("cannot be an impersonated account itself", "use delegates");
    }
    return impersonated(from_json(source, name), file);
  }
  throw type.error("unknown type of credentials '" + std::string{type.string().substr(0, 40)} + "'",
                   "known are service_account, authorized_user, external_account and "
                   "impersonated_service_account");
}

inline std::filesystem::path well_known_file(const Environment& environment) {
  if (const auto directory = environment("CLOUDSDK_CONFIG")) {
    return std::filesystem::path{*directory} / "application_default_credentials.json";
  }
  const auto home = environment("HOME");
  if (!home) return {};
  return std::filesystem::path{*home} / ".config/gcloud/application_default_credentials.json";
}

}  // namespace detail

/// Reads a credentials file of the Cloud console or of gcloud. Throws `InputError` with file and
/// field.
inline std::unique_ptr<Credentials> load_credentials(const std::filesystem::path& file) {
  const auto document = json::Document::load(file);
  auto credentials = detail::from_json(document.root(), file.string());
  credentials->quota_project = detail::text_or(document.root(), "quota_project_id");
  return credentials;
}

/// Finds credentials in Google's order: the file named by `GOOGLE_APPLICATION_CREDENTIALS`,
/// gcloud's well-known file, the metadata server (`GCE_METADATA_HOST` names another). `probe`
/// should have short deadlines. Throws `InputError` if nothing is found, or if a file that is set
/// is not there.
inline std::unique_ptr<Credentials> find_credentials(const Environment& environment,
                                                     http::Transport& probe) {
  std::error_code ignored;
  if (const auto file = environment("GOOGLE_APPLICATION_CREDENTIALS")) {
    if (std::filesystem::exists(*file, ignored)) return load_credentials(*file);
    throw InputError{"no such file", {.object = *file}, "see GOOGLE_APPLICATION_CREDENTIALS"};
  }
  const auto file = detail::well_known_file(environment);
  if (!file.empty() && std::filesystem::exists(file, ignored)) return load_credentials(file);
  const auto host = environment("GCE_METADATA_HOST").value_or("metadata.google.internal");
  auto machine =
      std::make_unique<MachineAccount>(http::Url::parse("http://" + host, "GCE_METADATA_HOST"));
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (machine->is_there(probe)) return machine;
  }
  throw InputError{"no Google Cloud credentials",
                   {},
                   "set GOOGLE_APPLICATION_CREDENTIALS to a file, or run "
                   "`gcloud auth application-default login`"};
}

}  // namespace seqtrain::gcs
