#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain::s3 {

/// The settings of a profile. A setting in a group, such as `addressing_style` below `s3 =`, has
/// the group's name and a dot before its own.
using Profile = std::map<std::string, std::string, std::less<>>;

/// The profiles of the files `~/.aws/config` and `~/.aws/credentials`, which `AWS_CONFIG_FILE` and
/// `AWS_SHARED_CREDENTIALS_FILE` replace.
class Profiles {
 public:
  Profiles() = default;

  /// Reads both files. A file that is missing counts as empty.
  static Profiles from(const Environment& environment) {
    Profiles profiles;
    const auto home = environment("HOME").value_or("");
    const auto path = [&](const char* variable, const char* name) {
      const auto given = environment(variable);
      return std::filesystem::path{given ? *given : home + "/.aws/" + name};
    };
    profiles.read(path("AWS_CONFIG_FILE", "config"), true);
    profiles.read(path("AWS_SHARED_CREDENTIALS_FILE", "credentials"), false);
    return profiles;
  }

  /// Returns a profile, or null if neither file has it.
  [[nodiscard]] const Profile* find(std::string_view name) const { return in(profiles_, name); }

  /// Returns a section `[sso-session name]`, or null.
  [[nodiscard]] const Profile* find_session(std::string_view name) const {
    return in(sessions_, name);
  }

 private:
  using Sections = std::map<std::string, Profile, std::less<>>;

  static const Profile* in(const Sections& sections, std::string_view name) {
    const auto found = sections.find(name);
    return found == sections.end() ? nullptr : &found->second;
  }

  /// Returns the section that a line `[name]` opens, or null if it is of no use here.
  Profile* open_section(std::string_view title, bool is_config) {
    const auto after = [&](std::string_view word) {
      return title.starts_with(word) ? std::optional{trimmed(title.substr(word.size()))}
                                     : std::nullopt;
    };
    if (const auto session = after("sso-session ")) return &sessions_[std::string{*session}];
    if (const auto profile = after("profile ")) return &profiles_[std::string{*profile}];
    if (is_config && title != "default") return nullptr;
    return &profiles_[std::string{title}];
  }

  void read(const std::filesystem::path& file, bool is_config) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return;
    std::ifstream stream{file};
    if (!stream) throw InputError{"cannot be read", {.object = file.string()}};
    Profile* section = nullptr;
    std::string group;
    std::string line;
    while (std::getline(stream, line)) {
      const auto text = trimmed(line);
      if (text.empty() || text.front() == '#' || text.front() == ';') continue;
      if (text.front() == '[') {
        section = open_section(trimmed(text.substr(1, text.find(']') - 1)), is_config);
        group.clear();
        continue;
      }
      const auto equal = text.find('=');
      if (section == nullptr || equal == text.npos) continue;
      const std::string name{trimmed(text.substr(0, equal))};
      const std::string value{trimmed(text.substr(equal + 1))};
      const bool indented = line.front() == ' ' || line.front() == '\t';
      if (!indented) group = value.empty() ? name + "." : "";
      (*section)[indented ? group + name : name] = value;
    }
  }

  Sections profiles_;
  Sections sessions_;
};

/// Returns a setting of a profile, or nothing if it is missing or empty.
inline std::optional<std::string> setting(const Profile& profile, std::string_view name) {
  const auto found = profile.find(name);
  if (found == profile.end() || found->second.empty()) return {};
  return found->second;
}

}  // namespace seqtrain::s3
