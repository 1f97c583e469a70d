#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <seqtrain/http/beast_transport.hpp>

#include "support/certificates.hpp"
#include "support/fault_server.hpp"
#include "support/temporary_directory.hpp"
#include "support/tunnel.hpp"

namespace seqtrain::tests {
namespace {

class Tls : public testing::Test {
 protected:
  /// Returns the status of the answer of a server with this certificate, addressed as `host`.
  int ask(const Certificate& certificate, const std::string& host,
          const std::filesystem::path& ca_file) {
    boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
    const auto chain = certificate.certificate_pem(), key = certificate.key_pem();
    context.use_certificate_chain(boost::asio::buffer(chain));
    context.use_private_key(boost::asio::buffer(key), boost::asio::ssl::context::pem);
    FaultServer server{&context};
    Tunnel tunnel{server.port()};
    http::TransportOptions options{.ca_file = ca_file};
    if (through_a_proxy_) options.proxies = proxy_at(tunnel.port());
    http::BeastTransport transport{options};
    const auto address = "https://" + host + ":" + server.port() + "/storage/v1/b/bucket/o";
    const auto response = transport.send({.url = http::Url::parse(address, "test")});
    if (through_a_proxy_) {
      EXPECT_EQ(tunnel.asked(), "CONNECT " + host + ":" + server.port() + " HTTP/1.1");
    }
    return response.status;
  }
  static http::ProxyRules proxy_at(const std::string& port) {
    return http::ProxyRules::from([&](const std::string& name) -> std::optional<std::string> {
      if (name != "HTTPS_PROXY") return {};
      return "http://127.0.0.1:" + port;
    });
  }
  std::string refusal(const Certificate& certificate, const std::string& host,
                      const std::filesystem::path& ca_file) {
    try {
      ask(certificate, host, ca_file);
    } catch (const http::TrustError& error) {
      return error.what();
    }
    ADD_FAILURE() << "not refused";
    return {};
  }

  bool through_a_proxy_ = false;
  TemporaryDirectory directory_;
  const Certificate authority_{"an authority", ""};
  const Certificate local_{"localhost", "DNS:localhost", &authority_};
  const std::filesystem::path ca_file_ =
      write_file(directory_ / "ca.pem", authority_.certificate_pem());
};

TEST_F(Tls, AnAuthorityOfOnesOwnIsAcceptedFromAFile) {
  EXPECT_EQ(ask(local_, "localhost", ca_file_), 200);
  EXPECT_EQ(ask(Certificate{"ip", "IP:127.0.0.1", &authority_}, "127.0.0.1", ca_file_), 200);
}

TEST_F(Tls, AnAuthorityOfOnesOwnIsAcceptedFromTheEnvironment) {
  ::setenv("SSL_CERT_FILE", ca_file_.c_str(), 1);
  EXPECT_EQ(ask(local_, "localhost", {}), 200);
  ::unsetenv("SSL_CERT_FILE");
}

TEST_F(Tls, GoesThroughAProxysTunnelAndIsVerifiedAllTheSame) {
  through_a_proxy_ = true;
  EXPECT_EQ(ask(local_, "localhost", ca_file_), 200);
  EXPECT_EQ(ask(local_, "localhost", ca_file_), 200);
  EXPECT_NE(refusal(local_, "localhost", {}).find("certificate is refused"), std::string::npos);
}

TEST_F(Tls, AnUnknownAuthorityIsRefused) {
  EXPECT_NE(refusal(local_, "localhost", {}).find("certificate is refused"), std::string::npos);
}

TEST_F(Tls, ASelfSignedCertificateIsRefused) {
  const auto message = refusal(Certificate{"localhost", "DNS:localhost"}, "localhost", {});
  EXPECT_NE(message.find("self-signed"), std::string::npos) << message;
  refusal(Certificate{"localhost", "DNS:localhost"}, "localhost", ca_file_);
}

TEST_F(Tls, AWrongHostNameIsRefused) {
  const auto message =
      refusal(Certificate{"other", "DNS:example.com", &authority_}, "localhost", ca_file_);
  EXPECT_NE(message.find("ostname mismatch"), std::string::npos) << message;
  refusal(local_, "127.0.0.1", ca_file_);
}

TEST_F(Tls, AFileWithoutCertificatesIsWrongInput) {
  const auto file = write_file(directory_ / "none.pem", "text");
  EXPECT_THROW(http::BeastTransport({.ca_file = file}), InputError);
  EXPECT_THROW(http::BeastTransport({.ca_file = directory_ / "absent"}), InputError);
}

TEST_F(Tls, APlainServerIsNoTlsServer) {
  FaultServer server;
  http::BeastTransport transport{{.deadlines = {.connect = http::Seconds{2}}}};
  const auto address = http::Url::parse("https://localhost:" + server.port(), "test");
  EXPECT_THROW(transport.send({.url = address}), http::TransportError);
}

TEST(BeastTransport, KnowsAServerThatIsNotThere) {
  http::BeastTransport transport;
  std::string port;
  {
    const FaultServer server;
    port = server.port();
  }
  const auto address = http::Url::parse("http://127.0.0.1:" + port, "test");
  EXPECT_THROW(transport.send({.url = address}), http::Unreachable);
}

TEST(BeastTransport, TakesTheHeadOfAnAnswer) {
  FaultServer server;
  server.storage.write("name", std::string(1000, 'x'));
  http::BeastTransport transport;
  const auto address = http::Url::parse(
      "http://127.0.0.1:" + server.port() + "/storage/v1/b/bucket/o/name?alt=media", "test");
  for (int i = 0; i < 2; ++i) {
    const auto head = transport.send({.method = "HEAD", .url = address, .max_answer = 10});
    EXPECT_EQ(head.find("Content-Length"), "1000");
    EXPECT_EQ(head.body, "");
  }
  EXPECT_EQ(server.connections(), 1);
}

/// A proxy that records the requests and answers with one status.
class RefusingProxy {
 public:
  explicit RefusingProxy(int status) {
    server_.script({.kind = Fault::answer, .times = 1000, .response = {status}});
  }
  http::ProxyRules rules(const std::string& user) const {
    return http::ProxyRules::from(
        [this, user](const std::string& name) -> std::optional<std::string> {
          if (name != "HTTPS_PROXY") return {};
          return "http://" + user + "127.0.0.1:" + server_.port();
        });
  }
  FaultServer server_;
};

TEST(Proxy, IsAskedForATunnel) {
  RefusingProxy proxy{407};
  http::BeastTransport transport{{.proxies = proxy.rules("me:p%40ss@")}};
  const auto address = http::Url::parse("https://storage.example.com/secret", "test");
  try {
    transport.send({.url = address});
    FAIL() << "went through";
  } catch (const InputError& error) {
    EXPECT_NE(std::string{error.what()}.find("407"), std::string::npos);
    EXPECT_EQ(std::string{error.what()}.find("ss@"), std::string::npos);
  }
  EXPECT_EQ(proxy.server_.count("CONNECT storage.example.com:443"), 1);
  EXPECT_EQ(proxy.server_.count("secret"), 0);
}

TEST(Proxy, ThatFailsIsWorthAnotherAttempt) {
  RefusingProxy proxy{503};
  http::BeastTransport transport{{.proxies = proxy.rules("")}};
  const auto address = http::Url::parse("https://storage.example.com/", "test");
  EXPECT_THROW(transport.send({.url = address}), http::TransportError);
}

}  // namespace
}  // namespace seqtrain::tests
