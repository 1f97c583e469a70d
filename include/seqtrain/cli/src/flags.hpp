#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include <seqtrain/cli/config_file.hpp>
#include <seqtrain/cli/flag_names.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::cli {

struct Flags::State {
  std::optional<log::Log> log = {};
  std::string log_format = "auto";
  std::deque<boost::program_options::options_description> sections = {};
  FlagNames names = {};

  void add(const std::string& name, const boost::program_options::value_semantic* value,
           const std::string& help) {
    sections.back().add_options()(name.c_str(), value, help.c_str());
  }

  void add_name(std::string_view name, const std::string& help) {
    add(std::string{name}, boost::program_options::value<std::string>(), help);
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
    if (!log) return;
    if (name == "json") log->set_format(log::LogFormat::json);
    if (name == "text") log->set_format(log::LogFormat::text);
  }
};

namespace detail {

/// Returns an error about a name that no flag has.
[[nodiscard]] inline InputError unknown_flag(const std::string& name, Where where,
                                             const std::vector<std::string>& names,
                                             const std::string& program) {
  return InputError{"is not a flag of " + program, std::move(where),
                    advice_for_unknown(name, names, program)};
}

/// Reads the flags in a configuration file. `has` tells whether a flag has a name. Throws
/// `InputError` that names the file and the key if none has it; `names` are those of `program`.
[[nodiscard]] inline boost::program_options::parsed_options options_in(
    const std::string& file, const boost::program_options::options_description& all,
    const FlagNames& more_names, const std::function<bool(const std::string&)>& has,
    const std::vector<std::string>& names, const std::string& program) {
  boost::program_options::parsed_options options{&all};
  for (const auto& [key, text] : read_config_file(file)) {
    std::string name = key;
    std::ranges::replace(name, '_', '-');
    if (!has(name) && !more_names.contains(name)) {
      throw unknown_flag(name, {.object = file, .field = key}, names, program);
    }
    options.options.emplace_back(name, std::vector{text});
  }
  try {
    more_names.use_own_names(options);
  } catch (const InputError& error) {
    throw InputError{error.what(), {.object = file}};
  }
  return options;
}

}  // namespace detail

SEQTRAIN_SEPARATE Flags::Flags(std::string program, std::string purpose,
                               std::optional<log::Log> log)
    : FlagList{std::move(program)},
      purpose_{std::move(purpose)},
      state_{std::make_unique<State>()} {
  state_->log = std::move(log);
  section("Flags");
  state_->sections.back().add_options()("help,h", "print this and stop");
  if (!state_->log) return;
  add("log-format", state_->log_format, {{"auto", "auto"}, {"text", "text"}, {"json", "json"}},
      "text, json (an object a line with severity, message and time), or auto (json in a cloud "
      "job, else text)");
}

SEQTRAIN_SEPARATE Flags::~Flags() = default;

SEQTRAIN_SEPARATE Flags& Flags::section(const std::string& name) {
  constexpr unsigned line = 100, description = 60;
  state_->sections.emplace_back(name, line, description);
  return role(leaves_results_alone);
}

template <FlagValue T>
Flags& Flags::add(const std::string& name, T& target, const std::string& help) {
  namespace po = boost::program_options;
  state_->add(name, po::value<T>(&target)->default_value(target, default_text(target)), help);
  return remember(name, [&target] { return flag_text(target); });
}

template <FlagValue T>
Flags& Flags::add(const std::string& name, std::optional<T>& target, const std::string& help) {
  const auto take = [&target](const T& value) { target = value; };
  state_->add(name, boost::program_options::value<T>()->notifier(take), help);
  return remember(name, [&target] { return target ? flag_text(*target) : "nan"; });
}

#ifdef SEQTRAIN_SEPARATE_COMPILATION
#define SEQTRAIN_FLAG(T)                                                  \
  template Flags& Flags::add(const std::string&, T&, const std::string&); \
  template Flags& Flags::add(const std::string&, std::optional<T>&, const std::string&);
SEQTRAIN_FLAG(std::string)
SEQTRAIN_FLAG(bool)
SEQTRAIN_FLAG(int)
SEQTRAIN_FLAG(unsigned)
SEQTRAIN_FLAG(long)
SEQTRAIN_FLAG(unsigned long)
SEQTRAIN_FLAG(float)
SEQTRAIN_FLAG(double)
#undef SEQTRAIN_FLAG
#endif

SEQTRAIN_SEPARATE Flags& Flags::add(const std::string& name, std::vector<std::string>& target,
                                    const std::string& help) {
  const auto split = [&target](const std::string& text) { target = split_at_commas(text); };
  state_->add(name, boost::program_options::value<std::string>()->notifier(split), help);
  return remember(name, [&target] { return flag_text(target); });
}

