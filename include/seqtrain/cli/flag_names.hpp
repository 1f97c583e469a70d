#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/core/text_similarity.hpp>

namespace seqtrain::cli {

/// A flag of other programs that train, and what to write here.
struct FamiliarFlag {
  std::string_view name;
  std::string_view advice;
  std::string_view own = {};  ///< the flag that the advice needs
};

/// Flags of Hugging Face's Trainer and of common scripts that these programs do not have.
inline constexpr std::array<FamiliarFlag, 16> familiar_flags{{
    {"lr", "use --learning-rate", "learning-rate"},
    {"fp16", "use --precision fp16", "precision"},
    {"bf16", "use --precision bf16", "precision"},
    {"no-cuda", "use --device cpu", "device"},
    {"use-cpu", "use --device cpu", "device"},
    {"gpu", "use --device cuda", "device"},
    {"eval-strategy", "the dev examples are evaluated after each epoch", "dev-file"},
    {"evaluation-strategy", "the dev examples are evaluated after each epoch", "dev-file"},
    {"save-strategy", "use --checkpoint-every or --checkpoint-minutes", "checkpoint-every"},
    {"save-total-limit", "use --keep-checkpoints", "keep-checkpoints"},
    {"logging-steps", "use --log-every", "log-every"},
    {"load-best-model-at-end", "use --best-model", "best-model"},
    {"num-labels", "the labels are those of the training file; --labels a,b,c names them",
     "labels"},
    {"per-device-eval-batch-size", "evaluation chooses its own batches; see --batch-size",
     "batch-size"},
    {"resume-from-checkpoint", "use --resume auto, or --resume with a checkpoint's path", "resume"},
    {"text-column-name", "use --text-field", "text-field"},
}};

/// Returns the name that is most like `wrong`, or an empty one if none is like it.
[[nodiscard]] inline std::string_view most_like(std::string_view wrong,
                                                std::span<const std::string> names) {
  std::size_t least = std::min<std::size_t>(2, wrong.size() / 3) + 1;
  std::string_view chosen;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < least) {
      least = distance;
      chosen = name;
    }
  }
  if (!chosen.empty() || wrong.size() < 3) return chosen;
  const auto extends = [&](std::string_view name) {
    return name.starts_with(wrong) || wrong.starts_with(std::string{name} + "-");
  };
  const auto found = std::ranges::find_if(names, extends);
  return found == names.end() ? std::string_view{} : std::string_view{*found};
}

/// Returns the advice for a flag that a program does not have: the flag that was meant, or else how
/// to list all flags.
[[nodiscard]] inline std::string advice_for_unknown(std::string_view wrong,
                                                    std::span<const std::string> names,
                                                    const std::string& program) {
  const auto known = std::ranges::find(familiar_flags, wrong, &FamiliarFlag::name);
  const auto has = [&](std::string_view name) { return std::ranges::count(names, name) > 0; };
  if (known != familiar_flags.end() && (known->own.empty() || has(known->own))) {
    return std::string{known->advice};
  }
  const auto meant = most_like(wrong, names);
  if (!meant.empty()) return "did you mean --" + std::string{meant} + "?";
  return "see " + program + " --help";
}

/// Names that Hugging Face's Trainer and its example programs give to flags, each with the flag's
/// name in these programs.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 9> other_names{{
    {"model-name-or-path", "model"},
    {"validation-file", "dev-file"},
    {"train-fraction", "fraction-of-train-data"},
    {"max-seq-length", "max-length"},
    {"per-device-train-batch-size", "batch-size"},
    {"num-train-epochs", "epochs"},
    {"num-epochs", "epochs"},
    {"save-steps", "checkpoint-every"},
    {"full-determinism", "deterministic"},
}};

/// Flags of those programs that can only be true in these programs, each with the statement that is
/// true.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 2> only_true{{
    {"do-train", "the program trains"},
    {"do-eval", "the program evaluates on the dev file after each epoch"},
}};

/// The additional names of a program's flags.
class FlagNames {
 public:
  /// Gives the flag `own` the additional name `name`.
  void add(std::string name, std::string own) {
    if (switches_.contains(own)) add_switch(name);
    own_.emplace(std::move(name), std::move(own));
  }

  /// Adds the name of a flag that can only be true. `meaning` says what is then true.
  void add_only_true(std::string name, std::string meaning) {
    only_true_.emplace(std::move(name), std::move(meaning));
  }

  /// Adds a flag that is true if it has no value.
  void add_switch(std::string name) { switches_.insert(std::move(name)); }

  /// Makes one argument without a name the value of the flag `own`. It may follow a switch.
  void allow_argument(std::string own) { argument_ = std::move(own); }

  /// Tells whether a flag has this name.
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
      const bool alone =
          i + 1 == arguments.size() || arguments[i + 1].starts_with("--") ||
          (!argument_.empty() && arguments[i + 1] != "true" && arguments[i + 1] != "false");
      const std::string name = argument.substr(2);
      if (alone && (only_true_.contains(name) || switches_.contains(name))) argument += "=true";
    }
    return arguments;
  }

  /// Replaces additional names by the flags' own names. Throws `InputError` if two names of one
  /// flag have different values, if a flag that can only be true has another value, or if an
  /// argument has no flag.
  void use_own_names(boost::program_options::parsed_options& given) const {
    std::map<std::string, std::pair<std::string, std::vector<std::string>>> first;
    std::string argument = argument_;
    std::erase_if(given.options, [&](auto& option) {
      if (option.position_key >= 0) option.string_key = std::exchange(argument, "");
      if (option.string_key.empty()) {
        const bool trains = given.description->find_nothrow("train-file", false) != nullptr;
        throw InputError{
            "'" + option.value.front() + "' follows no flag",
            {},
            std::string{trains ? "a file to train on is named by --train-file; " : ""} +
                "a value that has spaces needs quotes"};
      }
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
    const bool is_true = !value.empty() && equal_but_case(value.front(), "true");
    require(is_true, name, "can only be true: " + only_true_.at(name));
  }

  std::map<std::string, std::string> own_;        // own names of flags, by additional name
  std::map<std::string, std::string> only_true_;  // meanings, by name
  std::set<std::string> switches_;
  std::string argument_;  // the flag of an argument without a name
};

}  // namespace seqtrain::cli
