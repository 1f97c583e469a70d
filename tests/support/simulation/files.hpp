#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>

#include "support/simulation/disk.hpp"
#include "support/simulation/process.hpp"

namespace seqtrain::tests::sim {

/// The simulated `seqtrain::Files`: the file calls of one process on the disk of its machine.
/// Copies refer to the same process.
class Files {
 public:
  using Path = std::filesystem::path;

  class Output {
   private:
    friend class Files;
    explicit Output(std::unique_ptr<Disk::Open> file) : file_{std::move(file)} {}
    std::unique_ptr<Disk::Open> file_;
  };

  class Lock {
   private:
    friend class Files;
    explicit Lock(std::unique_ptr<Disk::Open> file) : file_{std::move(file)} {}
    std::unique_ptr<Disk::Open> file_;
  };

  struct Entry {
    std::string name;
    bool is_directory = false;
  };

  explicit Files(Process& process) : process_{&process} {}

  [[nodiscard]] std::optional<Output> create(const Path& path) const {
    return perform(Operation::create, path, [&]() -> std::optional<Output> {
      auto file = disk().create(path.native(), process_);
      if (file == nullptr) return {};
      return Output{std::move(file)};
    });
  }

  void write(Output& file, std::span<const std::byte> bytes) const {
    Disk::Open& open = *file.file_;
    const auto send = [&](std::string_view some) {
      disk().write(open, open.position, some, process_->random());
      open.position += some.size();
    };
    process_->perform(
        Operation::write, open.path(), [&] { send(text_of(bytes)); },
        [&] { send(part_of(bytes)); });
  }

  void write_at(const Output& file, std::uint64_t offset, std::span<const std::byte> bytes) const {
    const Disk::Open& open = *file.file_;
    const auto send = [&](std::string_view some) {
      disk().write(open, static_cast<std::size_t>(offset), some, process_->random());
    };
    process_->perform(
        Operation::write_at, open.path(), [&] { send(text_of(bytes)); },
        [&] { send(part_of(bytes)); });
  }

  void sync(Output& file) const {
    try {
      process_->perform(Operation::sync, file.file_->path(),
                        [&] { file.file_->inode().content.sync(); });
    } catch (const Error&) {
      file.file_->inode().content.fail_to_sync();
      throw;
    }
  }

  void close(Output& file) const {
    const auto release = [&] { file.file_->release(); };
    process_->perform(Operation::close, file.file_->path(), release, release);
  }

  void rename(const Path& from, const Path& to) const {
    perform(Operation::rename, to, [&] { disk().rename(from.native(), to.native()); });
  }

  bool remove(const Path& path) const {
    return perform(Operation::remove, path, [&] { return disk().remove(path.native()); });
  }

  bool make_directory(const Path& path) const {
    return perform(Operation::make_directory, path,
                   [&] { return disk().make_directory(path.native()); });
  }

  void sync_directory(const Path& path) const {
    perform(Operation::sync_directory, path, [&] { disk().sync_directory(path.native()); });
  }

  [[nodiscard]] std::vector<Entry> list(const Path& path) const {
    return perform(Operation::list, path, [&] {
      std::vector<Entry> entries;
      for (const auto& [name, inode] : disk().list(path.native())) {
        entries.push_back({name, inode->is_directory});
      }
      return entries;
    });
  }

  [[nodiscard]] std::optional<SharedBytes> read(const Path& path) const {
    return perform(Operation::read, path, [&]() -> std::optional<SharedBytes> {
      const auto content = disk().read(path.native());
      if (!content) return {};
      if (*content == nullptr) return SharedBytes{};
      return SharedBytes{*content, std::as_bytes(std::span<const char>{**content})};
    });
  }

  [[nodiscard]] std::uint64_t stamp(const Path& path) const {
    try {
      return perform(Operation::stamp, path, [&] { return disk().stamp(path.native()); });
    } catch (const Error&) {
      return 0;
    }
  }

  [[nodiscard]] std::optional<Lock> try_lock(const Path& path) const {
    return perform(Operation::try_lock, path, [&]() -> std::optional<Lock> {
      auto file = disk().lock(path.native(), process_);
      if (file == nullptr) return {};
      return Lock{std::move(file)};
    });
  }

 private:
  [[nodiscard]] Disk& disk() const { return process_->disk(); }

  template <class Effect>
  std::invoke_result_t<Effect> perform(Operation operation, const Path& path,
                                       const Effect& effect) const {
    return process_->perform(operation, path.native(), effect);
  }

  static std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Returns the part of the bytes that a failing or dying write has written.
  [[nodiscard]] std::string_view part_of(std::span<const std::byte> bytes) const {
    return text_of(bytes.first(process_->random().below(bytes.size() + 1)));
  }

  Process* process_;
};

}  // namespace seqtrain::tests::sim
