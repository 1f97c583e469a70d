#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <seqtrain/buckets/cache.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/credentials_file.hpp>
#include <seqtrain/http/open_transport.hpp>

/// Opens a client as the environment says. Unless `open_transport` is compiled separately, this
/// header includes Beast and TLS, which take long to compile; other headers of gcs do not.
namespace seqtrain::gcs {

/// Options of `open_client`.
struct ClientOptions {
  http::RetryPolicy retry = {};
  http::Deadlines deadlines = {};
  std::filesystem::path ca_file = {};  ///< authorities in PEM, trusted beside the system's
  std::string user_project = {};       ///< pays for requests to "requester pays" buckets
  bool anonymous = false;              ///< public objects, without credentials
  http::Log log = {};
  Environment environment = &process_environment;
};

namespace detail {

inline SessionOptions session_options(const ClientOptions& options) {
  const auto payer = options.environment("GOOGLE_CLOUD_QUOTA_PROJECT").value_or("");
  SessionOptions session{
      .user_project = options.user_project.empty() ? payer : options.user_project,
      .retry = options.retry,
      .timing = {},
      .log = options.log};
  if (auto host = options.environment("STORAGE_EMULATOR_HOST")) {
    if (host->find("://") == std::string::npos) *host = "http://" + *host;
    session.endpoint = http::Url::parse(*host, "STORAGE_EMULATOR_HOST");
    session.is_emulator = true;
    // An emulator runs on this machine or near it: it answers soon, or it was not started.
    session.retry.total = std::min(session.retry.total, http::Seconds{20});
  }
  return session;
}

inline std::unique_ptr<Credentials> credentials_for(const ClientOptions& options,
                                                    bool is_emulator) {
  const auto off = options.environment("CLOUDSDK_AUTH_DISABLE_CREDENTIALS").value_or("");
  const bool anonymous = options.anonymous || off == "true" || off == "True" || off == "1";
  if (is_emulator || anonymous) return std::make_unique<Anonymous>();
  const auto probe = http::open_probe();
  return find_credentials(options.environment, *probe);
}

}  // namespace detail

/// Returns a client of the emulator at `STORAGE_EMULATOR_HOST` if that is set, without credentials.
/// Otherwise returns a client of Google's service with the credentials of `find_credentials`.
/// Throws `InputError` if there are none.
inline Client open_client(const ClientOptions& options = {}) {
  auto session = detail::session_options(options);
  auto credentials = detail::credentials_for(options, session.is_emulator);
  auto transport = http::open_transport({.deadlines = options.deadlines,
                                         .proxies = http::ProxyRules::from(options.environment),
                                         .ca_file = options.ca_file});
  return Client{
      std::make_unique<Session>(std::move(transport), std::move(credentials), std::move(session))};
}

/// Returns a local path as it is, and for `gs://` the verified local copy of the file or directory
/// in `cache_directory`. Throws `InputError` if it cannot be fetched.
inline std::filesystem::path localize(const std::string& path_or_uri,
                                      const std::filesystem::path& cache_directory,
                                      const http::Log& log = {}) {
  return buckets::localize(path_or_uri, cache_directory, [&] { return open_client({.log = log}); });
}

}  // namespace seqtrain::gcs
