#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/simulation/random.hpp"

namespace seqtrain::tests::sim {

struct Inode;

/// Bytes that are copied on write. Null means empty.
using Content = std::shared_ptr<std::string>;

/// A file's content as the kernel shows it, and the content that is certainly on the disk.
class FileContent {
 public:
  [[nodiscard]] const Content& live() const { return live_; }
  [[nodiscard]] std::size_t size() const { return live_ == nullptr ? 0 : live_->size(); }

  void truncate() {
    live_.reset();
    lost_ = false;
  }

  void write(std::size_t offset, std::string_view bytes) {
    std::string& content = unshared();
    if (content.size() < offset) content.resize(offset);
    content.replace(offset, bytes.size(), bytes);
  }

  /// Has no effect after a failed `sync`, because the kernel then counts the pages as written.
  void sync() {
    if (!lost_) synced_ = live_;
  }
  void fail_to_sync() { lost_ = true; }

  /// Replaces unsynced content by the old content, by a part of the new one, by nothing, or by
  /// partial garbage.
  void power_loss(Random& random) {
    lost_ = false;
    if (live_ != synced_) live_ = what_remains(random);
    synced_ = live_;
  }

  /// Flips a bit or cuts off the end, also on the disk.
  void corrupt(Random& random) {
    if (size() == 0) return;
    std::string& content = unshared();
    if (random.chance(0.5)) {
      content.resize(random.below(content.size()));
    } else {
      char& byte = content[random.below(content.size())];
      byte = static_cast<char>(byte ^ 1 << random.below(8));
    }
    synced_ = live_;
  }

 private:
  std::string& unshared() {
    if (live_ == nullptr) {
      live_ = std::make_shared<std::string>();
    } else if (live_.use_count() > 1) {
      live_ = std::make_shared<std::string>(*live_);
    }
    return *live_;
  }

  [[nodiscard]] Content what_remains(Random& random) const {
    const std::size_t kept = random.below(size() + 1);
    std::string text = live_ == nullptr ? std::string{} : live_->substr(0, kept);
    switch (random.below(6)) {
      case 0:
        return synced_;
      case 1:
        return live_;
      case 2:
        return {};
      case 3:
        while (text.size() < size()) text += static_cast<char>(random.next());
        break;
      case 4:
        if (synced_ != nullptr && synced_->size() > kept) text += synced_->substr(kept);
        break;
      default:
        break;
    }
    return std::make_shared<std::string>(std::move(text));
  }

  Content live_;
  Content synced_;
  bool lost_ = false;
};

/// The names in a directory as the kernel shows them, the names that are certainly on the disk, and
/// the changes in between.
class DirectoryNames {
 public:
  struct Entry {
    std::string name;
    Inode* inode;
  };
  using Entries = std::vector<Entry>;

  [[nodiscard]] const Entries& live() const { return live_; }

  [[nodiscard]] Inode* find(std::string_view name) const {
    const auto place = lower_bound(live_, name);
    return place != live_.end() && place->name == name ? place->inode : nullptr;
  }

  void add(std::string_view name, Inode* inode) { change({{}, std::string{name}, inode}); }
  void remove(std::string_view name) { change({std::string{name}, {}, nullptr}); }
  /// Replaces one name by another in one change.
  void rename(std::string_view from, std::string_view to, Inode* inode) {
    change({std::string{from}, std::string{to}, inode});
  }

  void sync() {
    for (const auto& one : pending_) apply(synced_, one);
    pending_.clear();
  }

  /// Keeps the first few changes that were not synced, or a random choice of them.
  void power_loss(Random& random) {
    const bool in_order = random.chance(0.5);
    const std::size_t first = in_order ? random.below(pending_.size() + 1) : 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (in_order ? i < first : random.chance(0.5)) apply(synced_, pending_[i]);
    }
    pending_.clear();
    live_ = synced_;
  }

 private:
  struct Change {
    std::string gone;
    std::string name;
    Inode* inode;
  };

  template <class Some>
  static auto lower_bound(Some& entries, std::string_view name) -> decltype(entries.begin()) {
    return std::lower_bound(
        entries.begin(), entries.end(), name,
        [](const Entry& entry, std::string_view n) { return entry.name.compare(n) < 0; });
  }

  void change(Change change) {
    apply(live_, change);
    pending_.push_back(std::move(change));
  }

  static void apply(Entries& entries, const Change& change) {
    if (!change.gone.empty()) {
      const auto gone = lower_bound(entries, change.gone);
      if (gone != entries.end() && gone->name == change.gone) entries.erase(gone);
    }
    if (change.inode == nullptr) return;
    const auto place = lower_bound(entries, change.name);
    if (place != entries.end() && place->name == change.name) {
      place->inode = change.inode;
    } else {
      entries.insert(place, {change.name, change.inode});
    }
  }

  Entries live_;
  Entries synced_;
  std::vector<Change> pending_;
};

/// A file or a directory.
struct Inode {
  bool is_directory = false;
  bool locked = false;
  std::uint64_t stamp = 0;  ///< a new number for every inode and each time it is emptied
  FileContent content = {};
  DirectoryNames names = {};
};

}  // namespace seqtrain::tests::sim
