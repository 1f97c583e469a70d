#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::hub {

/// A pattern of paths as data sets have them: `*` and `?` stand for characters of a file's or
/// folder's name, `[a-z]` and `[!a-z]` for one of them, and `**` between slashes for any folders.
/// Hidden files, and folders whose names begin with two underscores, fit only if the pattern names
/// them. A match takes time in proportion to the product of the lengths.
class Glob {
 public:
  /// Throws `InputError` if `**` is beside other characters.
  explicit Glob(std::string_view pattern) : parts_{split(pattern, '/')} {
    for (const auto part : parts_) {
      if (part != "**" && part.find("**") != part.npos) {
        throw InputError{"** must be between slashes", {.object = std::string{pattern}}};
      }
    }
  }

  /// Tells whether a relative path fits. The pattern's text must still exist.
  [[nodiscard]] bool fits(std::string_view path) const {
    const auto names = split(path, '/');
    return fits(names) && hidden(names) == hidden(parts_) && special(names) == special(parts_);
  }

  /// Tells whether a text contains a character that has a special meaning in a pattern.
  [[nodiscard]] static bool is_pattern(std::string_view text) {
    return text.find_first_of("*?[") != text.npos;
  }

 private:
  using Parts = std::vector<std::string_view>;

  static std::ptrdiff_t hidden(const Parts& parts) {
    return std::ranges::count_if(parts, [](auto part) {
      return part.starts_with('.') && part.find_first_not_of('.') != part.npos;
    });
  }
  static std::ptrdiff_t special(const Parts& parts) {
    return std::count_if(parts.begin(), parts.end() - 1,
                         [](auto part) { return part.starts_with("__"); });
  }

  /// Compares part by part. After a mismatch only the last `**` may take one folder more.
  [[nodiscard]] bool fits(const Parts& names) const {
    std::size_t name = 0, part = 0;
    std::optional<std::size_t> last;  // the part after the last `**`
    std::size_t retry = 0;
    while (name < names.size()) {
      if (part < parts_.size() && parts_[part] == "**") {
        if (++part == parts_.size()) return true;
        last = part;
        retry = name;
      } else if (part < parts_.size() && fits_part(names[name], parts_[part])) {
        ++name;
        ++part;
      } else if (last) {
        part = *last;
        name = ++retry;
      } else {
        return false;
      }
    }
    return part == parts_.size();
  }

  static bool fits_part(std::string_view name, std::string_view pattern) {
    std::size_t at = 0, next = 0;
    std::optional<std::size_t> last;  // after the last `*`
    std::size_t retry = 0;
    while (at < name.size()) {
      if (next < pattern.size() && pattern[next] == '*') {
        last = ++next;
        retry = at;
      } else if (const auto length = fits_one(name[at], pattern.substr(next)); length > 0) {
        ++at;
        next += length;
      } else if (last) {
        next = *last;
        at = ++retry;
      } else {
        return false;
      }
    }
    while (next < pattern.size() && pattern[next] == '*') ++next;
    return next == pattern.size();
  }

  /// Returns the length of the pattern's first element if it stands for `c`, else 0. A bracket that
  /// is not closed stands for itself.
  static std::size_t fits_one(char c, std::string_view pattern) {
    if (pattern.empty()) return 0;
    if (pattern.front() == '?') return 1;
    if (pattern.front() != '[') return pattern.front() == c ? 1 : 0;
    const bool negated = pattern.substr(1).starts_with('!');
    const std::size_t first = negated ? 2 : 1;
    const auto end = pattern.find(']', first + 1);
    if (end == pattern.npos) return c == '[' ? 1 : 0;
    bool found = false;
    for (std::size_t i = first; i < end; ++i) {
      const bool range = i + 2 < end && pattern[i + 1] == '-';
      found = found || (range ? pattern[i] <= c && c <= pattern[i + 2] : pattern[i] == c);
      if (range) i += 2;
    }
    return found != negated ? end + 1 : 0;
  }

  Parts parts_;
};

}  // namespace seqtrain::hub
