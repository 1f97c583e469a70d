#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/http/attempt.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/renewed.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/s3/signature.hpp>
#include <seqtrain/s3/xml.hpp>

/// The identities that Amazon's libraries know, and S3 needs.
namespace seqtrain::s3 {

/// An identity for which keys can be fetched.
class Credentials {
 public:
  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  /// Fetches keys. Throws `InputError` if the identity is refused, and `Error` if nobody answers.
  [[nodiscard]] virtual http::Fresh<Keys> fetch(const http::FetchContext& context) const = 0;

  /// Returns the name of the identity, for messages.
  [[nodiscard]] virtual std::string account() const = 0;
};

namespace detail {

/// Returns a moment such as `2026-01-31T09:05:00Z` or `2026-01-31T01:05:00.5-08:00` in seconds
/// since 1970, or nothing if it is none. Without a zone it is in UTC.
inline std::optional<std::time_t> parse_moment(const std::string& moment) {
  std::tm parts{};
  const char* rest = ::strptime(moment.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return {};
  if (*rest == '.') rest += 1 + std::strspn(rest + 1, "0123456789");
  std::tm zone{};
  if (*rest != '\0') rest = ::strptime(rest, "%z", &zone);
  if (rest == nullptr || *rest != '\0') return {};
  return ::timegm(&parts) - zone.tm_gmtoff;
}

/// Returns the time until a moment. The time of the answer counts, not that of this machine, whose
/// clock may be wrong.
inline http::Seconds time_until(const std::string& moment, const http::Response& answer,
                                const http::Timing& timing, const std::string& who) {
  const auto end = parse_moment(moment);
  if (!end) throw InputError{"the end of the keys is no date", {.object = who}};
  const auto now = http::parse_http_date(answer.find("Date").value_or(""));
  return http::Seconds{static_cast<double>(*end - now.value_or(timing.wall_seconds()))};
}

/// Refuses keys that no header can carry.
inline Keys checked(Keys keys, const std::string& who) {
  for (const auto* const text : {&keys.access_key, &keys.secret_key, &keys.session_token}) {
    const bool plain = std::ranges::all_of(*text, [](char c) { return c > 0x20 && c < 0x7f; });
    if (!plain || (text != &keys.session_token && text->empty())) {
      throw InputError{"the keys are incomplete or broken", {.object = who}};
    }
  }
  return keys;
}

/// Returns a text from a service for a message: shortened, and without line breaks and characters
/// that steer a terminal.
inline std::string one_line(const std::string& text, std::size_t most) {
  return shown(seqtrain::detail::shortened(text, most));
}

/// Sends a request for keys, with retries. An error shows only the status.
inline http::Response ask_for_keys(const http::FetchContext& context, const http::Request& request,
                                   const std::string& who) {
  return http::ask(context, request, "keys of " + who, "keys of " + who);
}

/// Reads `{"AccessKeyId": …, "SecretAccessKey": …, "SessionToken" or "Token": …, "Expiration": …}`.
inline http::Fresh<Keys> read_json_keys(const std::string& text, const http::Response& answer,
                                        const http::Timing& timing, const std::string& who) {
  const auto document = json::Document::parse(text, "keys of " + who);
  const auto root = document.root();
  const auto text_of = [&](std::string_view name) {
    const auto found = root.find(name);
    return std::string{found && found->is_string() ? found->string() : ""};
  };
  const auto session = text_of("SessionToken").empty() ? text_of("Token") : text_of("SessionToken");
  http::Fresh<Keys> fresh{
      checked({text_of("AccessKeyId"), text_of("SecretAccessKey"), session}, who), {}};
  const auto end = text_of("Expiration");
  if (!end.empty()) fresh.lifetime = time_until(end, answer, timing, who);
  return fresh;
}

inline std::string read_secret(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  if (!(text << stream.rdbuf())) throw InputError{"cannot be read", {.object = file.string()}};
  auto secret = text.str();
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  return secret;
}

}  // namespace detail

/// No identity, for public objects.
class Anonymous final : public Credentials {
 public:
  [[nodiscard]] http::Fresh<Keys> fetch(const http::FetchContext&) const override { return {}; }
  [[nodiscard]] std::string account() const override { return "an anonymous caller"; }
};

/// Keys that are given.
class GivenKeys final : public Credentials {
 public:
  GivenKeys(Keys keys, std::string source)
      : keys_{detail::checked(std::move(keys), source)}, source_{std::move(source)} {}

  [[nodiscard]] http::Fresh<Keys> fetch(const http::FetchContext&) const override {
    return {keys_, {}};
  }
  [[nodiscard]] std::string account() const override { return "the keys of " + source_; }

 private:
  Keys keys_;
  std::string source_;
};

/// A program that prints keys, as `credential_process` of a profile names it.
class KeyProgram final : public Credentials {
 public:
  explicit KeyProgram(std::string command) : command_{std::move(command)} {}

