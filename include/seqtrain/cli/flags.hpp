#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include <seqtrain/core/error.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::cli {

/// Throws an `InputError` that names the flag unless its value is good.
inline void require(bool good, const std::string& flag, const std::string& problem) {
  if (!good) throw InputError{problem, {.object = "--" + flag}};
}

/// Whether a flag determines a run's results. A run can be resumed with other values of the flags
/// that leave its results alone.
enum Role { leaves_results_alone, determines_results };

/// The flags of a program. Each is bound to a variable, whose value at that moment is the default.
/// In a flag's name `-` and `_` are the same.
class Flags {
 public:
  /// With a log there is a flag `--log-format`, which sets its format; errors in other flags have
  /// that format too.
  Flags(std::string program, std::string purpose, std::optional<report::Log> log = {})
      : program_{std::move(program)},
        purpose_{std::move(purpose)},
        log_{std::move(log)},
        options_{"Flags", 100, 60} {
    options_.add_options()("help,h", "print this and stop");
    if (!log_) return;
    add("log-format", log_format_,
        "text, json (an object a line with severity, message and time), or auto (json in a cloud "
        "job, else text)");
  }
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  /// Adds a flag with a value. A `std::vector<std::string>` is split at commas.
  template <class T>
  Flags& add(const std::string& name, T& target, const std::string& help,
             Role role = leaves_results_alone) {
    namespace po = boost::program_options;
    const auto value = po::value<T>(&target)->default_value(target, default_text(target));
    options_.add_options()(name.c_str(), value, help.c_str());
    return remember(name, role, [&target] { return streamed(target); });
  }

  Flags& add(const std::string& name, std::vector<std::string>& target, const std::string& help,
             Role role = leaves_results_alone) {
    namespace po = boost::program_options;
    const auto split = [&target](const std::string& text) { target = split_at_commas(text); };
    options_.add_options()(name.c_str(), po::value<std::string>()->notifier(split), help.c_str());
    return remember(name, role, [&target] { return joined_by_commas(target); });
  }

  /// Adds a flag without a value, which is given or not.
  Flags& add_switch(const std::string& name, bool& target, const std::string& help,
                    Role role = leaves_results_alone) {
    options_.add_options()(name.c_str(), boost::program_options::bool_switch(&target),
                           help.c_str());
    remember(name, role, [&target] { return std::string{target ? "true" : "false"}; });
    flags_.back().is_switch = true;
    return *this;
  }

  /// Gives the flag that was added last another name. The help does not list it.
  Flags& alias(const std::string& name) {
    aliases_.emplace(name, flags_.back().name);
    return *this;
  }

  /// Fills the variables. Returns false if help was asked for, which is then printed. Throws
  /// `InputError` on a flag that is unknown, is given twice or has no value of its type.
  bool parse(int argc, const char* const* argv) {
    namespace po = boost::program_options;
    auto arguments = normalized(argc, argv);
    set_log_format(arguments);
    resolve_aliases(arguments);
    try {
      const auto parsed = po::command_line_parser(arguments)
                              .options(options_)
                              .positional({})
                              .style(po::command_line_style::default_style &
                                     ~po::command_line_style::allow_guessing)
                              .run();
      po::variables_map values;
      po::store(parsed, values);
      if (values.contains("help")) {
        std::cout << program_ << ": " << purpose_ << "\n\n" << options_ << std::flush;
        return false;
      }
      po::notify(values);
    } catch (const po::error& error) {
      throw InputError{error.what(), {}, "see " + program_ + " --help"};
    }
    for (const Flag& flag : flags_) {
      if (const std::string text = flag.text(); text != flag.initial) {
        changed_.push_back({flag.name, text, flag.is_switch});
      }
    }
    require(log_format_ == "auto" || log_format_ == "text" || log_format_ == "json", "log-format",
            "is unknown: use auto, text or json");
    return true;
  }

  /// Returns all flags with their present values, in the order in which they were added.
  [[nodiscard]] train::Pairs values() const {
    return values_where([](Role) { return true; });
  }

