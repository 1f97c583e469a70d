#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include <seqtrain/cli/config_file.hpp>
#include <seqtrain/cli/flag_names.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::cli {

/// The words that a flag takes, each with the value that it stands for.
template <class T>
using Words = std::vector<std::pair<std::string_view, T>>;

/// The flags of a program. Each flag is bound to a variable, whose value when the flag is added is
/// the default. In a flag's name `-` and `_` are the same.
class Flags : public FlagList {
 public:
  /// Adds the flag `--log-format` if a log is given. It sets the log's format, also for errors in
  /// other flags.
  Flags(std::string program, std::string purpose, std::optional<log::Log> log = {})
      : FlagList{std::move(program)}, purpose_{std::move(purpose)}, log_{std::move(log)} {
    section("Flags");
    options().add_options()("help,h", "print this and stop");
    if (!log_) return;
    add("log-format", log_format_, {{"auto", "auto"}, {"text", "text"}, {"json", "json"}},
        "text, json (an object a line with severity, message and time), or auto (json in a cloud "
        "job, else text)");
  }
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  /// Begins a section of the help. Flags that are added later belong to it, and leave results
  /// alone.
  Flags& section(const std::string& name) {
    constexpr unsigned line = 100, description = 60;
    sections_.emplace_back(name, line, description);
    return role(leaves_results_alone);
  }

  /// Sets the role of the flags of this section that are added later.
  Flags& role(Role of_later_flags) {
    role_ = of_later_flags;
    return *this;
  }

  /// Adds a flag with a value. A value for a `std::vector<std::string>` is split at commas.
  template <class T>
  Flags& add(const std::string& name, T& target, const std::string& help) {
    namespace po = boost::program_options;
    const auto value = po::value<T>(&target)->default_value(target, default_text(target));
    options().add_options()(name.c_str(), value, help.c_str());
    return remember(name, [&target] { return flag_text(target); });
  }

  /// Adds a flag that has no default.
  template <class T>
  Flags& add(const std::string& name, std::optional<T>& target, const std::string& help) {
    const auto take = [&target](const T& value) { target = value; };
    const auto value = boost::program_options::value<T>()->notifier(take);
    options().add_options()(name.c_str(), value, help.c_str());
    return remember(name, [&target] { return target ? flag_text(*target) : "nan"; });
  }

