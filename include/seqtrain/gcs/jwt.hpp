#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/http/base64.hpp>

namespace seqtrain::gcs {

/// An RSA key that signs by RS256 (RFC 7518, section 3.3).
class SigningKey {
 public:
  /// Reads a private key in PEM. Throws `InputError` with `where`; the error shows nothing of the
  /// key.
  SigningKey(std::string_view pem, const Where& where) {
    const std::unique_ptr<BIO, int (*)(BIO*)> text{
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
    const auto no_password = [](char*, int, int, void*) { return -1; };
    key_.reset(PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr));
    ERR_clear_error();
    if (!key_) throw InputError{"is not a private key in PEM", where};
    if (EVP_PKEY_base_id(key_.get()) != EVP_PKEY_RSA) throw InputError{"is not an RSA key", where};
  }

  /// Returns `header.claims.signature` with each part in base64url. `header` and `claims` are JSON.
  [[nodiscard]] std::string sign(std::string_view header, std::string_view claims) const {
    auto text = http::base64url(header) + "." + http::base64url(claims);
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(),
                                                                     &EVP_MD_CTX_free};
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    const auto* digest = EVP_sha256();
    const bool begun =
        EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key_.get()) == 1 &&
        EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1;
    std::string signature(size, '\0');
    auto* out = reinterpret_cast<unsigned char*>(signature.data());
    if (!begun || EVP_DigestSign(context.get(), out, &size, bytes, text.size()) != 1) {
      throw Error{"OpenSSL cannot sign with this key"};
    }
    signature.resize(size);
    return text + "." + http::base64url(signature);
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  std::unique_ptr<EVP_PKEY, Free> key_;
};

}  // namespace seqtrain::gcs
