#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/archive.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_head.hpp>
#include <seqtrain/serve/http_message.hpp>

namespace seqtrain::serve {

/// The codings of bodies that `decode_body` reads, for the header `Accept-Encoding` of an error.
inline constexpr std::string_view body_codings = "gzip, zstd";

namespace detail {

inline std::string decompressed(std::string_view body, data::Compression coding,
                                std::size_t limit) {
  std::string text;
  try {
    constexpr int window_log = 23;  // 8 MiB, as RFC 9659 bounds it for HTTP
    data::ArchiveReader archive{body, coding, "body", window_log};
    for (std::size_t made = 1; made > 0;) {
      const std::size_t begin = text.size();
      if (begin > limit) {
        throw too_large("the body is larger than " + std::to_string(limit) +
                        " bytes once it is decompressed");
      }
      text.resize(begin + std::min(std::max<std::size_t>(begin, 4096), limit + 1));
      made = archive.read(std::span{text}.subspan(begin));
      text.resize(begin + made);
    }
  } catch (const HttpError&) {
    throw;
  } catch (const InputError& error) {
    throw HttpError{400, error_type::validation, error.what()};
  }
  return text;
}

}  // namespace detail

/// Replaces the body of a request by what its `Content-Encoding` says: gzip, zstd or nothing.
/// Throws an `HttpError` with status 415 for another coding, 400 if the body is damaged, and 413 if
/// it has more than `limit` bytes.
inline void decode_body(HttpRequest& request, std::size_t limit) {
  if (request.content_encoding.empty()) return;
  const auto codings = split(request.content_encoding, ',');
  if (codings.size() > 4) {
    throw HttpError{415, error_type::validation, "the body has more than 4 codings"};
  }
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
    const auto is = [name = http_syntax::trimmed(*coding)](std::string_view other) {
      return http_syntax::equals(name, other);
    };
    const bool gzip = is("gzip") || is("x-gzip");
    if (is("") || is("identity")) continue;
    if (!gzip && !is("zstd")) {
      throw HttpError{415, error_type::validation,
                      "the body's coding is not supported; gzip and zstd are"};
    }
    request.body = detail::decompressed(
        request.body, gzip ? data::Compression::gzip : data::Compression::zstd, limit);
  }
  request.content_encoding.clear();
}

}  // namespace seqtrain::serve
