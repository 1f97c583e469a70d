#pragma once

#include <memory>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/transport_options.hpp>

namespace seqtrain::http {

/// Returns a `BeastTransport`. Throws `InputError` if `ca_file` cannot be read.
[[nodiscard]] SEQTRAIN_SEPARATE std::unique_ptr<Transport> open_transport(
    TransportOptions options = {});

}  // namespace seqtrain::http

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/http/src/open_transport.hpp>
#endif
