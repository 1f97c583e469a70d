#pragma once

#include <chrono>
#include <ctime>
#include <iomanip>
#include <locale>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/beast/http/status.hpp>

namespace seqtrain::serve {

/// An HTTP request.
struct HttpRequest {
  std::string method = {};
  std::string target = {};            ///< path and query, as sent
  std::string id = {};                ///< `X-Request-Id`; empty if it is missing or not usable
  std::string inference_header = {};  ///< `Inference-Header-Content-Length`, as sent
  std::string content_type = {};
  std::string content_encoding = {};
  std::string host = {};
  std::string origin = {};         ///< the page that a browser sends the request for
  std::string fetch_site = {};     ///< `Sec-Fetch-Site`: whether that page is of this server
  std::string authorization = {};  ///< never logged
  std::string body = {};
  unsigned version = 11;  ///< 10 for HTTP/1.0, 11 for HTTP/1.1
  bool keep_alive = true;

  /// Returns the path, without the query.
  [[nodiscard]] std::string_view path() const {
    std::string_view path = target;
    if (const auto scheme = path.find("://"); !path.starts_with('/') && scheme != path.npos) {
      const auto begin = path.find('/', scheme + 3);
      path = begin == path.npos ? "/" : path.substr(begin);
    }
    return path.substr(0, path.find('?'));
  }
};

/// An HTTP response.
struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<const void> held = {};  ///< freed when the response is sent or cannot be sent
};

/// Returns the time as HTTP writes it, e.g. `Sun, 06 Nov 1994 08:49:37 GMT`.
[[nodiscard]] inline std::string http_date(std::time_t time) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::ostringstream text;
  text.imbue(std::locale::classic());  // English names
  text << std::put_time(&parts, "%a, %d %b %Y %H:%M:%S GMT");
  return text.str();
}

/// Returns the bytes of a response: the head and, unless the request was HEAD, the body.
[[nodiscard]] inline std::string to_wire(const HttpResponse& response, const HttpRequest& request,
                                         bool keep_alive) {
  thread_local std::pair<std::time_t, std::string> date{0, ""};
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (date.first != now) date = {now, http_date(now)};
  namespace http = boost::beast::http;
  const auto reason = http::obsolete_reason(http::int_to_status(unsigned(response.status)));
  std::string out;
  out.reserve(256 + response.body.size());
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(reason.data(), reason.size()).append("\r\nDate: ").append(date.second);
  if (response.status != 204) {
    if (!response.body.empty()) out.append("\r\nContent-Type: ").append(response.content_type);
    out.append("\r\nContent-Length: ").append(std::to_string(response.body.size()));
  }
  for (const auto& [name, value] : response.headers) {
    out.append("\r\n").append(name).append(": ").append(value);
  }
  if (!keep_alive) out.append("\r\nConnection: close");
  if (keep_alive && request.version == 10) out.append("\r\nConnection: keep-alive");
  out.append("\r\n\r\n");
  if (request.method != "HEAD") out.append(response.body);
  return out;
}

}  // namespace seqtrain::serve
