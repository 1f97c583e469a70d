#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/train/keeper.hpp>

namespace seqtrain::checkpoint {

/// The checkpoints of one run in a store: the folders `<run>/checkpoint-<step>`. Nothing outside
/// the run's folder is read, changed or removed. An empty run stands for the checkpoints that
/// seqtrain 0.1 left directly in the store.
template <Store S>
class CheckpointFolder {
 public:
  CheckpointFolder(S& store, std::string run) : store_{&store}, run_{std::move(run)} {}

  /// Returns the key of a step's folder.
  [[nodiscard]] std::string at(std::int64_t step) const {
    return run_.empty() ? train::checkpoint_name(step) : run_ + "/" + train::checkpoint_name(step);
  }
  /// Returns the key of a file in a step's folder.
  [[nodiscard]] std::string at(std::int64_t step, std::string_view file) const {
    return at(step) + "/" + std::string{file};
  }

  /// Returns the steps whose manifest is there, in ascending order.
  [[nodiscard]] std::vector<std::int64_t> steps() const {
    const std::string last = "/" + std::string{sink::Manifest::file_name};
    std::vector<std::int64_t> found;
    for (const std::string& key : store_->list(run_)) {
      if (!key.ends_with(last)) continue;
      const auto step = step_of(key);
      if (step && key == at(*step) + last) found.push_back(*step);
    }
    std::ranges::sort(found);
    return found;
  }

  /// Removes a checkpoint, the manifest first.
  void remove(std::int64_t step) const {
    store_->remove(at(step, sink::Manifest::file_name));
    for (const std::string& key : all_keys(at(step))) store_->remove(key);
    if constexpr (has_leftovers) store_->remove(at(step));  // an empty folder
  }

  /// Removes every checkpoint folder of the run, complete or not, except those of the newest `keep`
  /// checkpoints up to `step` and of the step `spared`.
  void prune(std::int64_t step, std::int64_t keep, std::optional<std::int64_t> spared = {}) const {
    auto kept = steps();
    kept.erase(std::ranges::upper_bound(kept, step), kept.end());
    kept.erase(kept.begin(), kept.end() - std::min<std::ptrdiff_t>(keep, std::ssize(kept)));
    std::set<std::int64_t> gone;
    for (const std::string& key : all_keys(run_)) {
      const auto found = step_of(key);
      if (!found || found == spared || std::ranges::count(kept, *found) > 0) continue;
      gone.insert(*found);
    }
    for (const std::int64_t old : gone) remove(old);
  }

 private:
  static constexpr bool has_leftovers = requires(S & store, std::string_view folder) {
    store.leftovers(folder);
  };

  /// Returns the keys inside a folder, including temporary files and empty folders.
  [[nodiscard]] std::vector<std::string> all_keys(const std::string& folder) const {
    auto keys = store_->list(folder);
    if constexpr (has_leftovers) {
      const auto left = store_->leftovers(folder);
      keys.insert(keys.end(), left.begin(), left.end());
    }
    return keys;
  }

  /// Returns the step of the checkpoint folder that a key is in, if it is in one.
  [[nodiscard]] std::optional<std::int64_t> step_of(std::string_view key) const {
    const std::size_t skipped = run_.empty() ? 0 : run_.size() + 1;
    if (key.size() < skipped) return {};
    key.remove_prefix(skipped);
    return train::checkpoint_step(key.substr(0, key.find('/')));
  }

  S* store_;
  std::string run_;
};

}  // namespace seqtrain::checkpoint
