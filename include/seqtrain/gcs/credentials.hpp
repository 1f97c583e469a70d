#pragma once

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/gcs/token.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/http/message.hpp>

/// The identities that Google's libraries know and the storage service needs.
namespace seqtrain::gcs {

/// An RSA key that signs by RS256 (RFC 7518, section 3.3).
class SigningKey {
 public:
  /// Reads a private key in PEM. Throws `InputError` with `where`; the error shows nothing of the
  /// key.
  SigningKey(std::string_view pem, const Where& where) {
    const std::unique_ptr<BIO, int (*)(BIO*)> text{
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
    const auto no_password = [](char*, int, int, void*) { return -1; };
    key_.reset(PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr));
    ERR_clear_error();
    if (!key_) throw InputError{"is not a private key in PEM", where};
    if (EVP_PKEY_base_id(key_.get()) != EVP_PKEY_RSA) throw InputError{"is not an RSA key", where};
  }

  /// Returns `header.claims.signature` with each part in base64url. `header` and `claims` are JSON.
  [[nodiscard]] std::string sign(std::string_view header, std::string_view claims) const {
    auto text = http::base64url(header) + "." + http::base64url(claims);
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(),
                                                                     &EVP_MD_CTX_free};
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    const auto* digest = EVP_sha256();
    const bool begun =
        EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key_.get()) == 1 &&
        EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1;
    std::string signature(size, '\0');
    auto* out = reinterpret_cast<unsigned char*>(signature.data());
    if (!begun || EVP_DigestSign(context.get(), out, &size, bytes, text.size()) != 1) {
      throw Error{"OpenSSL cannot sign with this key"};
    }
    signature.resize(size);
    return text + "." + http::base64url(signature);
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  std::unique_ptr<EVP_PKEY, Free> key_;
};

namespace detail {

inline http::Request form_post(
    http::Url url, const std::vector<std::pair<std::string_view, std::string_view>>& fields,
    std::string& body) {
  for (const auto& [name, value] : fields) {
    if (!body.empty()) body += '&';
    body += http::percent_encode(name) + "=" + http::percent_encode(value);
  }
  return {.method = "POST",
          .url = std::move(url),
          .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
          .body = {http::bytes_of(body)}};
}

}  // namespace detail

/// No identity, for emulators and public objects.
class Anonymous final : public Credentials {
 public:
  [[nodiscard]] Token fetch(const http::FetchContext&, std::string_view) const override {
    return {};
  }
  [[nodiscard]] std::string account() const override { return "an anonymous caller"; }
};

/// A service account with its key. A signed statement is exchanged for a token (RFC 7523).
class ServiceAccount final : public Credentials {
 public:
  /// The content of a key file.
  struct Options {
    std::string email;
    std::string key_id;  ///< may be empty
    SigningKey key;
    http::Url token_url;
    std::string token_uri;  ///< `token_url` as it is written
  };

  explicit ServiceAccount(Options options) : options_{std::move(options)} {}

  [[nodiscard]] Token fetch(const http::FetchContext& context,
                            std::string_view scope) const override {
    const auto assertion =
        options_.key.sign(header(), claims(context.timing.wall_seconds(), scope));
    std::string body;
    const auto request = detail::form_post(
        options_.token_url,
        {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", assertion}},
        body);
    return fetch_token(context, request, account());
  }
  [[nodiscard]] std::string account() const override { return options_.email; }

 private:
  [[nodiscard]] std::string header() const {
    json::Writer writer;
    writer.begin_object().member("alg", "RS256").member("typ", "JWT");
    if (!options_.key_id.empty()) writer.member("kid", options_.key_id);
    return writer.end_object().text();
  }
  [[nodiscard]] std::string claims(std::time_t now, std::string_view scope) const {
    json::Writer writer;
    writer.begin_object().member("iss", options_.email).member("scope", scope);
    writer.member("aud", options_.token_uri).member("iat", now).member("exp", now + 3600);
    return writer.end_object().text();
  }

  Options options_;
};

/// A person's login, which `gcloud auth application-default login` has written.
class AuthorizedUser final : public Credentials {
 public:
  /// The content of a login's file.
  struct Options {
    std::string client_id;
    std::string client_secret;
    std::string refresh_token;
    http::Url token_url;
  };

  explicit AuthorizedUser(Options options) : options_{std::move(options)} {}

  [[nodiscard]] Token fetch(const http::FetchContext& context, std::string_view) const override {
    std::string body;
    const auto request = detail::form_post(options_.token_url,
                                           {{"grant_type", "refresh_token"},
                                            {"client_id", options_.client_id},
                                            {"client_secret", options_.client_secret},
                                            {"refresh_token", options_.refresh_token}},
                                           body);
    return fetch_token(context, request, account());
  }
  [[nodiscard]] std::string account() const override { return "the gcloud user"; }

 private:
  Options options_;
};

/// A service account that another identity may impersonate.
class Impersonated final : public Credentials {
 public:
  /// Creates the identity. `url` ends in `serviceAccounts/<email>:generateAccessToken`.
  Impersonated(std::unique_ptr<Credentials> source, http::Url url,
               std::vector<std::string> delegates)
      : source_{std::move(source)}, url_{std::move(url)}, delegates_{std::move(delegates)} {}

  [[nodiscard]] Token fetch(const http::FetchContext& context,
                            std::string_view scope) const override {
    const auto own = source_->fetch(context, scope::platform);
    const auto body = question(scope);
    const http::Request request{
        .method = "POST",
        .url = url_,
        .headers = {{"Authorization", "Bearer " + own.value}, {"Content-Type", "application/json"}},
        .body = {http::bytes_of(body)}};
    // The answer gives the expiry as a date, which a wrong clock would misread, so the requested
    // lifetime is used.
    return fetch_token(context, request, account(), "accessToken");
  }
  [[nodiscard]] std::string account() const override {
    const auto end = std::min(url_.target.rfind(":generateAccessToken"), url_.target.size());
    const auto begin = url_.target.rfind('/', end) + 1;
    return url_.target.substr(begin, end - begin);
  }

 private:
  [[nodiscard]] std::string question(std::string_view scope) const {
    json::Writer writer;
    writer.begin_object().key("scope").begin_array().value(scope).end_array();
    return writer.member("lifetime", "3600s").member("delegates", delegates_).end_object().text();
  }

  std::unique_ptr<Credentials> source_;
  http::Url url_;
  std::vector<std::string> delegates_;
};

/// The machine's service account, whose tokens come from the metadata server.
class MachineAccount final : public Credentials {
 public:
  explicit MachineAccount(http::Url server) : server_{std::move(server)} {}

  [[nodiscard]] Token fetch(const http::FetchContext& context, std::string_view) const override {
    return fetch_token(context, question("instance/service-accounts/default/token"), account());
  }
  [[nodiscard]] std::string account() const override { return "the machine's service account"; }

  /// Tells whether a metadata server answers.
  [[nodiscard]] bool is_there(http::Transport& transport) const {
    try {
      return transport.send(question("")).find("Metadata-Flavor") == "Google";
    } catch (const http::TransportError&) {
      return false;
    }
  }

 private:
  [[nodiscard]] http::Request question(const std::string& path) const {
    http::Request request{.url = server_, .headers = {{"Metadata-Flavor", "Google"}}};
    request.url.target = "/computeMetadata/v1/" + path;
    return request;
  }

  http::Url server_;
};

}  // namespace seqtrain::gcs