  /// Returns the flags that `parse` has given another value than their default, in the order in
  /// which they were added.
  [[nodiscard]] train::Pairs changed_values() const {
    train::Pairs values;
    for (const auto& [name, text, is_switch] : changed_) values.emplace_back(name, text);
    return values;
  }

  /// Returns the command line that gives the program these values again, for a shell; without the
  /// flags in `but`.
  [[nodiscard]] std::string command(std::initializer_list<std::string_view> but = {}) const {
    std::string line = program_;
    for (const auto& [name, text, is_switch] : changed_) {
      if (std::ranges::find(but, name) != but.end()) continue;
      line += " --" + name;
      if (!is_switch) line += " " + quoted(text);
    }
    return line;
  }

  /// Returns the flags that determine results with their present values, in the order in which they
  /// were added.
  [[nodiscard]] train::Pairs determining_values() const {
    return values_where([](Role role) { return role == determines_results; });
  }

 private:
  struct Flag {
    std::string name;
    Role role;
    std::function<std::string()> text;
    std::string initial;
    bool is_switch = false;
  };
  struct Changed {
    std::string name;
    std::string text;
    bool is_switch;
  };

  /// Returns text as a word of a shell.
  static std::string quoted(const std::string& text) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-";
    if (!text.empty() && text.find_first_not_of(plain) == text.npos) return text;
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return word + "'";
  }

  /// Looks for `--log-format` alone, because the others may be wrong.
  void set_log_format(const std::vector<std::string>& arguments) const {
    if (!log_) return;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      const bool apart = argument == "--log-format" && i + 1 < arguments.size();
      const std::string given = apart ? "--log-format=" + arguments[i + 1] : argument;
      if (given == "--log-format=json") log_->set_format(report::LogFormat::json);
      if (given == "--log-format=text") log_->set_format(report::LogFormat::text);
    }
  }

  Flags& remember(const std::string& name, Role role, std::function<std::string()> text) {
    std::string initial = text();
    flags_.push_back({name, role, std::move(text), std::move(initial)});
    return *this;
  }

  template <class Wanted>
  [[nodiscard]] train::Pairs values_where(const Wanted& wanted) const {
    train::Pairs values;
    for (const Flag& flag : flags_) {
      if (wanted(flag.role)) values.emplace_back(flag.name, flag.text());
    }
    return values;
  }

  template <class T>
  static std::string streamed(const T& value) {
    std::ostringstream text;
    text << value;
    return text.str();
  }

  /// Returns a default as the help shows it: the shortest text that reads back as the number. NaN,
  /// which means that there is no default, is not shown.
  template <class T>
  static std::string default_text(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      std::array<char, 32> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
      return std::isnan(value) ? std::string{} : std::string{digits.data(), end};
    } else {
      return streamed(value);
    }
  }

  static std::string joined_by_commas(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) text += (text.empty() ? "" : ",") + part;
    return text;
  }

  static std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
      if (c == ',') {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  }

  static std::vector<std::string> normalized(int argc, const char* const* argv) {
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    for (std::string& argument : arguments) {
      if (!argument.starts_with("--")) continue;
      const auto end = std::min(argument.find('='), argument.size());
      std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
    }
    return arguments;
  }

  /// Puts a flag's own name in place of an alias. Throws `InputError` if a flag is given by two of
  /// its names.
  void resolve_aliases(std::vector<std::string>& arguments) const {
    std::map<std::string, std::string> spelled;
    for (std::string& argument : arguments) {
      if (!argument.starts_with("--")) continue;
      const std::string given = argument.substr(2, argument.find('=') - 2);
      const auto alias = aliases_.find(given);
      const std::string& name = alias == aliases_.end() ? given : alias->second;
      const std::string& first = spelled.emplace(name, given).first->second;
      require(first == given, given, "is the same flag as --" + first + ", which is given too");
      argument.replace(2, given.size(), name);
    }
  }

  std::string program_;
  std::string purpose_;
  std::optional<report::Log> log_;
  std::string log_format_ = "auto";
  boost::program_options::options_description options_;
  std::vector<Flag> flags_;
  std::vector<Changed> changed_;
  std::map<std::string, std::string> aliases_;  // other names of flags
};

}  // namespace seqtrain::cli
