#pragma once

#include <stop_token>
#include <utility>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/http/open_transport.hpp>
#include <seqtrain/hub/fetch.hpp>

/// Opens a client as the environment says. Unless `open_transport` is compiled separately, this
/// header includes Beast and TLS, which take long to compile; the other headers do not.
namespace seqtrain::hub {

/// Returns a client of the hub that the environment names. `log` receives a line for each failed
/// attempt.
[[nodiscard]] inline Client open_client(const http::Log& log = {},
                                        const Environment& environment = &process_environment) {
  auto transport = http::open_transport({.proxies = http::ProxyRules::from(environment)});
  return Client{std::move(transport), Settings::from(environment), {.log = log}};
}

/// Returns a client for uploads of results that took long to make: it repeats a failed request for
/// five minutes, and a request may take a day as long as bytes flow. `stop` ends its requests.
[[nodiscard]] inline Client open_upload_client(
    const http::Log& log = {}, const std::stop_token& stop = {},
    const Environment& environment = &process_environment) {
  constexpr http::Seconds day{24 * 60 * 60}, five_minutes{5 * 60};
  auto transport = http::open_transport(
      {.deadlines = {.whole = day}, .proxies = http::ProxyRules::from(environment)});
  transport->stop_at(stop);
  return Client{std::move(transport),
                Settings::from(environment),
                {.retry = {.total = five_minutes}, .timing = {.stop = stop}, .log = log}};
}

}  // namespace seqtrain::hub
