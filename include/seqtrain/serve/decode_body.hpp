#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/archive.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/refusal.hpp>

namespace seqtrain::serve {

/// The codings of bodies that `decode_body` reads, for the header `Accept-Encoding` of a refusal.
inline constexpr std::string_view body_codings = "gzip, zstd";

namespace detail {

/// Returns a text in lower case without blanks around it. Only ASCII letters change.
inline std::string plain_name(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto begin = std::min(text.find_first_not_of(blanks), text.size());
  std::string name{text.substr(begin, text.find_last_not_of(blanks) + 1 - begin)};
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

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
  } catch (const Refusal&) {
    throw;
  } catch (const InputError& error) {
    throw Refusal{400, error_type::validation, error.what()};
  }
  return text;
}

}  // namespace detail

/// Replaces the body of a request by what its `Content-Encoding` says: gzip, zstd or nothing.
/// Throws a `Refusal` with status 415 for another coding, 400 if the body is damaged, and 413 if it
/// has more than `limit` bytes.
inline void decode_body(HttpRequest& request, std::size_t limit) {
  if (request.content_encoding.empty()) return;
  const auto codings = split(request.content_encoding, ',');
  if (codings.size() > 4) {
    throw Refusal{415, error_type::validation, "the body has more than 4 codings"};
  }
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
    const std::string name = detail::plain_name(*coding);
    const bool gzip = name == "gzip" || name == "x-gzip";
    if (name.empty() || name == "identity") continue;
    if (!gzip && name != "zstd") {
      throw Refusal{415, error_type::validation,
                    "the body's coding is not supported; gzip and zstd are"};
    }
    request.body = detail::decompressed(
        request.body, gzip ? data::Compression::gzip : data::Compression::zstd, limit);
  }
  request.content_encoding.clear();
}

}  // namespace seqtrain::serve
