#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/simulation/simulation.hpp"

namespace seqtrain::tests {

/// One execution of a training program in a history. The default of each member means that nothing
/// special happens, so a history can be shrunk by setting members back.
struct Execution {
  enum class Resume { automatic, never, path };

  int machine = 0;
  bool remote = false;  ///< keeps its checkpoints in the bucket, else on the machine's disk
  bool nested = false;  ///< in a place inside the other one
  int settings = 0;     ///< 0 and 1 differ in what they train
  bool longer = false;  ///< trains one epoch more
  Resume resume = Resume::automatic;
  int keep = 2;
  int every = 1;                             ///< steps between two checkpoints
  std::uint64_t kill_at = sim::Plan::never;  ///< SIGKILL in this call
  sim::Moment kill_moment = sim::Moment::before;
  bool power_loss = false;                   ///< the kill is a loss of power
  std::uint64_t stop_at = sim::Plan::never;  ///< SIGTERM before this call
  std::uint64_t errors_from = 0;             ///< calls from here on fail now and then; 0: none
  bool corrupt = false;      ///< before it starts, the newest checkpoint of its place is damaged
  bool new_machine = false;  ///< before it starts, the machine's disk is replaced by an empty one
  bool together = false;     ///< runs at the same time as the execution before

  friend bool operator==(const Execution&, const Execution&) = default;
};

/// The history of a place of checkpoints: executions, then one without faults that must end
/// successfully.
struct History {
  std::uint64_t seed = 0;  ///< of the order of events and of what is left to chance
  double lost = 0;         ///< the share of the bucket's calls that fail or lose their answer
  std::vector<Execution> executions = {};
};

/// Returns the history of a seed.
inline History make_history(std::uint64_t seed) {
  sim::Random random{seed};
  const auto one_of = [&](auto first, auto second) { return random.chance(0.5) ? first : second; };
  History history{.seed = seed, .lost = one_of(0.0, 0.05)};
  const std::size_t count = 1 + random.below(4);
  const bool remote = random.chance(0.6);
  const bool mixed = random.chance(0.3);  // other settings, nested places
  for (std::size_t i = 0; i < count; ++i) {
    Execution one{.machine = static_cast<int>(random.below(2)), .remote = remote};
    if (mixed) {
      one.remote = random.chance(0.5);
      one.nested = random.chance(0.4);
      one.settings = random.chance(0.3) ? 1 : 0;
    }
    one.longer = random.chance(0.15);
    if (random.chance(0.15)) one.resume = Execution::Resume::never;
    if (random.chance(0.1)) one.resume = Execution::Resume::path;
    one.keep = 1 + static_cast<int>(random.below(3));
    one.every = 1 + static_cast<int>(random.below(3));
    if (random.chance(0.55)) {
      one.kill_at = 1 + random.below(random.chance(0.5) ? 60 : 400);
      one.kill_moment = static_cast<sim::Moment>(random.below(3));
      one.power_loss = random.chance(0.4);
    } else if (random.chance(0.4)) {
      one.stop_at = 1 + random.below(300);
    }
    if (random.chance(0.2)) one.errors_from = 1 + random.below(200);
    one.corrupt = i > 0 && random.chance(0.15);
    one.new_machine = i > 0 && random.chance(0.15);
    one.together = i > 0 && random.chance(0.15);
    history.executions.push_back(one);
  }
  return history;
}

/// Returns the history as people read it, a line for each execution.
inline std::string describe(const History& history) {
  std::string text = "seed " + std::to_string(history.seed) +
                     (history.lost > 0 ? ", answers are lost" : "") + "\n";
  for (const Execution& one : history.executions) {
    const auto add = [&](bool applies, const std::string& words) {
      if (applies) text += ", " + words;
    };
    text += "  machine " + std::to_string(one.machine) + (one.remote ? ", bucket" : ", disk");
    add(one.nested, "nested place");
    add(one.settings != 0, "other settings");
    add(one.longer, "longer");
    add(one.resume == Execution::Resume::never, "resume never");
    add(one.resume == Execution::Resume::path, "resume a path");
    add(true, "keep " + std::to_string(one.keep) + ", every " + std::to_string(one.every));
    add(one.kill_at != sim::Plan::never, std::string{one.power_loss ? "power lost" : "killed"} +
                                             " in call " + std::to_string(one.kill_at) +
                                             ", moment " +
                                             std::to_string(static_cast<int>(one.kill_moment)));
    add(one.stop_at != sim::Plan::never, "stopped before call " + std::to_string(one.stop_at));
    add(one.errors_from > 0, "errors from call " + std::to_string(one.errors_from));
    add(one.corrupt, "newest checkpoint damaged before");
    add(one.new_machine, "new disk before");
    add(one.together, "together with the one before");
    text += '\n';
  }
  return text;
}

/// Returns a smaller history that still fails: without executions and faults that do not matter.
/// `fails` runs a history.
template <class Fails>
History shrink(History history, const Fails& fails) {
  const auto attempt = [&](const History& smaller) {
    if (!fails(smaller)) return false;
    history = smaller;
    return true;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = history.executions.size(); i-- > 0;) {
      History smaller = history;
      smaller.executions.erase(smaller.executions.begin() + static_cast<std::ptrdiff_t>(i));
      progress = attempt(smaller) || progress;
    }
    for (std::size_t i = 0; i < history.executions.size(); ++i) {
      const auto set_back = [&](auto member) {
        History smaller = history;
        smaller.executions[i].*member = Execution{}.*member;
        if (!(smaller.executions[i] == history.executions[i])) {
          progress = attempt(smaller) || progress;
        }
      };
      set_back(&Execution::together);
      set_back(&Execution::kill_at);
      set_back(&Execution::kill_moment);
      set_back(&Execution::power_loss);
      set_back(&Execution::stop_at);
      set_back(&Execution::errors_from);
      set_back(&Execution::corrupt);
      set_back(&Execution::new_machine);
      set_back(&Execution::resume);
      set_back(&Execution::longer);
      set_back(&Execution::settings);
      set_back(&Execution::nested);
      set_back(&Execution::remote);
      set_back(&Execution::machine);
      set_back(&Execution::keep);
      set_back(&Execution::every);
    }
    History smaller = history;
    smaller.lost = 0;
    if (history.lost > 0) progress = attempt(smaller) || progress;
  }
  return history;
}

}  // namespace seqtrain::tests
