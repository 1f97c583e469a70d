#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>

#include "support/simulation/inode.hpp"
#include "support/simulation/random.hpp"

namespace seqtrain::tests::sim {

[[noreturn]] inline void fail(const char* problem, int reason, std::string_view path) {
  throw Error{std::string{problem} + ": " + std::generic_category().message(reason),
              {.object = std::string{path}}};
}

/// The file system of one machine. A write is visible at once, but it certainly survives a loss of
/// power only after the file and the directory have been synced. No call fails at random.
class Disk {
 public:
  /// A process, which dies when the machine loses its power.
  class Tenant {
   public:
    virtual void die() = 0;

   protected:
    ~Tenant() = default;
  };

  /// An open and locked file of one process. Its destructor frees the lock.
  class Open {
   public:
    Open(Disk& disk, Inode& inode, const Tenant* process, std::string_view path)
        : disk_{disk}, inode_{&inode}, process_{process}, path_{path} {
      inode.locked = true;
      disk_.opens_.push_back(this);
    }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() { release(); }

    void release() {
      if (inode_ == nullptr) return;
      std::exchange(inode_, nullptr)->locked = false;
      std::erase(disk_.opens_, this);
    }

    /// Returns the file. Throws `Error` if it is closed.
    [[nodiscard]] Inode& inode() const {
      if (inode_ == nullptr) fail("cannot be written", EBADF, path_);
      return *inode_;
    }
    [[nodiscard]] const std::string& path() const { return path_; }

    std::size_t position = 0;  ///< position of the next write

   private:
    friend class Disk;
    Disk& disk_;
    Inode* inode_;
    const Tenant* process_;
    std::string path_;
  };

  Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  /// Creates the file if it is missing and locks it. Returns null if it is locked already.
  std::unique_ptr<Open> lock(std::string_view path, const Tenant* process) {
    Inode& inode = find_or_create(path);
    if (inode.locked) return nullptr;
    return std::make_unique<Open>(*this, inode, process, path);
  }

  /// Locks a file like `lock`, and empties it.
  std::unique_ptr<Open> create(std::string_view path, const Tenant* process) {
    auto open = lock(path, process);
    if (open == nullptr) return open;
    open->inode().content.truncate();
    open->inode().stamp = ++stamps_;
    return open;
  }

  /// If the disk has too little room, writes only a part and then fails.
  void write(const Open& file, std::size_t offset, std::string_view bytes, Random& random) {
    FileContent& content = file.inode().content;
    const std::size_t end = offset + bytes.size();
    const std::size_t growth = end > content.size() ? end - content.size() : 0;
    if (capacity_ == unlimited || growth <= room()) return content.write(offset, bytes);
    content.write(offset, bytes.substr(0, random.below(std::min(bytes.size(), room()) + 1)));
    fail("cannot be written", ENOSPC, file.path());
  }

  void rename(std::string_view from, std::string_view to) {
    const Place old_place = place_of(from, "cannot be written");
    const Place new_place = place_of(to, "cannot be written");
    Inode* const moved = old_place.directory->names.find(old_place.name);
    if (moved == nullptr) fail("cannot be written", ENOENT, to);
    Inode* const replaced = new_place.directory->names.find(new_place.name);
    if (moved == replaced) return;
    if (replaced != nullptr) check_replaceable(*moved, *replaced, to);
    if (old_place.directory == new_place.directory) {
      return new_place.directory->names.rename(old_place.name, new_place.name, moved);
    }
    new_place.directory->names.add(new_place.name, moved);
    old_place.directory->names.remove(old_place.name);
  }

  /// Removes a file or an empty directory. Returns false if there is none.
  bool remove(std::string_view path) {
    const Inode* const inode = find(path);
    if (inode == nullptr) return false;
    if (!inode->names.live().empty()) fail("cannot be removed", ENOTEMPTY, path);
    const Place place = place_of(path, "cannot be removed");
    place.directory->names.remove(place.name);
    return true;
  }

  /// Returns false if it is there already.
  bool make_directory(std::string_view path) {
    if (find(path) != nullptr) return false;
    const Place place = place_of(path, "cannot be created");
    place.directory->names.add(place.name, &make_inode(true));
    return true;
  }

  void sync_directory(std::string_view path) {
    Inode* const inode = find(path);
    if (inode == nullptr) fail("cannot be written", ENOENT, path);
    if (!inode->is_directory) fail("cannot be written", ENOTDIR, path);
    inode->names.sync();
  }

  /// Returns the entries sorted by name, none if there is no such directory.
  [[nodiscard]] const DirectoryNames::Entries& list(std::string_view path) const {
    static const DirectoryNames::Entries none;
    const Inode* const inode = find(path);
    return inode == nullptr ? none : inode->names.live();
  }

