#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/optional.hpp>

#include <seqtrain/http/timed_socket.hpp>

namespace seqtrain::http::detail {

namespace beast_http = beast::http;

/// A body that consists of several pieces of memory, which are not copied.
struct PiecesBody {
  using value_type = std::vector<asio::const_buffer>;
  static std::uint64_t size(const value_type& pieces) { return asio::buffer_size(pieces); }
  class writer {  // NOLINT(readability-identifier-naming): Beast's name
   public:
    using const_buffers_type = value_type;
    template <bool is_request, class Fields>
    writer(const beast_http::header<is_request, Fields>&, const value_type& pieces)
        : pieces_{pieces} {}
    static void init(beast::error_code& error) { error = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(beast::error_code& error) {
      error = {};
      return {{pieces_, false}};
    }

   private:
    const value_type& pieces_;
  };
};

}  // namespace seqtrain::http::detail
