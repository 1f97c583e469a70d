#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/http/message.hpp>

namespace seqtrain::s3 {

/// The keys with which requests are signed. Without an access key requests are anonymous.
struct Keys {
  std::string access_key = {};
  std::string secret_key = {};     ///< a secret
  std::string session_token = {};  ///< a secret; empty for keys that never end

  friend bool operator==(const Keys&, const Keys&) = default;
};

/// The service and the time that a signature is for.
struct SigningScope {
  std::string region;
  std::time_t time = 0;  ///< seconds since 1970
  std::string service = "s3";
};

/// The hash in place of a body's, for connections that TLS protects.
inline constexpr const char* unsigned_payload = "UNSIGNED-PAYLOAD";

/// Returns the SHA-256 of pieces that follow each other, in hexadecimal digits.
inline std::string sha256_hex(const std::vector<std::span<const std::byte>>& pieces) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  bool good = context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1;
  for (const auto& piece : pieces) {
    good = good && EVP_DigestUpdate(context, piece.data(), piece.size()) == 1;
  }
  good = good && EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1;
  EVP_MD_CTX_free(context);
  if (!good) throw Error{"OpenSSL cannot compute SHA-256"};
  return hex(digest);
}

namespace detail {

inline std::string sha256_hex(std::string_view text) {
  return s3::sha256_hex({http::bytes_of(text)});
}

/// Returns the HMAC-SHA-256 of a text, as bytes.
inline std::string hmac(std::string_view key, std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  unsigned int size = 0;
  const auto* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(digest.data()), &size);
  if (done == nullptr || size != digest.size()) throw Error{"OpenSSL cannot compute an HMAC"};
  return digest;
}

/// Returns a moment as `20130524T000000Z`.
inline std::string date_text(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

/// Returns the headers in lower case, sorted by name.
inline std::vector<http::Header> canonical_headers(const http::Request& request) {
  std::vector<http::Header> headers{{"host", request.url.authority()}};
  for (const auto& [name, value] : request.headers) {
    auto lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    headers.push_back({std::move(lower), std::string{trimmed(value, " \t")}});
  }
  std::ranges::sort(headers, {}, &http::Header::name);
  return headers;
}

/// Returns an encoded query with its fields sorted, each with `=`.
inline std::string canonical_query(std::string_view query) {
  std::vector<std::string> fields;
  for (const auto field : split(query, '&')) {
    if (field.empty()) continue;
    fields.emplace_back(field);
    if (field.find('=') == field.npos) fields.back() += '=';
  }
  std::ranges::sort(fields, {}, [](const std::string& field) {
    const auto equal = field.find('=');
    return std::pair{field.substr(0, equal), field.substr(equal + 1)};
  });
  std::string joined;
  for (const auto& field : fields) joined += (joined.empty() ? "" : "&") + field;
  return joined;
}

}  // namespace detail

/// Adds the headers that authorise a request by Signature Version 4. All headers that it has are
/// signed, so none may be added later. `payload_hash` is the SHA-256 of the body, or
/// `unsigned_payload`. The path and the query must be percent-encoded.
inline void sign(http::Request& request, const Keys& keys, const SigningScope& scope,
                 const std::string& payload_hash) {
  const auto date = detail::date_text(scope.time);
  request.headers.push_back({"x-amz-date", date});
  if (scope.service == "s3") request.headers.push_back({"x-amz-content-sha256", payload_hash});
  if (!keys.session_token.empty()) {
    request.headers.push_back({"x-amz-security-token", keys.session_token});
  }
  const std::string_view target = request.url.target;
  const auto question = std::min(target.find('?'), target.size());
  const auto query = question < target.size() ? target.substr(question + 1) : "";
  auto canonical = request.method + '\n' + std::string{target.substr(0, question)} + '\n' +
                   detail::canonical_query(query) + '\n';
  std::string names;
  for (const auto& [name, value] : detail::canonical_headers(request)) {
    canonical += name + ':' + value + '\n';
    names += (names.empty() ? "" : ";") + name;
  }
  canonical += '\n' + names + '\n' + payload_hash;
  const auto day = date.substr(0, 8);
  const auto place = day + '/' + scope.region + '/' + scope.service + "/aws4_request";
  const auto text =
      "AWS4-HMAC-SHA256\n" + date + '\n' + place + '\n' + detail::sha256_hex(canonical);
  auto key = detail::hmac("AWS4" + keys.secret_key, day);
  for (const std::string_view part :
       {std::string_view{scope.region}, std::string_view{scope.service},
        std::string_view{"aws4_request"}}) {
    key = detail::hmac(key, part);
  }
  const auto digest = detail::hmac(key, text);
  const auto signature =
      hex({reinterpret_cast<const unsigned char*>(digest.data()), digest.size()});
  request.headers.push_back({"Authorization", "AWS4-HMAC-SHA256 Credential=" + keys.access_key +
                                                  '/' + place + ",SignedHeaders=" + names +
                                                  ",Signature=" + signature});
}

}  // namespace seqtrain::s3
