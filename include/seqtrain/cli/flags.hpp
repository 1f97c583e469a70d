#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/cli/flag_list.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::cli {

/// The words that a flag takes, each with the value that it stands for.
template <class T>
using Words = std::vector<std::pair<std::string_view, T>>;

/// The type of a flag's variable.
template <class T>
concept FlagValue = std::is_same_v<T, std::string> || std::is_same_v<T, bool> ||
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, long> ||
    std::is_same_v<T, unsigned long> || std::is_same_v<T, float> || std::is_same_v<T, double>;

/// The flags of a program. Each flag is bound to a variable, whose value when the flag is added is
/// the default. In a flag's name `-` and `_` are the same.
class Flags : public FlagList {
 public:
  /// Adds the flag `--log-format` if a log is given. It sets the log's format, also for errors in
  /// other flags.
  Flags(std::string program, std::string purpose, std::optional<log::Log> log = {});
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;
  ~Flags();

  /// Begins a section of the help. Flags that are added later belong to it, and leave results
  /// alone.
  Flags& section(const std::string& name);

  /// Sets the role of the flags of this section that are added later.
  Flags& role(Role of_later_flags) {
    role_ = of_later_flags;
    return *this;
  }

  /// Adds a flag with a value.
  template <FlagValue T>
  Flags& add(const std::string& name, T& target, const std::string& help);

  /// Adds a flag that has no default.
  template <FlagValue T>
  Flags& add(const std::string& name, std::optional<T>& target, const std::string& help);

  /// Adds a flag whose value is a list of texts, with commas between them.
  Flags& add(const std::string& name, std::vector<std::string>& target, const std::string& help);

  /// Adds a flag whose value is one of a few words. An empty word stands for no value.
  template <class T>
  Flags& add(const std::string& name, T& target, const Words<std::type_identity_t<T>>& words,
             const std::string& help) {
    const std::string problem = std::is_enum_v<T> ? "is unknown: use " : "must be ";
    const auto take = [=, &target](const std::string& text) {
      const auto word = std::ranges::find(words, text, &Words<T>::value_type::first);
      require(word != words.end(), name, problem + either(words));
      target = word->second;
    };
    const auto text = [words, &target] {
      return std::string{std::ranges::find(words, target, &Words<T>::value_type::second)->first};
    };
    return add_word(name, text, take, help);
  }

  /// Adds a flag that is true or false, and true if it has no value.
  Flags& add_switch(const std::string& name, bool& target, const std::string& help);

  /// Makes an argument without a flag's name the value of the flag `name`. It may be given once.
  Flags& take_argument(const std::string& name);

  /// Adds the flags of all programs that train: `--config`, and the names that Hugging Face's
  /// Trainer gives to flags that were added before.
  Flags& add_for_training();

  /// Fills the variables from the command line, else from the file that `--config` names. If help
  /// is asked for, prints it and returns false. The command `seqtrain` starts a program under the
  /// name `seqtrain SUBCOMMAND`; messages then have this name. Throws `InputError` if a flag is
  /// unknown, is given twice or has no value of its type.
  bool parse(int argc, const char* const* argv);

  /// Returns the word that started the program, `argv[0]`.
  [[nodiscard]] const std::string& started_as() const { return started_as_; }

  /// Tells whether the command line or the file of `--config` gives a flag.
  [[nodiscard]] bool is_given(const std::string& name) const { return given_.contains(name); }

  /// Tells whether the command line gives a flag.
  [[nodiscard]] bool is_on_command_line(const std::string& name) const {
    return on_command_line_.contains(name);
  }

  /// Tells whether the command line gives `name` while only the file of `--config` gives `other`.
  [[nodiscard]] bool overrides(const std::string& name, const std::string& other) const {
    return on_command_line_.contains(name) && is_given(other) && !on_command_line_.contains(other);
  }

  /// Ignores a flag that the file of `--config` gives: its variable has its default again.
  void withdraw(const std::string& name) {
    given_.erase(name);
    std::ranges::find(flags_, name, &Flag::name)->changed.reset();
  }

  /// Counts the value that a flag has now as a change, although it may be the default.
  void count_as_changed(const std::string& name) {
    Flag& flag = *std::ranges::find(flags_, name, &Flag::name);
    flag.changed = flag.text();
  }

 private:
  struct State;

  /// Returns the words as `a, b or c`, without the empty one.
  template <class T>
  static std::string either(const Words<T>& words) {
    std::vector<std::string_view> names;
    for (const auto& [word, value] : words) {
      if (!word.empty()) names.push_back(word);
    }
    return joined(names, " or ");
  }

  Flags& add_word(const std::string& name, const std::function<std::string()>& text,
                  const std::function<void(const std::string&)>& take, const std::string& help);
  Flags& remember(const std::string& name, std::function<std::string()> text);

  std::string purpose_;
  std::string started_as_;
  Role role_ = leaves_results_alone;
  std::set<std::string> given_;
  std::set<std::string> on_command_line_;
  std::unique_ptr<State> state_;  // what Boost.Program_options needs
};

}  // namespace seqtrain::cli

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/cli/src/flags.hpp>
#endif
