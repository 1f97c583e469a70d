#pragma once

#include <memory>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/transport_options.hpp>

namespace seqtrain::http {

/// Returns a `BeastTransport`. Throws `InputError` if `ca_file` cannot be read.
[[nodiscard]] SEQTRAIN_SEPARATE std::unique_ptr<Transport> open_transport(
    TransportOptions options = {});

/// Returns a transport for the metadata server of a cloud's machine, which answers at once if it is
/// there.
[[nodiscard]] inline std::unique_ptr<Transport> open_probe() {
  return open_transport({.deadlines = {Seconds{1}, Seconds{1}, Seconds{2}, Seconds{3}}});
}

}  // namespace seqtrain::http

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/http/src/open_transport.hpp>
#endif
