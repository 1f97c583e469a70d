#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/checkpoint/checkpoints.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/memory.hpp>
#include <seqtrain/train/stopped.hpp>
#include <seqtrain/trainer.hpp>

#include "support/checkpoint_history.hpp"
#include "support/fakes.hpp"
#include "support/simulation/simulation.hpp"

namespace seqtrain::tests {

/// A folder of a simulated bucket, as a separate store.
class SimulatedPlace {
 public:
  SimulatedPlace(sim::Store store, std::string prefix)
      : store_{std::move(store)}, prefix_{std::move(prefix)} {}

  [[nodiscard]] std::string name() const { return prefix_; }
  void put(std::string_view key, std::span<const std::byte> bytes) { store_.put(at(key), bytes); }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    store_.put_file(at(key), file);
  }
  void flush() { store_.flush(); }
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    auto keys = store_.list(key.empty() ? prefix_ : at(key));
    for (auto& one : keys) one.erase(0, prefix_.size() + 1);
    return keys;
  }
  [[nodiscard]] std::optional<sink::Stored> get(std::string_view key) const {
    return store_.get(at(key));
  }
  bool get_file(std::string_view key, const std::filesystem::path& file) const {
    return store_.get_file(at(key), file);
  }
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    return store_.put_if(at(key), bytes, generation);
  }
  void remove(std::string_view key) { store_.remove(at(key)); }

 private:
  [[nodiscard]] std::string at(std::string_view key) const {
    return prefix_ + "/" + std::string{key};
  }

  sim::Store store_;
  std::string prefix_;
};

/// The remote stores of simulated histories: one bucket.
class SimulatedBucket {
 public:
  using Place = SimulatedPlace;

  explicit SimulatedBucket(sim::Random& random) : bucket_{random} {}

  /// Returns the store at a place, as a process reaches it.
  [[nodiscard]] Place place(sim::Process& process, const std::string& prefix) {
    return {sim::Store{bucket_, process}, prefix};
  }
  [[nodiscard]] sim::Bucket::Faults& faults() { return bucket_.faults(); }
  bool corrupt(const std::string& key, sim::Random& random) { return bucket_.corrupt(key, random); }
  [[nodiscard]] std::optional<std::string> read(const std::string& key) const {
    const auto* const object = bucket_.get(key);
    return object ? std::optional{*object->bytes} : std::nullopt;
  }
  [[nodiscard]] std::vector<std::string> list(const std::string& folder) const {
    return bucket_.list(folder);
  }

 private:
  sim::Bucket bucket_;
};

/// Runs histories on simulated machines and returns the invariant that does not hold afterwards:
///
/// - A run ends with the same bits as an undisturbed one.
/// - A checkpoint that was reported durable, or a newer one of the run, is complete.
/// - Nothing of another run is changed or removed, and no content of one is read.
/// - A run has only the checkpoints that it keeps, and two that are being written or uploaded.
/// - At the end a program without faults resumes the run and ends successfully.
///
/// `Remote` holds what is in the bucket, as `SimulatedBucket` does.
template <class Remote>
class BasicHistoryRunner {
 public:
  /// Returns the first problem, or an empty string if all invariants hold.
  static std::string run(const History& history) { return BasicHistoryRunner{history}.run(); }

 private:
  using Directory = sink::BasicDirectory<sim::Files>;
  using Checkpointer =
      checkpoint::BasicCheckpoints<Directory, typename Remote::Place, sim::Background>;

  struct Call {
    sim::Operation operation;
    std::string object;
    bool searching;  ///< before the program knows its run
  };

  /// The observed results of an execution.
  struct Trace {
    Execution execution;
    std::string run = {};     ///< the run that it has begun or continued
    std::string named = {};   ///< the run that its place named before the start
    std::string parent = {};  ///< the run whose checkpoint the user has named
    const Checkpointer* checkpointer =
        nullptr;  ///< the checkpointer while the program runs, else null
    std::int64_t durable = -1;
    double weight = 0;
    bool returned = false;
    std::string error = {};
    bool wrong_input = false;
    std::vector<Call> calls = {};
  };

  explicit BasicHistoryRunner(const History& history)
      : history_{history}, random_{history.seed ^ 0x5eed}, bucket_{random_} {}

