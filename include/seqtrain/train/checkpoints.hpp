#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_lock.hpp>
#include <seqtrain/train/checkpoint_directory.hpp>
#include <seqtrain/train/checkpoint_mirror.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::train {

struct CheckpointOptions {
  std::filesystem::path directory = {};
  std::int64_t every = 0;           ///< steps from one checkpoint to the next; 0: whenever
  double minutes = 10;              ///< the same in time; 0: whenever
  std::int64_t keep = 2;            ///< checkpoints that are kept
  bool resume = false;              ///< go on from the newest whole checkpoint, if there is one
  std::filesystem::path from = {};  ///< go on from this one instead
  RunIdentity run = {};
  std::function<void(std::string_view)> log = {};

  void validate() const {
    const auto demand = [](bool good, const char* field, const char* expected) {
      if (!good) throw InputError{expected, {.object = "checkpoints", .field = field}};
    };
    demand(every >= 0, "every", "must not be negative");
    demand(std::isfinite(minutes) && minutes >= 0, "minutes", "must be a number, not negative");
    demand(keep >= 1, "keep", "must be at least 1");
  }
};

/// An observer that saves a fit while it runs and goes on from what it has saved. At a safe point
/// that is due, the tensors are copied; another thread writes the copy, and the fit goes on. A
/// checkpoint that fails is told to the log: the older ones stay, and so does the fit. One process
/// at a time has the directory.
class Checkpoints {
 public:
  /// With a store, checkpoints are copied there too and looked for there as well. Throws
  /// `InputError` on options out of range and where the directory cannot be written; creates
  /// nothing yet.
  explicit Checkpoints(CheckpointOptions options, std::unique_ptr<CheckpointStore> store = {})
      : options_{std::move(options)}, directory_{options_.directory} {
    options_.validate();
    if (!store) return;
    mirror_ = std::make_unique<CheckpointMirror>(
        std::move(store), CheckpointMirror::Options{.keep = options_.keep, .log = options_.log});
  }

  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  ~Checkpoints() = default;

  /// Takes the directory and goes on from a checkpoint as the options say. Throws `InputError`
  /// where another process has it, or where the checkpoint is of a run with other settings.
  void on(const Restore& event) {
    acquire();
    last_ = Clock::now();
    last_step_ = 0;
    const auto checkpoint = find();
    if (!checkpoint) return;
    check_settings(*checkpoint);
    event.from({checkpoint->state(),
                [&checkpoint](std::string_view owner) { return checkpoint->tensors(owner); }});
    last_step_ = checkpoint->state().position.step;
    begun_ = durable_ = last_step_;
    say("Going on from " + checkpoint->directory().string());
  }

  void on(const SafePoint& point) {
    if (point.last) return save_last(point);
    if (!is_due(point.state.position.step) || is_writing()) return;
    copy(point);
    writing_ = std::async(std::launch::async, [this] { write(); });
  }

  /// What would be lost if the program ended now, for people. Safe from any thread.
  [[nodiscard]] std::string unfinished() const {
    const std::int64_t begun = begun_;
    const std::int64_t durable = durable_;
    const std::string missing =
        begun > durable ? checkpoint_name(begun) + " is not whole yet; " : std::string{};
    return missing + (durable < 0 ? "there is no checkpoint"
                                  : "the newest whole one is " + directory_.at(durable).string());
  }

