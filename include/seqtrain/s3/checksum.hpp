#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <openssl/evp.h>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/http/base64.hpp>
#include <seqtrain/http/message.hpp>

namespace seqtrain::s3 {

/// The checksum of a whole object, as far as the service gives one.
struct Checksum {
  /// The kinds of `text`.
  enum Kind {
    none,
    crc32c,
    crc32,
    crc64nvme,
    md5,           ///< the ETag of an object that was written in one request
    md5_of_parts,  ///< the ETag of an object that was written in parts
  };
  Kind kind = none;
  std::string text = {};  ///< as the service writes it
  /// The size of all parts but the last for `md5_of_parts`, or 0 if it is not known.
  std::uint64_t part_bytes = 0;
};

namespace detail {

/// Computes a CRC whose polynomial has its bits reversed, as gzip does.
template <class Number, Number polynomial>
class ReversedCrc {
 public:
  void update(std::span<const std::byte> bytes) {
    static constexpr auto table = [] {
      std::array<Number, 256> made{};
      for (std::size_t i = 0; i < made.size(); ++i) {
        auto value = static_cast<Number>(i);
        for (int bit = 0; bit < 8; ++bit) {
          value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
        }
        made[i] = value;
      }
      return made;
    }();
    for (const auto byte : bytes) {
      const auto low = static_cast<unsigned char>(state_ & 0xFF);
      state_ = table[low ^ static_cast<unsigned char>(byte)] ^ (state_ >> 8);
    }
  }
  [[nodiscard]] Number value() const { return static_cast<Number>(~state_); }

 private:
  Number state_ = static_cast<Number>(~Number{0});
};

using Crc32 = ReversedCrc<std::uint32_t, 0xEDB88320>;
using Crc64Nvme = ReversedCrc<std::uint64_t, 0x9A6C9329AC4BC9B5>;

/// Computes MD5 piece by piece. ETags are MD5; it protects against accidents only.
class Md5 {
 public:
  Md5() { check(context_ && EVP_DigestInit_ex(context_.get(), EVP_md5(), nullptr) == 1); }
  void update(std::span<const std::byte> bytes) {
    check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  [[nodiscard]] std::array<unsigned char, 16> digest() {
    std::array<unsigned char, 16> digest{};
    check(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
    return digest;
  }

 private:
  static void check(bool good) {
    if (!good) throw Error{"OpenSSL cannot compute MD5"};
  }
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

template <class Sum>
Sum sum_of(buckets::ByteSource& content, std::uint64_t begin = 0,
           std::uint64_t end = std::numeric_limits<std::uint64_t>::max()) {
  Sum sum;
  buckets::read_pieces(content, begin, end,
                       [&](std::span<const std::byte> bytes) { sum.update(bytes); });
  return sum;
}

inline std::string md5_of_parts(buckets::ByteSource& content, std::uint64_t size,
                                std::uint64_t part_bytes) {
  Md5 whole;
  const auto parts = (size + part_bytes - 1) / part_bytes;
  for (std::uint64_t i = 0; i < parts; ++i) {
    const auto digest =
        sum_of<Md5>(content, i * part_bytes, std::min((i + 1) * part_bytes, size)).digest();
    whole.update(std::as_bytes(std::span{digest}));
  }
  return hex(whole.digest()) + "-" + std::to_string(parts);
}

}  // namespace detail

/// Returns an ETag without its quotes and the mark `W/` of a proxy that compresses answers.
inline std::string plain_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"')) {
    etag = etag.substr(1, etag.size() - 2);
  }
  return std::string{etag};
}

/// Tells whether an ETag has the form of an MD5, and the object is not encrypted in a way that
/// makes it something else.
inline bool is_md5(std::string_view etag, const http::Response& response) {
  const auto encryption = response.find("x-amz-server-side-encryption").value_or("AES256");
  return etag.size() == 32 && etag.find_first_not_of("0123456789abcdef") == etag.npos &&
         encryption == "AES256" &&
         !response.find("x-amz-server-side-encryption-customer-algorithm");
}

/// Returns the checksum of a whole object that the headers of an answer give. Of an object that was
/// written in parts, a CRC may be that of the parts' CRCs, unless the answer says otherwise; and
/// the ETag has the checksum only with the size of a part.
inline Checksum read_checksum(const http::Response& response) {
  const auto etag = plain_etag(response.find("ETag").value_or(""));
  const auto dash = std::min(etag.find('-'), etag.size());
  const bool in_parts = dash < etag.size();
  const auto type = response.find("x-amz-checksum-type").value_or(in_parts ? "" : "FULL_OBJECT");
  constexpr std::pair<Checksum::Kind, const char*> headers[] = {
      {Checksum::crc32c, "x-amz-checksum-crc32c"},
      {Checksum::crc64nvme, "x-amz-checksum-crc64nvme"},
      {Checksum::crc32, "x-amz-checksum-crc32"}};
  for (const auto& [kind, name] : headers) {
    const auto text = response.find(name);
    if (type == "FULL_OBJECT" && text && text->find('-') == text->npos) return {kind, *text};
  }
  if (!is_md5(etag.substr(0, dash), response)) return {};
  return {in_parts ? Checksum::md5_of_parts : Checksum::md5, etag};
}

/// Tells whether a content of `size` bytes, whose CRC-32C is known, has this checksum. It reads the
/// content only for other kinds. A checksum that is unknown fits all.
inline bool fits(const Checksum& checksum, Crc32c known, buckets::ByteSource& content,
                 std::uint64_t size) {
  switch (checksum.kind) {
    case Checksum::crc32c:
      return checksum.text == http::base64_of(known.value());
    case Checksum::crc32:
      return checksum.text == http::base64_of(detail::sum_of<detail::Crc32>(content).value());
    case Checksum::crc64nvme:
      return checksum.text == http::base64_of(detail::sum_of<detail::Crc64Nvme>(content).value());
    case Checksum::md5:
      return checksum.text == hex(detail::sum_of<detail::Md5>(content).digest());
    case Checksum::md5_of_parts:
      if (checksum.part_bytes == 0) return true;
      return checksum.text == detail::md5_of_parts(content, size, checksum.part_bytes);
    case Checksum::none:
      break;
  }
  return true;
}

}  // namespace seqtrain::s3