  /// Returns nothing if there is no such file.
  [[nodiscard]] std::optional<Content> read(std::string_view path) const {
    const Inode* const inode = find(path);
    if (inode == nullptr || inode->is_directory) return {};
    return inode->content.live();
  }

  /// Returns a number that changes when the file is replaced or emptied, 0 if there is none.
  [[nodiscard]] std::uint64_t stamp(std::string_view path) const {
    const Inode* const inode = find(path);
    return inode == nullptr ? 0 : inode->stamp;
  }

  /// Flips a bit of a file or cuts off its end. Returns false if there is no such file.
  bool corrupt(std::string_view path, Random& random) {
    Inode* const inode = find(path);
    if (inode == nullptr || inode->is_directory) return false;
    inode->content.corrupt(random);
    return true;
  }

  void set_capacity(std::size_t bytes) { capacity_ = bytes; }
  [[nodiscard]] std::size_t used() const { return used(root_); }
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// Kills the processes of this machine, then loses a random part of what was not synced.
  void power_loss(Random& random) {
    while (!tenants_.empty()) tenants_.back()->die();
    release(nullptr);
    settle(root_, random);
  }

  void attach(Tenant& process) { tenants_.push_back(&process); }
  /// Frees the locks of a process that has ended.
  void detach(Tenant& process) {
    std::erase(tenants_, &process);
    release(&process);
  }

 private:
  /// A name in a directory, which may not exist.
  struct Place {
    Inode* directory;
    std::string_view name;
  };

  /// Takes the first component off a path; "" at its end.
  static std::string_view next_component(std::string_view& path) {
    while (path.starts_with('/')) path.remove_prefix(1);
    const auto name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    return name == "." ? next_component(path) : name;
  }

  [[nodiscard]] const Inode* find(std::string_view path) const {
    const Inode* inode = &root_;
    for (auto name = next_component(path); !name.empty() && inode != nullptr;
         name = next_component(path)) {
      inode = inode->names.find(name);
    }
    return inode;
  }
  [[nodiscard]] Inode* find(std::string_view path) {
    return const_cast<Inode*>(std::as_const(*this).find(path));
  }

  Place place_of(std::string_view path, const char* problem) {
    std::string_view trimmed = path;
    while (trimmed.ends_with('/')) trimmed.remove_suffix(1);
    const auto slash = trimmed.rfind('/');
    const bool nested = slash != std::string_view::npos;
    Inode* const directory = nested ? find(trimmed.substr(0, slash)) : &root_;
    if (directory == nullptr) fail(problem, ENOENT, path);
    if (!directory->is_directory) fail(problem, ENOTDIR, path);
    return {directory, nested ? trimmed.substr(slash + 1) : trimmed};
  }

  Inode& make_inode(bool is_directory) {
    return inodes_.emplace_back(Inode{.is_directory = is_directory, .stamp = ++stamps_});
  }

  Inode& find_or_create(std::string_view path) {
    const Place place = place_of(path, "cannot be written");
    Inode* inode = place.directory->names.find(place.name);
    if (inode == nullptr) {
      inode = &make_inode(false);
      place.directory->names.add(place.name, inode);
    }
    if (inode->is_directory) fail("cannot be written", EISDIR, path);
    return *inode;
  }

  static void check_replaceable(const Inode& moved, const Inode& replaced, std::string_view path) {
    if (moved.is_directory && !replaced.is_directory) fail("cannot be written", ENOTDIR, path);
    if (!moved.is_directory && replaced.is_directory) fail("cannot be written", EISDIR, path);
    if (!replaced.names.live().empty()) fail("cannot be written", ENOTEMPTY, path);
  }

  [[nodiscard]] static std::size_t used(const Inode& inode) {
    std::size_t bytes = inode.content.size();
    for (const auto& entry : inode.names.live()) bytes += used(*entry.inode);
    return bytes;
  }
  [[nodiscard]] std::size_t room() const { return capacity_ - std::min(used(), capacity_); }

  static void settle(Inode& inode, Random& random) {
    inode.content.power_loss(random);
    inode.names.power_loss(random);
    for (const auto& entry : inode.names.live()) settle(*entry.inode, random);
  }

  /// Frees the locks of one process, or of all.
  void release(const Tenant* process) {
    const auto opens = opens_;
    for (Open* open : opens) {
      if (process == nullptr || open->process_ == process) open->release();
    }
  }

  Inode root_{.is_directory = true};
  std::deque<Inode> inodes_;
  std::vector<Open*> opens_;
  std::vector<Tenant*> tenants_;
  std::size_t capacity_ = unlimited;
  std::uint64_t stamps_ = 0;
};

}  // namespace seqtrain::tests::sim
