#include <fstream>
#include <stdexcept>
#include <vector>

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
  const auto size = std::filesystem::file_size(file);
  http::request<http::buffer_body> request{http::verb::put, "/upload?upload_id=plain", 11};
  request.set("Content-Range", "bytes 0-" + std::to_string(size - 1) + "/" + std::to_string(size));
  request.content_length(size);
  http::request_serializer<http::buffer_body> serializer{request};
  http::write_header(stream, serializer);
  // Beast's own file_body would read 4096 bytes at a time.
  std::vector<char> piece(std::size_t{256} << 10);
  std::ifstream in{file, std::ios::binary};
  beast::error_code error;
  while (!serializer.is_done()) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    auto& body = request.body();
    body = {piece.data(), static_cast<std::size_t>(in.gcount()), in.gcount() > 0};
    http::write(stream, serializer, error);
    if (error && error != http::error::need_buffer) throw beast::system_error{error};
  }
  beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::read(stream, buffer, response);
  if (response.result_int() != 200) throw std::runtime_error{"not accepted"};
}

}  // namespace seqtrain::bench
