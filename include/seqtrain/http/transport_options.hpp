#pragma once

#include <filesystem>

#include <seqtrain/http/message.hpp>
#include <seqtrain/http/proxy.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

struct TransportOptions {
  Deadlines deadlines = {};
  ProxyRules proxies = {};
  std::filesystem::path ca_file = {};  ///< additional certificate authorities to trust, in PEM
  Seconds longest_idle{30};            ///< a connection that was unused for longer is not reused
};

}  // namespace seqtrain::http
