#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/http/message.hpp>

namespace seqtrain::hub {

namespace detail {

/// Replaces a leading `~` of a path by the home directory.
inline std::filesystem::path expanded(const std::string& path, const std::string& home) {
  const bool from_home = path == "~" || path.starts_with("~/");
  return from_home ? home + path.substr(1) : path;
}

inline bool is_true(const std::optional<std::string>& value) {
  if (!value) return false;
  auto text = *value;
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return text == "1" || text == "ON" || text == "YES" || text == "TRUE";
}

}  // namespace detail

/// The address of the public hub.
inline constexpr std::string_view public_hub = "https://huggingface.co";

/// The addresses and folders of the hub, by the environment variables of the Python package
/// huggingface_hub.
struct Settings {
  http::Url endpoint = {"https", "huggingface.co", "443"};  ///< `HF_ENDPOINT`
  std::filesystem::path cache = {};  ///< `HF_HUB_CACHE`, else the folder `hub` in `HF_HOME`
  std::string token = {};            ///< `HF_TOKEN`, else the content of the token file
  bool offline = false;              ///< `HF_HUB_OFFLINE`: no request is sent

  /// Reads the settings. Throws `InputError` if `HF_ENDPOINT` is not an address.
  static Settings from(const Environment& environment) {
    const auto home_directory = environment("HOME").value_or(".");
    const auto path = [&](const char* name) -> std::optional<std::filesystem::path> {
      const auto value = environment(name);
      if (!value) return {};
      return detail::expanded(*value, home_directory);
    };
    const auto caches = path("XDG_CACHE_HOME").value_or(home_directory + "/.cache");
    const auto home = path("HF_HOME").value_or(caches / "huggingface");
    Settings settings;
    if (const auto endpoint = environment("HF_ENDPOINT")) {
      settings.endpoint = http::Url::parse(*endpoint, "HF_ENDPOINT");
    }
    settings.cache =
        path("HF_HUB_CACHE").value_or(path("HUGGINGFACE_HUB_CACHE").value_or(home / "hub"));
    settings.token = find_token(environment, path("HF_TOKEN_PATH").value_or(home / "token"));
    const auto offline = environment("HF_HUB_OFFLINE");
    settings.offline = detail::is_true(offline ? offline : environment("TRANSFORMERS_OFFLINE"));
    return settings;
  }

  /// Returns the URL of `path` at the endpoint. The path must be percent-encoded and begin with
  /// `/`.
  [[nodiscard]] http::Url url(const std::string& path) const {
    auto url = endpoint;
    while (url.target.ends_with('/')) url.target.pop_back();
    url.target += path;
    return url;
  }

 private:
  static std::string find_token(const Environment& environment,
                                const std::filesystem::path& token_file) {
    const auto given = environment("HF_TOKEN");
    std::string token{
        trimmed(given ? *given : environment("HUGGING_FACE_HUB_TOKEN").value_or(std::string{}))};
    if (!token.empty()) return token;
    std::ifstream file{token_file, std::ios::binary};
    return std::string{trimmed(std::string{std::istreambuf_iterator<char>{file}, {}})};
  }
};

}  // namespace seqtrain::hub
