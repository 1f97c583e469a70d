#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <seqtrain/buckets/cache.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/http/open_transport.hpp>
#include <seqtrain/s3/chain.hpp>
#include <seqtrain/s3/client.hpp>

/// Opens a client as the environment says. Unless `open_transport` is compiled separately, this
/// header includes Beast and TLS, which take long to compile; other headers of s3 do not.
namespace seqtrain::s3 {

/// Options of `open_client`.
struct ClientOptions {
  http::RetryPolicy retry = {};
  http::Deadlines deadlines = {};
  bool anonymous = false;  ///< public objects, without credentials
  http::Log log = {};
  Environment environment = &process_environment;
};

namespace detail {

inline SessionOptions session_options(const ClientOptions& options, const Surroundings& around) {
  const auto profile = around.profile();
  SessionOptions session{
      .region = around.region, .retry = options.retry, .timing = {}, .log = options.log};
  auto endpoint = options.environment("AWS_ENDPOINT_URL_S3");
  if (!endpoint) endpoint = options.environment("AWS_ENDPOINT_URL");
  if (!endpoint) endpoint = setting(profile, "endpoint_url");
  if (endpoint) session.endpoint = http::Url::parse(*endpoint, "AWS_ENDPOINT_URL");
  const auto style = setting(profile, "s3.addressing_style").value_or("auto");
  session.path_style = style == "path" || (style == "auto" && endpoint.has_value());
  const auto dual = options.environment("AWS_USE_DUALSTACK_ENDPOINT").value_or("");
  session.dual_stack = dual == "true" || dual == "TRUE";
  return session;
}

}  // namespace detail

/// Returns a client of the service at `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` if that is set,
/// else of Amazon's in the region `AWS_REGION`, with the credentials of `find_credentials`. Throws
/// `InputError` if there are none.
inline Client open_client(const ClientOptions& options = {}) {
  const auto profiles = Profiles::from(options.environment);
  const auto around = Surroundings::from(options.environment, profiles);
  auto session = detail::session_options(options, around);
  std::unique_ptr<Credentials> credentials = std::make_unique<Anonymous>();
  if (!options.anonymous) {
    const auto probe = http::open_probe();
    credentials = find_credentials(around, *probe);
  }
  auto transport =
      http::open_transport({.deadlines = options.deadlines,
                            .proxies = http::ProxyRules::from(options.environment),
                            .ca_file = options.environment("AWS_CA_BUNDLE").value_or("")});
  return Client{
      std::make_unique<Session>(std::move(transport), std::move(credentials), std::move(session))};
}

/// Returns a local path as it is, and for `s3://` the verified local copy of the file or directory
/// in `cache_directory`. Throws `InputError` if it cannot be fetched.
inline std::filesystem::path localize(const std::string& path_or_uri,
                                      const std::filesystem::path& cache_directory,
                                      const http::Log& log = {}) {
  return buckets::localize(path_or_uri, cache_directory, [&] { return open_client({.log = log}); });
}

}  // namespace seqtrain::s3