SEQTRAIN_SEPARATE Flags& Flags::add_word(const std::string& name,
                                         const std::function<std::string()>& text,
                                         const std::function<void(const std::string&)>& take,
                                         const std::string& help) {
  namespace po = boost::program_options;
  state_->add(name, po::value<std::string>()->default_value(text())->notifier(take), help);
  return remember(name, text);
}

SEQTRAIN_SEPARATE Flags& Flags::add_switch(const std::string& name, bool& target,
                                           const std::string& help) {
  const auto take = [name, &target](const std::string& text) {
    require(text == "true" || text == "false", name, "must be true or false");
    target = text == "true";
  };
  namespace po = boost::program_options;
  state_->add(name, po::value<std::string>()->value_name("[true|false]")->notifier(take), help);
  state_->names.add_switch(name);
  remember(name, [&target] { return std::string{target ? "true" : "false"}; });
  flags_.back().is_switch = true;
  return *this;
}

SEQTRAIN_SEPARATE Flags& Flags::take_argument(const std::string& name) {
  state_->names.allow_argument(name);
  return *this;
}

SEQTRAIN_SEPARATE Flags& Flags::add_for_training() {
  namespace po = boost::program_options;
  state_->sections.front().add_options()(
      "config", po::value<std::string>(),
      "JSON file with values of flags, or a run's metrics.json; the command line takes precedence");
  section("Other names, which Hugging Face's Trainer has");
  for (const auto& [name, own] : other_names) {
    if (find(own) == nullptr) continue;
    if (find(name) != nullptr) {
      throw Error{"--" + std::string{name} + ": is another name of --" + std::string{own} +
                  "; give a flag of your own another name"};
    }
    state_->names.add(std::string{name}, std::string{own});
    state_->add_name(name, "--" + std::string{own});
  }
  for (const auto& [name, meaning] : only_true) {
    state_->names.add_only_true(std::string{name}, std::string{meaning});
    state_->add_name(name, "only true: " + std::string{meaning});
  }
  return *this;
}

SEQTRAIN_SEPARATE Flags& Flags::remember(const std::string& name,
                                         std::function<std::string()> text) {
  const auto fits = [](char c) {
    return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '-';
  };
  if (name.empty() || name.front() == '-' || name.back() == '-' ||
      !std::ranges::all_of(name, fits)) {
    throw Error{"'" + name +
                "': is no name of a flag; use small letters, digits and - between "
                "them, without the -- before it"};
  }
  const bool is_everybodys =
      name == "help" || name == "config" ||
      std::ranges::count(only_true, name, [](const auto& each) { return each.first; }) > 0;
  if (find(name) != nullptr || is_everybodys) {
    throw Error{"--" + name + ": is declared twice; give a flag of your own another name"};
  }
  std::string initial = text();
  flags_.push_back({name, role_, std::move(text), std::move(initial)});
  return *this;
}

SEQTRAIN_SEPARATE bool Flags::parse(int argc, const char* const* argv) {
  namespace po = boost::program_options;
  if (argc > 0) started_as_ = argv[0];
  if (started_as_.starts_with("seqtrain ")) program_ = started_as_;
  const auto arguments = state_->names.normalized(argc, argv);
  state_->set_log_format(arguments);
  po::options_description all{100, 60};
  for (const auto& section : state_->sections) all.add(section);
  po::variables_map values;
  const std::string advice = "see " + program_ + " --help";
  try {
    auto given =
        po::command_line_parser(arguments)
            .options(all)
            .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
            .run();
    state_->names.use_own_names(given);
    po::store(given, values);
    for (const auto& option : given.options) on_command_line_.insert(option.string_key);
  } catch (const po::unknown_option& error) {
    const std::string flag = error.get_option_name();
    throw detail::unknown_flag(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())),
                               {.object = flag}, all_names(), program_);
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
      const auto has = [this](const std::string& name) { return find(name) != nullptr; };
      po::store(detail::options_in(file, all, state_->names, has, all_names(), program_), values);
    }
    po::notify(values);
  } catch (const po::error& error) {
    throw InputError{error.what(), {.object = file}, advice};
  }
  for (const auto& [name, value] : values) {
    if (!value.defaulted()) given_.insert(name);
  }
  for (Flag& flag : flags_) {
    if (std::string text = flag.text(); text != flag.initial) flag.changed = std::move(text);
  }
  state_->set_log_format(std::string_view{state_->log_format});
  return true;
}

}  // namespace seqtrain::cli