  std::string run() {
    bucket_.faults() = {.before = history_.lost, .after = history_.lost, .late = history_.lost};
    for (std::size_t i = 0; i < history_.executions.size(); ++i) {
      std::vector<Execution> together{history_.executions[i]};
      while (i + 1 < history_.executions.size() && history_.executions[i + 1].together) {
        together.push_back(history_.executions[++i]);
      }
      if (auto problem = execute(together); !problem.empty()) return problem;
    }
    bucket_.faults() = {};
    return end_well();
  }

  /// Resumes the run that each place names, without faults.
  std::string end_well() {
    for (const bool remote : {false, true}) {
      for (const int machine : {0, 1}) {
        for (const bool nested : {false, true}) {
          Execution calm{.machine = machine, .remote = remote, .nested = nested};
          const std::string run = named(calm);
          if (run.empty() || (remote && machine == 1)) continue;
          const auto [settings, longer] = runs_.at(run);
          calm.settings = settings;
          calm.longer = longer;
          const bool any = !complete(calm, run).empty();
          if (auto problem = execute({calm}); !problem.empty()) return problem;
          const Trace& last = traces_.back();
          if (!last.returned) return "the run cannot be resumed: " + last.error;
          if (any && last.run != run) return "not " + run + " was resumed, but " + last.run;
        }
      }
    }
    return {};
  }

  std::string execute(const std::vector<Execution>& together) {
    const std::size_t first = traces_.size();
    {
      std::vector<std::unique_ptr<sim::Process>> processes;
      traces_.reserve(first + together.size());
      for (const Execution& one : together) prepare(one);
      for (const Execution& one : together) {
        traces_.push_back({.execution = one, .named = named(one)});
        processes.push_back(start(traces_.back()));
      }
      fibers_.run();
      for (std::size_t i = 0; i < processes.size(); ++i) finish(*processes[i], traces_[first + i]);
    }
    for (std::size_t i = first; i < traces_.size(); ++i) {
      if (auto problem = check(traces_[i], together.size() > 1); !problem.empty()) return problem;
    }
    return {};
  }

  void prepare(const Execution& one) {
    if (one.new_machine)
      disks_[static_cast<std::size_t>(one.machine)] = std::make_unique<sim::Disk>();
    if (!one.corrupt) return;
    const std::string run = named(one);
    const auto steps = complete(one, run);
    if (run.empty() || steps.empty()) return;
    const std::string key = folder_of(place(one), run) + "/" +
                            train::checkpoint_name(*steps.rbegin()) + "/model.safetensors";
    one.remote ? bucket_.corrupt(key, random_) : disk(one).corrupt(key, random_);
    if (one.remote) damaged_.emplace(run, *steps.rbegin());
  }

  std::unique_ptr<sim::Process> start(Trace& trace) {
    const Execution& one = trace.execution;
    sim::Plan plan{.kill_at = one.kill_at,
                   .moment = one.kill_moment,
                   .power_loss = one.power_loss,
                   .stop_at = one.stop_at};
    if (one.errors_from > 0) {
      plan.errors = {.first = one.errors_from, .last = one.errors_from + 40, .probability = 0.15};
    }
    auto process = std::make_unique<sim::Process>(fibers_, disk(one), plan);
    process->watch([&trace](sim::Operation operation, std::string_view object) {
      const bool searching = trace.run.empty() && (trace.checkpointer == nullptr ||
                                                   trace.checkpointer->run().id.empty());
      trace.calls.push_back({operation, std::string{object}, searching});
    });
    const std::string path = one.resume == Execution::Resume::path ? some_checkpoint(trace) : "";
    process->start([this, &trace, path, program = process.get()] { train(trace, path, *program); });
    return process;
  }

  void finish(const sim::Process& process, Trace& trace) {
    if (process.end() != sim::End::threw) return;
    try {
      std::rethrow_exception(process.error());
    } catch (const InputError& error) {
      trace.error = error.what();
      trace.wrong_input = true;
    } catch (const std::exception& error) {
      trace.error = error.what();
    }
  }

  /// Returns the directory of a complete checkpoint with these settings on the machine's disk, or
  /// an empty string.
  std::string some_checkpoint(Trace& trace) {
    const Execution& one = trace.execution;
    for (const auto& [run, how] : runs_) {
      if (how.first != one.settings) continue;
      const auto steps = complete_on_disk(disk(one), local(one), run);
      if (steps.empty()) continue;
      trace.parent = run;
      return folder_of(local(one), run) + "/" + train::checkpoint_name(*steps.begin());
    }
    return {};
  }

