#pragma once

#include <memory>
#include <utility>

#include <seqtrain/http/beast_transport.hpp>
#include <seqtrain/http/open_transport.hpp>

namespace seqtrain::http {

[[nodiscard]] SEQTRAIN_SEPARATE std::unique_ptr<Transport> open_transport(
    TransportOptions options) {
  return std::make_unique<BeastTransport>(std::move(options));
}

}  // namespace seqtrain::http
