#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::cli {

/// Tells whether a flag determines a run's results. A flag that leaves them alone may have another
/// value when the run is resumed.
enum Role { leaves_results_alone, determines_results };

/// A program's flags with their values as text.
class FlagList {
 public:
  /// Returns all flags that have a value with it, in the order in which they were added. NaN is no
  /// value.
  [[nodiscard]] train::Pairs values() const {
    return values_where([](const Flag& f) { return f.initial != "nan" || f.text() != "nan"; });
  }

  /// Returns the flags that `parse` has set to another value than their default, in the order in
  /// which they were added.
  [[nodiscard]] train::Pairs changed_values() const {
    train::Pairs values;
    for (const Flag& flag : flags_) {
      if (flag.changed) values.emplace_back(flag.name, *flag.changed);
    }
    return values;
  }

  /// Returns a shell command that starts the program with these values, without the flags in `but`.
  [[nodiscard]] std::string command(std::span<const std::string_view> but = {}) const {
    std::string line = program_;
    for (const Flag& flag : flags_) {
      if (!flag.changed || std::ranges::find(but, flag.name) != but.end()) continue;
      line += " --" + flag.name;
      if (!flag.is_switch) line += " " + shell_word(*flag.changed);
    }
    return line;
  }

  /// Returns the flags that determine results with their current values, in the order in which they
  /// were added.
  [[nodiscard]] train::Pairs determining_values() const {
    return values_where([](const Flag& flag) { return flag.role == determines_results; });
  }

 protected:
  /// A flag of the table: its name, its value as text, and its default.
  struct Flag {
    std::string name;
    Role role;
    std::function<std::string()> text;
    std::string initial;
    bool is_switch = false;
    std::optional<std::string> changed = {};  ///< value that `parse` set in place of the default
  };

  explicit FlagList(std::string program) : program_{std::move(program)} {}

  [[nodiscard]] std::vector<std::string> all_names() const {
    std::vector<std::string> names{"help", "config"};
    for (const Flag& flag : flags_) names.push_back(flag.name);
    return names;
  }

  /// Returns the flag with this name, or null.
  [[nodiscard]] const Flag* find(std::string_view name) const {
    const auto flag = std::ranges::find(flags_, name, &Flag::name);
    return flag == flags_.end() ? nullptr : &*flag;
  }

  /// Returns names and values of the flags for which `wanted(flag)` is true.
  template <class Wanted>
  [[nodiscard]] train::Pairs values_where(const Wanted& wanted) const {
    train::Pairs values;
    for (const Flag& flag : flags_) {
      if (wanted(flag)) values.emplace_back(flag.name, flag.text());
    }
    return values;
  }

  std::string program_;
  std::vector<Flag> flags_;
};

}  // namespace seqtrain::cli
