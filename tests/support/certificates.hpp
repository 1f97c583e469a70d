#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

namespace seqtrain::tests {

/// A key and a certificate for it, signed by itself or by another certificate.
class Certificate {
 public:
  /// `subject_alt_name` as OpenSSL writes it, e.g. `DNS:localhost` or `IP:127.0.0.1`; empty for an
  /// authority.
  Certificate(const std::string& name, const std::string& subject_alt_name,
              const Certificate* issuer = nullptr)
      : key_{EVP_EC_gen("P-256"), &EVP_PKEY_free}, certificate_{X509_new(), &X509_free} {
    auto* x509 = certificate_.get();
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), static_cast<long>(name.size()) + 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
    X509_set_pubkey(x509, key_.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    const auto& signer = issuer == nullptr ? *this : *issuer;
    X509_set_issuer_name(x509, X509_get_subject_name(signer.certificate_.get()));
    if (subject_alt_name.empty()) {
      extend(NID_basic_constraints, "critical,CA:TRUE");
    } else {
      extend(NID_subject_alt_name, subject_alt_name);
    }
    if (X509_sign(x509, signer.key_.get(), EVP_sha256()) == 0) throw std::runtime_error{"signing"};
  }

  [[nodiscard]] std::string certificate_pem() const {
    return pem([this](BIO* out) { PEM_write_bio_X509(out, certificate_.get()); });
  }
  [[nodiscard]] std::string key_pem() const {
    return pem([this](BIO* out) {
      PEM_write_bio_PrivateKey(out, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
  }

 private:
  void extend(int kind, const std::string& value) {
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  template <class Write>
  static std::string pem(const Write& write) {
    BIO* memory = BIO_new(BIO_s_mem());
    write(memory);
    char* text = nullptr;
    const auto size = BIO_get_mem_data(memory, &text);
    std::string result{text, static_cast<std::size_t>(size)};
    BIO_free(memory);
    return result;
  }

  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  std::unique_ptr<X509, void (*)(X509*)> certificate_;
};

}  // namespace seqtrain::tests
