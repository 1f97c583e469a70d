#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "peers.hpp"

namespace seqtrain::bench {

void upload_with_beast(const std::string& port, const std::filesystem::path& file) {
  namespace beast = boost::beast;
  namespace http = boost::beast::http;
  boost::asio::io_context io;
  beast::tcp_stream stream{io};
  stream.connect(boost::asio::ip::tcp::resolver{io}.resolve("127.0.0.1", port));
  beast::error_code error;
  http::request<http::file_body> request{http::verb::put, "/upload?upload_id=plain", 11};
  request.body().open(file.c_str(), beast::file_mode::scan, error);
  const auto size = std::filesystem::file_size(file);
  request.set("Content-Range", "bytes 0-" + std::to_string(size - 1) + "/" + std::to_string(size));
  request.prepare_payload();
  http::write(stream, request);
  beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::read(stream, buffer, response);
  if (error || response.result_int() != 200) throw std::runtime_error{"not accepted"};
}

}  // namespace seqtrain::bench