  Flags& add(const std::string& name, std::vector<std::string>& target, const std::string& help) {
    namespace po = boost::program_options;
    const auto split = [&target](const std::string& text) { target = split_at_commas(text); };
    options().add_options()(name.c_str(), po::value<std::string>()->notifier(split), help.c_str());
    return remember(name, [&target] { return flag_text(target); });
  }

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
    const auto value = boost::program_options::value<std::string>()->default_value(text());
    options().add_options()(name.c_str(), value->notifier(take), help.c_str());
    return remember(name, text);
  }

  /// Adds a flag that is true or false, and true if it has no value.
  Flags& add_switch(const std::string& name, bool& target, const std::string& help) {
    const auto take = [name, &target](const std::string& text) {
      require(text == "true" || text == "false", name, "must be true or false");
      target = text == "true";
    };
    namespace po = boost::program_options;
    const auto value = po::value<std::string>()->value_name("[true|false]")->notifier(take);
    options().add_options()(name.c_str(), value, help.c_str());
    names_.add_switch(name);
    remember(name, [&target] { return std::string{target ? "true" : "false"}; });
    flags_.back().is_switch = true;
    return *this;
  }

  /// Makes an argument without a flag's name the value of the flag `name`. It may be given once.
  Flags& take_argument(const std::string& name) {
    names_.allow_argument(name);
    return *this;
  }

  /// Adds the flags of all programs that train: `--config`, and the names that Hugging Face's
  /// Trainer gives to flags that were added before.
  Flags& add_for_training() {
    namespace po = boost::program_options;
    sections_.front().add_options()("config", po::value<std::string>(),
                                    "JSON file with values of flags, or a run's metrics.json; the "
                                    "command line takes precedence");
    section("Other names, which Hugging Face's Trainer has");
    for (const auto& [name, own] : other_names) {
      if (find(own) == nullptr) continue;
      names_.add(std::string{name}, std::string{own});
      add_name(name, "--" + std::string{own});
    }
    for (const auto& [name, meaning] : only_true) {
      names_.add_only_true(std::string{name}, std::string{meaning});
      add_name(name, "only true: " + std::string{meaning});
    }
    return *this;
  }

  /// Fills the variables from the command line, else from the file that `--config` names. If help
  /// is asked for, prints it and returns false. The command `seqtrain` starts a program under the
  /// name `seqtrain SUBCOMMAND`; messages then have this name. Throws `InputError` if a flag is
  /// unknown, is given twice or has no value of its type.
  bool parse(int argc, const char* const* argv) {
    namespace po = boost::program_options;
    if (argc > 0) started_as_ = argv[0];
    if (started_as_.starts_with("seqtrain ")) program_ = started_as_;
    const auto arguments = names_.normalized(argc, argv);
    set_log_format(arguments);
    po::options_description all{100, 60};
    for (const auto& section : sections_) all.add(section);
    po::variables_map values;
    const std::string advice = "see " + program_ + " --help";
    try {
      auto given = po::command_line_parser(arguments)
                       .options(all)
                       .style(po::command_line_style::default_style &
                              ~po::command_line_style::allow_guessing)
                       .run();
      names_.use_own_names(given);
      po::store(given, values);
      for (const auto& option : given.options) on_command_line_.insert(option.string_key);
    } catch (const po::unknown_option& error) {
      const std::string flag = error.get_option_name();
      throw unknown(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())),
                    {.object = flag});
    } catch (const po::error& error) {
      throw InputError{error.what(), {}, advice};
    }
    if (values.contains("help")) {
      std::cout << program_ << ": " << purpose_ << "\n" << all << std::flush;
      return false;
    }
    std::string file;
    try {
      if (values.contains("config")) {
        file = values["config"].as<std::string>();
        po::store(options_in(file, all), values);
      }
      po::notify(values);
    } catch (const po::error& error) {
      throw InputError{error.what(), {.object = file}, advice};
    }
    note(values);
    return true;
  }

  /// Returns the word that started the program, `argv[0]`.
  [[nodiscard]] const std::string& started_as() const { return started_as_; }

  /// Tells whether the command line or the file of `--config` gives a flag.
  [[nodiscard]] bool is_given(const std::string& name) const { return given_.contains(name); }

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
  /// Returns the words as `a, b or c`, without the empty one.
  template <class T>
  static std::string either(const Words<T>& words) {
    std::vector<std::string_view> names;
    for (const auto& [word, value] : words) {
      if (!word.empty()) names.push_back(word);
    }
    return joined(names, " or ");
  }

  boost::program_options::options_description& options() { return sections_.back(); }

  void add_name(std::string_view name, const std::string& help) {
    options().add_options()(std::string{name}.c_str(), boost::program_options::value<std::string>(),
                            help.c_str());
  }

  /// Returns an error about a name that no flag has.
  [[nodiscard]] InputError unknown(const std::string& name, Where where) const {
    return InputError{"is not a flag of " + program_, std::move(where),
                      advice_for_unknown(name, all_names(), program_)};
  }

  Flags& remember(const std::string& name, std::function<std::string()> text) {
    if (find(name) != nullptr) {
      throw Error{"--" + name + ": is declared twice; give a flag of your own another name"};
    }
    std::string initial = text();
    flags_.push_back({name, role_, std::move(text), std::move(initial)});
    return *this;
  }

  /// Reads `--log-format` before the other flags, whose errors need the format.
  void set_log_format(const std::vector<std::string>& arguments) const {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      const bool apart = argument == "--log-format" && i + 1 < arguments.size();
      const std::string given = apart ? "--log-format=" + arguments[i + 1] : argument;
      if (given.starts_with("--log-format=")) set_log_format(given.substr(given.find('=') + 1));
    }
  }

  void set_log_format(std::string_view name) const {
    if (!log_) return;
    if (name == "json") log_->set_format(log::LogFormat::json);
    if (name == "text") log_->set_format(log::LogFormat::text);
  }

  /// Reads the flags in a configuration file. Throws `InputError` that names the file and the key
  /// if one is no flag.
  [[nodiscard]] boost::program_options::parsed_options options_in(
      const std::string& file, const boost::program_options::options_description& all) const {
    boost::program_options::parsed_options options{&all};
    for (const auto& [key, text] : read_config_file(file)) {
      std::string name = key;
      std::ranges::replace(name, '_', '-');
      if (find(name) == nullptr && !names_.contains(name)) {
        throw unknown(name, {.object = file, .field = key});
      }
      options.options.emplace_back(name, std::vector{text});
    }
    try {
      names_.use_own_names(options);
    } catch (const InputError& error) {
      throw InputError{error.what(), {.object = file}};
    }
    return options;
  }

  /// Notes which flags are given and which values differ from the defaults.
  void note(const boost::program_options::variables_map& values) {
    for (const auto& [name, value] : values) {
      if (!value.defaulted()) given_.insert(name);
    }
    for (Flag& flag : flags_) {
      if (std::string text = flag.text(); text != flag.initial) flag.changed = std::move(text);
    }
    set_log_format(std::string_view{log_format_});
  }

  std::string purpose_;
  std::string started_as_;
  std::optional<log::Log> log_;
  std::string log_format_ = "auto";
  std::deque<boost::program_options::options_description> sections_;
  Role role_ = leaves_results_alone;
  std::set<std::string> given_;
  std::set<std::string> on_command_line_;
  FlagNames names_;
};

}  // namespace seqtrain::cli