  /// Runs the training program.
  void train(Trace& trace, const std::string& path, sim::Process& process) {
    const Execution& one = trace.execution;
    auto remote = bucket_.place(process, place(one));
    train::CheckpointOptions options{.every = one.every, .keep = one.keep};
    options.directory = local(one);
    options.settings = {{"seed", std::to_string(one.settings)}};
    options.make_id = [this] { return "run_" + std::to_string(++ids_); };
    if (one.resume == Execution::Resume::never) options.resume = "never";
    if (!path.empty()) options.resume = path;
    Checkpointer checkpointer{Directory{local(one), sim::Files{process}},
                              one.remote ? &remote : nullptr, options, std::ref(process)};
    trace.checkpointer = &checkpointer;
    const struct Note {
      ~Note() {
        trace.checkpointer = nullptr;
        trace.run = checkpointer.run().id;
        trace.durable = checkpointer.durable();
        if (!trace.run.empty()) runs.insert_or_assign(trace.run, how);
      }
      Trace& trace;
      const Checkpointer& checkpointer;
      std::map<std::string, std::pair<int, bool>>& runs;
      std::pair<int, bool> how;
    } note{trace, checkpointer, runs_, {one.settings, one.longer}};
    auto trainer = make_trainer(one.settings);
    train::FitOptions fit = fit_options(one);
    fit.stop = process.stop_token();
    try {
      (void)trainer.fit(fit, dev(), train::BestModel{one.settings == 1}, checkpointer);
    } catch (const train::Stopped&) {
      if (checkpointer.durable() < 0) throw std::runtime_error{"stopped without a checkpoint"};
      return;
    }
    trace.weight = trainer.model().weight();
    trace.returned = true;
  }

  static Trainer<FakeModel, FakeSgd, FakeLoader, sink::Discard> make_trainer(int settings) {
    return {FakeModel{}, FakeSgd{settings == 0 ? 0.01 : 0.02},
            FakeLoader{
                settings == 0 ? std::vector<double>{1, -2, 3} : std::vector<double>{2, 5, -1}, 1},
            sink::Discard{}};
  }
  static train::FitOptions fit_options(const Execution& one) {
    return {.epochs = one.longer ? 3 : 2};
  }
  static FakeLoader dev() { return FakeLoader{{1, -1}, 2}; }

  /// Returns the weight after an undisturbed run.
  static double expected(const Execution& one) {
    static std::map<std::pair<int, bool>, double> known;
    const auto [found, is_new] = known.try_emplace({one.settings, one.longer});
    if (is_new) {
      auto trainer = make_trainer(one.settings);
      (void)trainer.fit(fit_options(one), dev(), train::BestModel{one.settings == 1});
      found->second = trainer.model().weight();
    }
    return found->second;
  }

  std::string check(const Trace& trace, bool together) {
    const Execution& one = trace.execution;
    if (trace.returned && trace.weight != expected(one)) {
      return "a run has ended with other bits: " + std::to_string(trace.weight) + " instead of " +
             std::to_string(expected(one));
    }
    if (auto problem = check_error(trace, together); !problem.empty()) return problem;
    if (auto problem = check_durable(trace); !problem.empty()) return problem;
    if (auto problem = check_calls(trace); !problem.empty()) return problem;
    return check_space(trace);
  }

  /// Checks that a program fails only for a reason.
  std::string check_error(const Trace& trace, bool together) const {
    if (trace.error.empty()) return {};
    const auto says = [&](std::string_view text) {
      return trace.error.find(text) != std::string::npos;
    };
    if (trace.wrong_input) {
      if (says("other settings") || says("may be longer, not shorter")) return {};
      if (together && says("another process keeps its checkpoints here")) return {};
    } else {
      const bool faults = trace.execution.errors_from > 0 || history_.lost > 0;
      if (faults && !says("stopped without a checkpoint")) return {};
      if (together && (says("another program") || says("another process"))) return {};
    }
    return "a program has failed without a reason: " + trace.error;
  }