  [[nodiscard]] http::Fresh<Keys> fetch(const http::FetchContext& context) const override {
    constexpr std::size_t longest = std::size_t{1} << 20;
    std::FILE* const pipe = ::popen(command_.c_str(), "re");
    if (pipe == nullptr) throw Error{"cannot be started", {.object = account()}};
    std::string text;
    std::array<char, 4096> piece{};
    for (std::size_t got = 1; got > 0 && text.size() < longest;) {
      got = std::fread(piece.data(), 1, piece.size(), pipe);
      text.append(piece.data(), got);
    }
    if (::pclose(pipe) != 0) throw InputError{"ended with an error", {.object = account()}};
    return detail::read_json_keys(text, {}, context.timing, account());
  }
  [[nodiscard]] std::string account() const override { return "credential_process"; }

 private:
  std::string command_;
};

/// An address that returns keys: that of a container, with a token that may be in a file.
class ContainerKeys final : public Credentials {
 public:
  ContainerKeys(http::Url url, std::string token, std::filesystem::path token_file)
      : url_{std::move(url)}, token_{std::move(token)}, token_file_{std::move(token_file)} {}

  [[nodiscard]] http::Fresh<Keys> fetch(const http::FetchContext& context) const override {
    http::Request request{.url = url_};
    const auto token = token_file_.empty() ? token_ : detail::read_secret(token_file_);
    if (!token.empty()) request.headers.push_back({"Authorization", token});
    const auto answer = detail::ask_for_keys(context, request, account());
    if (answer.succeeded()) {
      return detail::read_json_keys(answer.body, answer, context.timing, account());
    }
    throw InputError{"no keys were given: status " + std::to_string(answer.status),
                     {.object = account()}};
  }
  [[nodiscard]] std::string account() const override { return "the container's role"; }

 private:
  http::Url url_;
  std::string token_;  ///< a secret
  std::filesystem::path token_file_;
};

/// The role of a machine in the cloud, whose keys come from the metadata server (IMDSv2).
class MachineRole final : public Credentials {
 public:
  explicit MachineRole(http::Url server) : server_{std::move(server)} {}

  [[nodiscard]] http::Fresh<Keys> fetch(const http::FetchContext& context) const override {
    const auto session = detail::ask_for_keys(context, session_request(), account());
    if (!session.succeeded()) fail(session);
    const std::string folder = "/latest/meta-data/iam/security-credentials/";
    auto role = ask(context, folder, session.body).body;
    role = role.substr(0, role.find_first_of("\r\n"));
    const auto answer = ask(context, folder + http::percent_encode(role), session.body);
    return detail::read_json_keys(answer.body, answer, context.timing, account());
  }
  [[nodiscard]] std::string account() const override { return "the machine's role"; }

  /// Tells whether a metadata server answers.
  [[nodiscard]] bool is_there(http::Transport& transport) const {
    try {
      return transport.send(session_request()).succeeded();
    } catch (const http::TransportError&) {
      return false;
    }
  }

 private:
  [[nodiscard]] http::Request session_request() const {
    http::Request request{.method = "PUT",
                          .url = server_,
                          .headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}}};
    request.url.target = "/latest/api/token";
    return request;
  }

  [[nodiscard]] http::Response ask(const http::FetchContext& context, const std::string& path,
                                   const std::string& session) const {
    http::Request request{.url = server_, .headers = {{"x-aws-ec2-metadata-token", session}}};
    request.url.target = path;
    auto answer = detail::ask_for_keys(context, request, account());
    if (!answer.succeeded()) fail(answer);
    return answer;
  }

  [[noreturn]] void fail(const http::Response& answer) const {
    throw InputError{"the metadata server gives no keys: status " + std::to_string(answer.status),
                     {.object = account()},
                     "give the machine a role"};
  }

  http::Url server_;
};

/// A role that another identity takes by Amazon's token service (STS): one with keys, or one of
/// another provider, whose token is in a file (EKS, OpenID Connect).
class AssumedRole final : public Credentials {
 public:
  /// The role, and what takes it.
  struct Options {
    std::string role_arn;
    std::string session_name;
    std::string external_id = {};           ///< only if the role asks for it
    http::Url server;                       ///< of the token service
    std::string region;                     ///< for the signature
    std::filesystem::path token_file = {};  ///< of another provider, unless `source` is set
    std::shared_ptr<const Credentials> source = {};  ///< signs the request
  };

  explicit AssumedRole(Options options) : options_{std::move(options)} {}

  [[nodiscard]] http::Fresh<Keys> fetch(const http::FetchContext& context) const override {
    const auto keys = options_.source ? options_.source->fetch(context).value : Keys{};
    constexpr std::int64_t allowed = 5 * 60;
    const auto now = context.timing.wall_seconds();
    auto answer = ask(context, keys, now);
    const auto date = http::parse_http_date(answer.find("Date").value_or(""));
    if (options_.source && answer.status == 403 && date && std::abs(*date - now) > allowed) {
      answer = ask(context, keys, *date);  // this machine's clock is wrong
    }
    return read(answer, context.timing);
  }
  [[nodiscard]] std::string account() const override { return "the role " + options_.role_arn; }

