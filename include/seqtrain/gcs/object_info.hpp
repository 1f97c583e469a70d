#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::gcs {

/// Reads a checksum as the service writes it. Returns nothing if `text` is not one.
inline std::optional<Crc32c> parse_crc32c(std::string_view text) {
  const auto bytes = decode_base64(text, Base64::standard);
  if (!bytes || bytes->size() != 4) return {};
  std::uint32_t value = 0;
  for (const char byte : *bytes) value = value << 8 | static_cast<unsigned char>(byte);
  const Crc32c checksum{value};
  if (http::base64_of(checksum.value()) != text) return {};
  return checksum;
}

/// The properties of an object. A generation is one version of its content.
struct ObjectInfo {
  Uri uri;
  std::int64_t generation = 0;
  std::uint64_t size = 0;  ///< bytes, as stored
  std::optional<Crc32c> crc32c = {};
  std::string content_type = {};
  std::string modified = {};  ///< RFC 3339

  /// Returns what differs between two versions of an object.
  [[nodiscard]] std::string version() const { return std::to_string(generation); }
};

/// Conditions of a write.
struct WriteOptions {
  std::optional<std::int64_t> if_generation = {};  ///< 0: there must be no such object yet
  std::string content_type = "application/octet-stream";
};

namespace detail {

/// Reads a 64-bit number, which the service writes as a string and emulators also write as a
/// number.
template <class Number>
Number read_number(const json::Value& value) {
  if (value.is_integer()) {
    const auto number = value.integer();
    if (number < 0) throw value.error("negative");
    return static_cast<Number>(number);
  }
  const auto number = parse_number<Number>(value.string());
  if (!number || value.string().starts_with('-')) throw value.error("expected a number");
  return *number;
}

inline ObjectInfo read_object(const json::Value& object, const std::string& bucket) {
  ObjectInfo info{{bucket, std::string{object.at("name").string()}}};
  info.generation = read_number<std::int64_t>(object.at("generation"));
  info.size = read_number<std::uint64_t>(object.at("size"));
  if (const auto sum = object.find("crc32c")) info.crc32c = parse_crc32c(sum->string());
  if (const auto type = object.find("contentType")) info.content_type = type->string();
  if (const auto updated = object.find("updated")) info.modified = updated->string();
  return info;
}

inline std::string objects_path(const std::string& api, const Uri& uri) {
  return api + "/b/" + uri.bucket + "/o";
}

inline std::string object_path(const Uri& uri) {
  if (uri.name.empty()) throw InputError{"names a bucket, not an object", {.object = uri.text()}};
  return objects_path("/storage/v1", uri) + "/" + http::percent_encode(uri.name);
}

inline std::string with_precondition(std::string query, const WriteOptions& options) {
  if (!options.if_generation) return query;
  if (!query.empty()) query += '&';
  return query + "ifGenerationMatch=" + std::to_string(*options.if_generation);
}

inline std::string metadata(const Uri& uri, const WriteOptions& options, Crc32c checksum) {
  json::Writer writer;
  writer.begin_object().member("name", uri.name).member("contentType", options.content_type);
  return writer.member("crc32c", http::base64_of(checksum.value())).end_object().text();
}

/// Returns a line that does not occur in the content.
inline std::string boundary_for(std::span<const std::byte> bytes) {
  const std::string_view text = as_text(bytes);
  std::string boundary = "seqtrain";
  while (text.find(boundary) != std::string_view::npos) {
    boundary += std::to_string(static_cast<int>(http::random_unit() * 1e9));
  }
  return boundary;
}

inline std::string compose_body(const std::vector<ObjectInfo>& parts, const WriteOptions& options) {
  json::Writer writer;
  writer.begin_object().key("sourceObjects").begin_array();
  for (const auto& part : parts) {
    writer.begin_object().member("name", part.uri.name);
    writer.member("generation", std::to_string(part.generation)).end_object();
  }
  writer.end_array().key("destination").begin_object();
  return writer.member("contentType", options.content_type).end_object().end_object().text();
}

}  // namespace detail

}  // namespace seqtrain::gcs
