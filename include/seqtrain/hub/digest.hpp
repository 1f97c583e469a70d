#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/evp.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/hex.hpp>

namespace seqtrain::hub {

/// Computes the hash by which the hub names a file's content: SHA-256 for a large file (64
/// hexadecimal digits), git's blob hash for others (40 digits).
class Digest {
 public:
  /// `expected` is the expected hash of a content of `size` bytes. Throws `InputError` if it is
  /// neither of the two.
  Digest(std::string expected, std::uint64_t size)
      : expected_{std::move(expected)}, context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free} {
    if (!is_hash(expected_)) throw InputError{"'" + expected_ + "' is not a hash of a file"};
    const bool git = expected_.size() == 40;
    EVP_DigestInit_ex(context_.get(), git ? EVP_sha1() : EVP_sha256(), nullptr);
    const auto head = "blob " + std::to_string(size) + '\0';
    if (git) update(std::as_bytes(std::span{head}));
  }

  static bool is_hash(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == text.npos;
  }

  void update(std::span<const std::byte> bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }

  /// Tells whether the content has the expected hash. Do not add bytes after this call.
  [[nodiscard]] bool matches() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
    return hex(std::span{bytes}.first(size)) == expected_;
  }

 private:
  std::string expected_;
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace seqtrain::hub
