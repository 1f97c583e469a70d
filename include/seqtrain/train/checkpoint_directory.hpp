#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/writable.hpp>
#include <seqtrain/train/checkpoint.hpp>

namespace seqtrain::train {

/// `checkpoint-<step>`, as Hugging Face names them.
inline std::string checkpoint_name(std::int64_t step) {
  return "checkpoint-" + std::to_string(step);
}

/// The step of a checkpoint of that name; nothing where it is none.
inline std::optional<std::int64_t> checkpoint_step(std::string_view name) {
  constexpr std::string_view prefix = "checkpoint-";
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  std::int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc{} || end != name.data() + name.size() || step < 0) return {};
  return step;
}

/// A directory of checkpoints on a disk. One appears under its name whole or not at all, and a
/// reader trusts none whose manifest does not fit.
class CheckpointDirectory {
 public:
  using Log = std::function<void(std::string_view)>;

  /// Throws `InputError` where `path` cannot be written; creates nothing yet.
  explicit CheckpointDirectory(std::filesystem::path path) : path_{std::move(path)} {
    check_writable(path_);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path at(std::int64_t step) const {
    return path_ / checkpoint_name(step);
  }

  /// The steps of what is there, whole or not, in ascending order.
  [[nodiscard]] std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{path_, error}) {
      if (const auto step = checkpoint_step(entry.path().filename().string())) {
        found.push_back(*step);
      }
    }
    std::ranges::sort(found);
    return found;
  }

  /// The newest that is whole. Each newer one that is not is named in the log.
  [[nodiscard]] std::optional<Checkpoint> newest(const Log& log) const {
    auto all = steps();
    for (; !all.empty(); all.pop_back()) {
      if (auto checkpoint = whole(all.back(), log)) return checkpoint;
    }
    return {};
  }

  /// The checkpoint of that step, unless it is missing or broken, which the log is told.
  [[nodiscard]] std::optional<Checkpoint> whole(std::int64_t step, const Log& log) const {
    try {
      return Checkpoint{at(step)};
    } catch (const Error& error) {
      if (log) log(checkpoint_name(step) + " is not used: " + error.what());
      return {};
    }
  }

  /// Writes a checkpoint beside the others and gives it its name. Where a whole one of that step is
  /// there already nothing is done: the same step has the same bits. Throws `Error`, leaving the
  /// others as they are.
  void write(const Snapshot& snapshot, const RunIdentity& run) const {
    const std::int64_t step = snapshot.state.position.step;
    if (std::filesystem::exists(at(step)) && whole(step, {})) return;
    fill(step, [&](const std::filesystem::path& empty) { write_checkpoint(empty, snapshot, run); });
  }

  /// Calls `work` with an empty directory beside the checkpoints, which then becomes that of the
  /// step, in the place of an older one.
  template <class Work>
  void fill(std::int64_t step, const Work& work) const {
    with_file_errors([&] {
      std::filesystem::remove_all(partial(step));
      std::filesystem::create_directories(partial(step));
      try {
        work(partial(step));
        std::filesystem::remove_all(at(step));
        std::filesystem::rename(partial(step), at(step));
        sync_directory(path_);
      } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(partial(step), ignored);
        throw;
      }
    });
  }

  /// Removes all but the newest `keep` up to `step` and `spared`, what came behind `step` in a run
  /// that was not gone on with, and what was left half written or half removed.
  void prune(std::int64_t step, std::int64_t keep, std::optional<std::int64_t> spared = {}) const {
    auto all = steps();
    const auto later = std::ranges::upper_bound(all, step);
    all.erase(later - std::min<std::ptrdiff_t>(keep, later - all.begin()), later);
    with_file_errors([&] {
      for (const std::int64_t old : all) {
        if (old != spared) std::filesystem::rename(at(old), partial(old));
      }
      for (const auto& entry : std::filesystem::directory_iterator{path_}) {
        const auto name = entry.path().filename().string();
        const bool ours = name.starts_with("checkpoint-") && name.ends_with(".partial");
        if (ours) std::filesystem::remove_all(entry.path());
      }
    });
  }

 private:
  /// Where the checkpoint of a step lies while it is written or removed.
  [[nodiscard]] std::filesystem::path partial(std::int64_t step) const {
    return path_ / (checkpoint_name(step) + ".partial");
  }

  std::filesystem::path path_;
};

}  // namespace seqtrain::train
