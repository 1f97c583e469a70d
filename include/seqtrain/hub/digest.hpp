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

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain::hub {

/// The hashes by which the hub names a file's content: git's blob hash (40 hexadecimal digits), and
/// SHA-256 (64 digits) for large files.
enum class HashKind { git, sha256 };

/// Computes the hash of a content from its pieces.
class ContentHash {
 public:
  /// Starts the hash of a content of `size` bytes.
  ContentHash(HashKind kind, std::uint64_t size) : context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free} {
    const bool git = kind == HashKind::git;
    EVP_DigestInit_ex(context_.get(), git ? EVP_sha1() : EVP_sha256(), nullptr);
    const auto head = "blob " + std::to_string(size) + '\0';
    if (git) update(std::as_bytes(std::span{head}));
  }

  /// Adds bytes of the content.
  void update(std::span<const std::byte> bytes) {
    EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }

  /// Returns the hash in hexadecimal digits. Do not add bytes after this call.
  [[nodiscard]] std::string text() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
    return hex(std::span{bytes}.first(size));
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

/// Compares a content with the hash by which the hub names it.
class Digest {
 public:
  /// `expected` is the expected hash of a content of `size` bytes. Throws `InputError` if it is
  /// neither of the two kinds.
  Digest(std::string expected, std::uint64_t size)
      : expected_{std::move(expected)},
        hash_{expected_.size() == 40 ? HashKind::git : HashKind::sha256, size} {
    if (!is_hash(expected_)) throw InputError{"'" + expected_ + "' is not a hash of a file"};
  }

  /// Tells whether a text has the form of a hash of Git or of SHA-256.
  static bool is_hash(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == text.npos;
  }

  /// Adds bytes of the content.
  void update(std::span<const std::byte> bytes) { hash_.update(bytes); }

  /// Tells whether the content has the expected hash. Do not add bytes after this call.
  [[nodiscard]] bool matches() { return hash_.text() == expected_; }

 private:
  std::string expected_;
  ContentHash hash_;
};

}  // namespace seqtrain::hub
