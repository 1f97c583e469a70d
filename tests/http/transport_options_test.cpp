#include <map>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/http/transport_options.hpp>

namespace seqtrain::http {
namespace {

/// Returns the proxy for an address as `host:port`, or "".
std::string proxy_for(const std::map<std::string, std::string>& variables,
                      const std::string& address) {
  const auto rules = ProxyRules::from([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return {};
    return found->second;
  });
  const auto proxy = rules.proxy_for(http::Url::parse(address, "test"));
  return proxy ? proxy->host + ":" + proxy->port : "";
}

TEST(ProxyRules, HoldForHttpsOnly) {
  const std::map<std::string, std::string> set{{"HTTPS_PROXY", "http://proxy:3128"}};
  EXPECT_EQ(proxy_for(set, "https://storage.googleapis.com/"), "proxy:3128");
  EXPECT_EQ(proxy_for(set, "http://metadata.google.internal/"), "");
  EXPECT_EQ(proxy_for({}, "https://storage.googleapis.com/"), "");
}

TEST(ProxyRules, ReadWhatPeopleWrite) {
  EXPECT_EQ(proxy_for({{"https_proxy", "proxy:1"}, {"HTTPS_PROXY", "other:2"}}, "https://a.com"),
            "proxy:1");
  EXPECT_EQ(proxy_for({{"HTTPS_PROXY", "http://user:pw@[::1]:8080/"}}, "https://a.com"),
            "::1:8080");
  for (const char* wrong :
       {"socks5://proxy:1", "https://proxy:1", "http://", "http://proxy:x", "http://proxy:99999"}) {
    EXPECT_THROW(proxy_for({{"HTTPS_PROXY", wrong}}, "https://a.com"), InputError) << wrong;
  }
}

TEST(ProxyRules, HaveExceptions) {
  const auto with = [](const char* exceptions, const char* address) {
    return proxy_for({{"HTTPS_PROXY", "p:1"}, {"NO_PROXY", exceptions}}, address);
  };
  EXPECT_EQ(with("googleapis.com", "https://storage.googleapis.com"), "");
  EXPECT_EQ(with(".googleapis.com", "https://googleapis.com"), "");
  EXPECT_EQ(with("googleapis.com", "https://notgoogleapis.com"), "p:1");
  EXPECT_EQ(with("a.com, b.com", "https://B.com"), "");
  EXPECT_EQ(with("b.com:8443", "https://b.com:8443"), "");
  EXPECT_EQ(with("b.com:8443", "https://b.com"), "p:1");
  EXPECT_EQ(with("*", "https://b.com"), "");
  EXPECT_EQ(with(",", "https://b.com"), "p:1");
}

TEST(Url, IsReadWithCare) {
  const auto url = http::Url::parse("https://Example.COM:8443/a?b=c#d", "test");
  EXPECT_EQ(url.origin(), "https://example.com:8443");
  EXPECT_EQ(url.target, "/a?b=c");
  EXPECT_EQ(http::Url::parse("http://host?x", "test").target, "/?x");
  EXPECT_EQ(http::Url::parse("http://host#x", "test").target, "/");
  EXPECT_EQ(http::Url::parse("http://[::1]:80/", "test").origin(), "http://[::1]");
  EXPECT_EQ(http::Url::parse("https://a@b.com@evil.com/", "test").host, "evil.com");
  for (const char* wrong :
       {"", "host", "ftp://host", "http://", "http:///x", "http://h:0", "http://h:", "http://[::1",
        "http://[::1]x", "http://a b/", "http://a/\r\nX: y"}) {
    EXPECT_THROW(http::Url::parse(wrong, "test"), InputError) << wrong;
  }
}

}  // namespace
}  // namespace seqtrain::http
