#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

/// Decides which requests go through a proxy: https requests, if `HTTPS_PROXY` is set, except to
/// hosts in `NO_PROXY`. `NO_PROXY` lists domain names, which include their subdomains, each with or
/// without a port, or `*`. Variables in lower case take precedence, as in other programs.
class ProxyRules {
 public:
  ProxyRules() = default;

  /// Returns the rules of `https_proxy` and its kin in the environment.
  static ProxyRules from(const Environment& environment) {
    ProxyRules rules;
    const auto either = [&](const std::string& lower, const std::string& upper) {
      auto value = environment(lower);
      return value ? value : environment(upper);
    };
    if (auto text = either("https_proxy", "HTTPS_PROXY")) rules.proxy_ = parse(*text);
    if (auto text = either("no_proxy", "NO_PROXY")) rules.exceptions_ = split(*text);
    return rules;
  }

  /// Returns the proxy for a host, or nothing if it is connected to directly.
  [[nodiscard]] std::optional<Url> proxy_for(const Url& target) const {
    if (target.scheme != "https" || !proxy_) return {};
    const auto excepted = [&](const std::string& rule) { return matches(rule, target); };
    if (std::any_of(exceptions_.begin(), exceptions_.end(), excepted)) return {};
    return proxy_;
  }

 private:
  static Url parse(const std::string& text) {
    const bool bare = text.find("://") == std::string::npos;
    auto url = Url::parse(bare ? "http://" + text : text, "HTTPS_PROXY");
    if (url.scheme == "http") return url;
    throw InputError{"only http:// proxies are supported", {.object = "HTTPS_PROXY"}};
  }

  static std::vector<std::string> split(std::string text) {
    std::replace(text.begin(), text.end(), ' ', ',');
    std::vector<std::string> rules;
    for (auto rule : seqtrain::split(text, ',')) {
      rule.remove_prefix(std::min(rule.find_first_not_of('.'), rule.size()));
      if (!rule.empty()) rules.emplace_back(rule);
    }
    return rules;
  }

  static bool matches(const std::string& rule, const Url& target) {
    if (rule == "*") return true;
    const auto below = [&](const std::string& name) {
      if (name.size() < rule.size()) return false;
      const auto tail = std::string_view{name}.substr(name.size() - rule.size());
      const bool at_dot = name.size() == rule.size() || name[name.size() - rule.size() - 1] == '.';
      return at_dot && equal_but_case(tail, rule);
    };
    return below(target.host) || below(target.host + ":" + target.port);
  }

  std::optional<Url> proxy_;
  std::vector<std::string> exceptions_;
};

/// Options of a transport: deadlines, proxies and the authorities that it trusts.
struct TransportOptions {
  Deadlines deadlines = {};
  ProxyRules proxies = {};
  std::filesystem::path ca_file = {};  ///< additional certificate authorities to trust, in PEM
  Seconds longest_idle{30};            ///< a connection that was unused for longer is not reused
};

}  // namespace seqtrain::http