  /// Waits until what has been begun is durable. To be called when the run's results are safe.
  /// Throws `Error` if no checkpoint could be saved, or the newest is not in the store.
  void finish() {
    wait();
    if (saved_ == 0 && !problem_.empty()) {
      throw Error{"no checkpoint could be saved: " + problem_};
    }
    if (mirror_ && saved_ > 0) finish_mirror();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void say(const std::string& text) const {
    if (options_.log) options_.log(text);
  }

  void acquire() {
    if (lock_) return;
    std::error_code error;
    std::filesystem::create_directories(directory_.path(), error);
    if (error) throw Error{"cannot be created: " + error.message(), {.object = where()}};
    lock_ = FileLock::attempt(directory_.path() / ".lock");
    if (!lock_) {
      throw InputError{"another process keeps its checkpoints here",
                       {.object = where()},
                       "wait for it or name another --checkpoint-dir"};
    }
  }

  [[nodiscard]] std::string where() const { return directory_.path().string(); }

  [[nodiscard]] std::optional<Checkpoint> find() {
    if (!options_.from.empty()) return Checkpoint{options_.from};
    if (!options_.resume) return {};
    auto here = directory_.newest(options_.log);
    return mirror_ ? newer_in_store(std::move(here)) : std::move(here);
  }

  /// The store's newest whole checkpoint if it is newer than `here`, fetched.
  std::optional<Checkpoint> newer_in_store(std::optional<Checkpoint> here) {
    auto steps = mirror_->store().steps();
    const std::int64_t step_here = here ? here->state().position.step : -1;
    for (; !steps.empty() && steps.back() > step_here; steps.pop_back()) {
      directory_.fill(steps.back(), [&](const std::filesystem::path& empty) {
        mirror_->store().fetch(steps.back(), empty);
      });
      if (auto fetched = directory_.whole(steps.back(), options_.log)) return fetched;
    }
    return here;
  }

  void check_settings(const Checkpoint& checkpoint) const {
    const std::string differences = differing(checkpoint.settings(), options_.run.settings);
    if (differences.empty()) return;
    throw InputError{"belongs to a run with other settings: " + differences,
                     {.object = checkpoint.directory().string()},
                     "use the same ones, or another --checkpoint-dir"};
  }

  /// `seed (1 there, 2 here), …`. An empty value counts as none at all, so that settings can be
  /// added that earlier checkpoints do not know.
  static std::string differing(const Pairs& there, const Pairs& here) {
    const auto find = [](const Pairs& pairs, const std::string& name) -> std::string {
      for (const auto& [key, value] : pairs) {
        if (key == name && !value.empty()) return value;
      }
      return "unset";
    };
    std::string text;
    const auto compare = [&](const std::string& name) {
      const std::string a = find(there, name);
      const std::string b = find(here, name);
      if (a != b) text += (text.empty() ? "" : ", ") + name + " (" + a + " there, " + b + " here)";
    };
    for (const auto& [name, value] : here) compare(name);
    for (const auto& [name, value] : there) {
      if (find(here, name) == "unset") compare(name);
    }
    return text;
  }

  [[nodiscard]] bool is_due(std::int64_t step) const {
    if (step <= last_step_) return false;
    const bool by_step = options_.every > 0 && step / options_.every > last_step_ / options_.every;
    const std::chrono::duration<double, std::ratio<60>> since = Clock::now() - last_;
    return by_step || (options_.minutes > 0 && since.count() >= options_.minutes);
  }

  [[nodiscard]] bool is_writing() const {
    return writing_.valid() &&
           writing_.wait_for(std::chrono::seconds{0}) != std::future_status::ready;
  }

  void wait() {
    if (writing_.valid()) writing_.get();
  }

  void copy(const SafePoint& point) {
    wait();
    begun_ = point.state.position.step;
    point.tensors([this](std::string_view owner, std::span<const weights::TensorView> tensors) {
      snapshot_.tensors[std::string{owner}].assign(tensors);
    });
    snapshot_.state = point.state;
    last_step_ = point.state.position.step;
    last_ = Clock::now();
  }

  /// Writes the copy. On another thread, which nothing may leave.
  void write() noexcept {
    const std::int64_t step = snapshot_.state.position.step;
    try {
      directory_.write(snapshot_, options_.run);
      ++saved_;
      durable_ = step;
      if (mirror_) mirror_->offer(step, directory_.at(step));
      directory_.prune(step, options_.keep, mirror_ ? mirror_->under_way() : std::nullopt);
      problem_.clear();
    } catch (const std::exception& error) {
      problem_ = error.what();
      say(checkpoint_name(step) + " could not be saved, older ones stay: " + problem_);
    }
  }

  void save_last(const SafePoint& point) {
    copy(point);
    write();
    if (!problem_.empty()) throw Error{"no checkpoint of the last step: " + problem_};
    say("Saved " + directory_.at(last_step_).string());
    if (mirror_) finish_mirror();
  }

  void finish_mirror() {
    try {
      mirror_->finish();
    } catch (const Error& error) {
      throw Error{error.what(), {}, "the checkpoints are in " + where()};
    }
  }

  CheckpointOptions options_;
  CheckpointDirectory directory_;
  std::unique_ptr<CheckpointMirror> mirror_;
  std::optional<FileLock> lock_;
  Snapshot snapshot_;
  Clock::time_point last_ = Clock::now();
  std::int64_t last_step_ = 0;  // of the last copy
  std::int64_t saved_ = 0;
  std::atomic<std::int64_t> begun_{-1};    // step of the last copy
  std::atomic<std::int64_t> durable_{-1};  // step of the last checkpoint that is whole
  std::string problem_;                    // of the last write
  std::future<void> writing_;              // last: it uses the others
};

}  // namespace seqtrain::train