  /// Checks that durable checkpoints exist on the machine, and in the bucket those of the run that
  /// run.json names.
  std::string check_durable(const Trace& trace) {
    const Execution& one = trace.execution;
    if (!trace.run.empty() && trace.durable >= 0) {
      const auto steps = complete_on_disk(disk(one), local(one), trace.run);
      if (steps.empty() || *steps.rbegin() < trace.durable) {
        return "checkpoint-" + std::to_string(trace.durable) + " of " + trace.run +
               " was reported durable and is not on machine " + std::to_string(one.machine);
      }
    }
    const auto record = bucket_.read(place(one) + "/run.json");
    if (!one.remote || !record) return {};
    const auto document = json::Document::parse(*record, "run.json");
    const std::string run{document.root().at("run").string()};
    const auto step = document.root().find("step");
    const auto steps = complete_in_bucket(place(one), run);
    if (step && damaged_.contains({run, step->integer()})) return {};
    if (step && (steps.empty() || *steps.rbegin() < step->integer())) {
      return "run.json names checkpoint-" + std::to_string(step->integer()) + " of " + run +
             ", which is not in the bucket";
    }
    return {};
  }

  /// Checks that a program reads and changes only its own run. Before it knows its run, it may read
  /// the run that its place names and the one that the user has named, and copy the former from the
  /// bucket.
  std::string check_calls(const Trace& trace) const {
    const Execution& one = trace.execution;
    for (const auto& [operation, object, searching] : trace.calls) {
      const std::size_t at = object.find("run_");
      if (at == std::string::npos || !concerns_content(operation)) continue;
      const std::string run = object.substr(at, object.find('/', at) - at);
      const std::string folder = sim::is_remote(operation) ? place(one) : local(one);
      const bool reads =
          operation == sim::Operation::read || operation == sim::Operation::store_get;
      const bool copies = one.remote && !sim::is_remote(operation);
      const bool own = !searching && run == trace.run;
      const bool sought = searching && (((reads || copies) && run == trace.named) ||
                                        (reads && run == trace.parent));
      if (object.starts_with(folder + "/run_") && (own || sought)) continue;
      return std::string{name_of(operation)} + " of " + object + " by " +
             (trace.run.empty() ? "a program without a run" : trace.run);
    }
    return {};
  }

  static bool concerns_content(sim::Operation operation) {
    using enum sim::Operation;
    return operation != list && operation != store_list && operation != store_flush &&
           operation != make_directory && operation != sync_directory && operation != stamp;
  }

  /// Checks that a run's folder has only the checkpoints that are kept and those that are being
  /// written or uploaded. Checkpoints that could not be removed are removed with the next one.
  std::string check_space(const Trace& trace) {
    const Execution& one = trace.execution;
    const bool fails_now = one.errors_from > 0 || bucket_.faults().before > 0;
    removals_failed_ = removals_failed_ || fails_now;
    if (trace.run.empty() || fails_now || (removals_failed_ && !trace.returned)) return {};
    int& keep = keeps_[trace.run];
    keep = std::max(keep, one.keep);
    const auto too_many = [&](const std::set<std::string>& folders) {
      return static_cast<int>(folders.size()) > keep + 2;
    };
    std::set<std::string> here, there;
    for (const auto& name : checkpoints_on_disk(disk(one), local(one), trace.run))
      here.insert(name);
    for (const auto& name : checkpoints_in_bucket(place(one), trace.run)) there.insert(name);
    if (!too_many(here) && !too_many(there)) return {};
    return trace.run + " has " + std::to_string(here.size()) + " checkpoints on the disk and " +
           std::to_string(there.size()) + " in the bucket, and is to keep " + std::to_string(keep);
  }

  [[nodiscard]] static std::string place(const Execution& one) {
    return one.nested ? "exp/lr2" : "exp";
  }
  /// Returns the place where an execution keeps its checkpoints on its machine.
  [[nodiscard]] static std::string local(const Execution& one) {
    return one.remote ? (one.nested ? "copies-lr2" : "copies") : place(one);
  }
  [[nodiscard]] sim::Disk& disk(const Execution& one) const {
    return *disks_[static_cast<std::size_t>(one.machine)];
  }