 private:
  /// Asks for the role by a request that is signed for a time, if there are keys.
  [[nodiscard]] http::Response ask(const http::FetchContext& context, const Keys& keys,
                                   std::time_t time) const {
    const auto body = question();
    http::Request request{.method = "POST",
                          .url = options_.server,
                          .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                          .body = {http::bytes_of(body)}};
    request.url.target = "/";
    if (options_.source) {
      sign(request, keys, {options_.region, time, "sts"}, sha256_hex(request.body));
    }
    return detail::ask_for_keys(context, request, account());
  }

  [[nodiscard]] std::string question() const {
    std::vector<std::pair<std::string, std::string>> fields{
        {"Version", "2011-06-15"},
        {"Action", options_.source ? "AssumeRole" : "AssumeRoleWithWebIdentity"},
        {"RoleArn", options_.role_arn},
        {"RoleSessionName", options_.session_name}};
    if (!options_.external_id.empty()) fields.emplace_back("ExternalId", options_.external_id);
    if (!options_.source) {
      fields.emplace_back("WebIdentityToken", detail::read_secret(options_.token_file));
    }
    std::string body;
    for (const auto& [name, value] : fields) {
      body += (body.empty() ? "" : "&") + name + "=" + http::percent_encode(value);
    }
    return body;
  }

  [[nodiscard]] http::Fresh<Keys> read(const http::Response& answer,
                                       const http::Timing& timing) const {
    if (!answer.succeeded()) {
      throw InputError{
          "the role is not given: status " + std::to_string(answer.status) + code_of(answer),
          {.object = account()}};
    }
    const auto root = XmlReader::parse(answer.body, {.object = account()});
    const char* const action = options_.source ? "AssumeRole" : "AssumeRoleWithWebIdentity";
    const auto* at = root.find(action + std::string{"Result"});
    if (at != nullptr) at = at->find("Credentials");
    if (at == nullptr) throw InputError{"no keys in the answer", {.object = account()}};
    const Keys keys{at->text_of("AccessKeyId"), at->text_of("SecretAccessKey"),
                    at->text_of("SessionToken")};
    return {detail::checked(keys, account()),
            detail::time_until(at->text_of("Expiration"), answer, timing, account())};
  }

  /// Returns the code of a refusal for a message. A refusal in another form has none.
  static std::string code_of(const http::Response& answer) {
    try {
      const auto root = XmlReader::parse(answer.body);
      const auto* const error = root.find("Error");
      return error == nullptr ? "" : ", " + detail::one_line(error->text_of("Code"), 80);
    } catch (const InputError&) {
      return "";
    }
  }

  Options options_;
};

/// A login by IAM Identity Center, whose token `aws sso login` keeps in a file.
class SsoLogin final : public Credentials {
 public:
  /// The login and the role that it may take.
  struct Options {
    std::filesystem::path token_file;
    http::Url server;
    std::string account_id;
    std::string role_name;
  };

  explicit SsoLogin(Options options) : options_{std::move(options)} {}

  [[nodiscard]] http::Fresh<Keys> fetch(const http::FetchContext& context) const override {
    const std::string advice = "run `aws sso login`";
    std::error_code ignored;
    if (!std::filesystem::exists(options_.token_file, ignored)) {
      throw InputError{"nobody is logged in", {.object = account()}, advice};
    }
    const auto document = json::Document::load(options_.token_file);
    const std::string token{document.root().at("accessToken").string()};
    http::Request request{.url = options_.server, .headers = {{"x-amz-sso_bearer_token", token}}};
    request.url.target =
        "/federation/credentials?role_name=" + http::percent_encode(options_.role_name) +
        "&account_id=" + http::percent_encode(options_.account_id);
    const auto answer = detail::ask_for_keys(context, request, account());
    if (!answer.succeeded()) {
      throw InputError{"the login is over or not allowed: status " + std::to_string(answer.status),
                       {.object = account()},
                       advice};
    }
    return read(answer, context.timing);
  }
  [[nodiscard]] std::string account() const override {
    return "the role " + options_.role_name + " of the account " + options_.account_id;
  }

 private:
  [[nodiscard]] http::Fresh<Keys> read(const http::Response& answer,
                                       const http::Timing& timing) const {
    const auto document = json::Document::parse(answer.body, "keys of " + account());
    const auto keys = document.root().at("roleCredentials");
    const auto text = [&](std::string_view name) { return std::string{keys.at(name).string()}; };
    const auto now = http::parse_http_date(answer.find("Date").value_or(""));
    const auto end = static_cast<double>(keys.at("expiration").integer()) / 1000;
    return {detail::checked({text("accessKeyId"), text("secretAccessKey"), text("sessionToken")},
                            account()),
            http::Seconds{end - static_cast<double>(now.value_or(timing.wall_seconds()))}};
  }

  Options options_;
};

}  // namespace seqtrain::s3
