#include <limits>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "peers.hpp"

namespace seqtrain::bench {

void download_with_beast(const std::string& port, const std::filesystem::path& file) {
  namespace beast = boost::beast;
  namespace http = boost::beast::http;
  boost::asio::io_context io;
  beast::tcp_stream stream{io};
  stream.connect(boost::asio::ip::tcp::resolver{io}.resolve("127.0.0.1", port));
  http::write(stream, http::request<http::empty_body>{http::verb::get, "/o/name?alt=media", 11});
  beast::error_code error;
  http::response_parser<http::file_body> parser;
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  parser.get().body().open(file.c_str(), beast::file_mode::write, error);
  beast::flat_buffer buffer;
  buffer.reserve(std::size_t{1} << 20);  // otherwise it reads 512 bytes at a time
  http::read(stream, buffer, parser);
  if (error || parser.get().result_int() != 200) throw std::runtime_error{"not sent"};
}

}  // namespace seqtrain::bench
