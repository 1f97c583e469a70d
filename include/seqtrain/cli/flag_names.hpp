#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include <seqtrain/cli/require.hpp>

namespace seqtrain::cli {

/// The additional names of a program's flags.
class FlagNames {
 public:
  /// Gives the flag `own` the additional name `name`.
  void add(std::string name, std::string own) { own_.emplace(std::move(name), std::move(own)); }

  /// Adds the name of a flag that can only be true. `meaning` says what is then true.
  void add_only_true(std::string name, std::string meaning) {
    only_true_.emplace(std::move(name), std::move(meaning));
  }

  /// Adds a flag that is true if it has no value.
  void add_switch(std::string name) { switches_.insert(std::move(name)); }

  /// Lets an argument without a name follow a switch.
  void allow_argument() { argument_ = true; }

  [[nodiscard]] bool contains(const std::string& name) const {
    return own_.contains(name) || only_true_.contains(name);
  }

  /// Returns the arguments with `-` in place of `_` in names, and with `=true` added to flags
  /// without a value that are switches or can only be true.
  [[nodiscard]] std::vector<std::string> normalized(int argc, const char* const* argv) const {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::string& argument = arguments[i];
      if (!argument.starts_with("--")) continue;
      const auto end = std::min(argument.find('='), argument.size());
      std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
      const bool alone = i + 1 == arguments.size() || arguments[i + 1].starts_with("--") ||
                         (argument_ && arguments[i + 1] != "true" && arguments[i + 1] != "false");
      const std::string name = argument.substr(2);
      if (alone && (only_true_.contains(name) || switches_.contains(name))) argument += "=true";
    }
    return arguments;
  }

  /// Replaces additional names by the flags' own names. Throws `InputError` if two names of one
  /// flag have different values, or if a flag that can only be true has another value.
  void use_own_names(boost::program_options::parsed_options& given) const {
    std::map<std::string, std::pair<std::string, std::vector<std::string>>> first;
    std::erase_if(given.options, [&](auto& option) {
      const std::string spelled = option.string_key;
      if (only_true_.contains(spelled)) check_true(spelled, option.value);
      const auto other = own_.find(spelled);
      if (other != own_.end()) option.string_key = other->second;
      const auto [seen, is_first] =
          first.emplace(option.string_key, std::pair{spelled, option.value});
      if (is_first || seen->second.first == spelled) return false;
      require(seen->second.second == option.value, spelled,
              "has another value than --" + seen->second.first + ", which is the same flag");
      return true;
    });
  }

 private:
  void check_true(const std::string& name, const std::vector<std::string>& value) const {
    std::string text = value.empty() ? "" : value.front();
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    require(text == "true", name, "can only be true: " + only_true_.at(name));
  }

  std::map<std::string, std::string> own_;        // own names of flags, by additional name
  std::map<std::string, std::string> only_true_;  // meanings, by name
  std::set<std::string> switches_;
  bool argument_ = false;
};

}  // namespace seqtrain::cli
