#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/http/beast_transport.hpp>
#include <seqtrain/hub/fetch.hpp>

/// Opens a client as the environment says. This header includes Beast and TLS, which take long to
/// compile; the other headers do not.
namespace seqtrain::hub {

/// Returns a client of the hub that the environment names. `log` receives a line for each failed
/// attempt.
[[nodiscard]] inline Client open_client(const http::Log& log = {},
                                        const Environment& environment = &process_environment) {
  auto transport = std::make_unique<http::BeastTransport>(
      http::TransportOptions{.proxies = http::ProxyRules::from(environment)});
  return Client{std::move(transport), Settings::from(environment), {.log = log}};
}

}  // namespace seqtrain::hub