  /// Returns the run that the place of an execution names, or an empty string.
  [[nodiscard]] std::string named(const Execution& one) const {
    std::optional<std::string> text;
    if (one.remote) {
      text = bucket_.read(place(one) + "/run.json");
    } else if (const auto content = disk(one).read(place(one) + "/run.json")) {
      text = *content ? **content : std::string{};
    }
    if (!text) return {};
    return std::string{json::Document::parse(*text, "run.json").root().at("run").string()};
  }

  [[nodiscard]] std::set<std::int64_t> complete(const Execution& one,
                                                const std::string& run) const {
    return one.remote ? complete_in_bucket(place(one), run)
                      : complete_on_disk(disk(one), local(one), run);
  }

  /// Returns the folder of a run's checkpoints, as the tested code names it.
  [[nodiscard]] static std::string folder_of(const std::string& place, const std::string& run) {
    static sink::Memory nothing;
    const std::string path = place + "/" + checkpoint::CheckpointFolder{nothing, run}.at(0);
    return path.substr(0, path.rfind('/'));
  }

  [[nodiscard]] static std::set<std::string> checkpoints_on_disk(const sim::Disk& disk,
                                                                 const std::string& place,
                                                                 const std::string& run) {
    std::set<std::string> names;
    for (const auto& entry : disk.list(folder_of(place, run))) {
      if (train::checkpoint_step(entry.name)) names.insert(std::string{entry.name});
    }
    return names;
  }
  [[nodiscard]] std::set<std::string> checkpoints_in_bucket(const std::string& place,
                                                            const std::string& run) const {
    const std::string folder = folder_of(place, run);
    std::set<std::string> names;
    for (const auto& key : bucket_.list(folder)) {
      const auto rest = key.substr(folder.size() + 1);
      const auto name = rest.substr(0, rest.find('/'));
      if (train::checkpoint_step(name)) names.insert(name);
    }
    return names;
  }

  /// Returns the steps of a run's checkpoints that can be read.
  [[nodiscard]] static std::set<std::int64_t> complete_on_disk(const sim::Disk& disk,
                                                               const std::string& place,
                                                               const std::string& run) {
    std::set<std::int64_t> steps;
    for (const auto& checkpoint : checkpoints_on_disk(disk, place, run)) {
      insert_if_complete(steps, run, checkpoint, [&](const std::string& name) {
        const auto content = disk.read(folder_of(place, run) + "/" + checkpoint + "/" + name);
        return content ? std::optional{shared(*content)} : std::nullopt;
      });
    }
    return steps;
  }
  [[nodiscard]] std::set<std::int64_t> complete_in_bucket(const std::string& place,
                                                          const std::string& run) const {
    std::set<std::int64_t> steps;
    for (const auto& checkpoint : checkpoints_in_bucket(place, run)) {
      insert_if_complete(steps, run, checkpoint, [&](const std::string& name) {
        auto text = bucket_.read(folder_of(place, run) + "/" + checkpoint + "/" + name);
        if (!text) return std::optional<SharedBytes>{};
        return std::optional{shared(std::make_shared<const std::string>(*std::move(text)))};
      });
    }
    return steps;
  }

  static SharedBytes shared(const std::shared_ptr<const std::string>& text) {
    if (!text) return {};
    return {text, std::as_bytes(std::span{*text})};
  }

  static void insert_if_complete(std::set<std::int64_t>& steps, const std::string& run,
                                 const std::string& name,
                                 const checkpoint::Checkpoint::Read& read) {
    try {
      const checkpoint::Checkpoint whole{name, read};
      if (whole.run().id == run) steps.insert(whole.state().position.step);
    } catch (const InputError&) {  // not complete
    }
  }

  const History& history_;
  sim::Random random_;
  sim::Fibers fibers_{random_};
  std::array<std::unique_ptr<sim::Disk>, 2> disks_{std::make_unique<sim::Disk>(),
                                                   std::make_unique<sim::Disk>()};
  mutable Remote bucket_;
  std::vector<Trace> traces_;
  std::map<std::string, std::pair<int, bool>> runs_;  ///< settings and length of each run
  std::map<std::string, int> keeps_;
  bool removals_failed_ = false;                            ///< in some execution, perhaps
  std::set<std::pair<std::string, std::int64_t>> damaged_;  ///< folders of the bucket, with steps
  int ids_ = 0;
};

using HistoryRunner = BasicHistoryRunner<SimulatedBucket>;

}  // namespace seqtrain::tests
