#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// A store in memory, for tests and for programs that use a run's results themselves.
class Memory {
 public:
  using Objects = std::map<std::string, std::vector<std::byte>, std::less<>>;

  [[nodiscard]] static std::string name() { return "memory"; }

  void put(std::string_view key, std::span<const std::byte> bytes) {
    check_key(key);
    objects_.insert_or_assign(std::string{key}, std::vector<std::byte>(bytes.begin(), bytes.end()));
    generations_.insert_or_assign(std::string{key}, ++last_generation_);
  }

  void put_file(std::string_view key, const std::filesystem::path& file) {
    const auto content = Files{}.read(file);
    if (!content) throw Error{"cannot be read: no such file", {.object = file.string()}};
    put(key, content->bytes);
  }

  void flush() {}

  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    if (!key.empty()) check_key(key);
    const auto prefix = key.empty() ? "" : std::string{key} + "/";
    std::vector<std::string> keys;
    for (auto at = objects_.lower_bound(prefix); at != objects_.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      keys.push_back(at->first);
    }
    return keys;
  }

  [[nodiscard]] std::optional<Stored> get(std::string_view key) const {
    const auto found = find(key);
    if (found == objects_.end()) return {};
    return Stored{std::string{as_text(found->second)}, generation_of(key)};
  }

  bool get_file(std::string_view key, const std::filesystem::path& file) const {
    const auto found = find(key);
    if (found == objects_.end()) return false;
    write_file_atomically(file, as_text(found->second));
    return true;
  }

  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    check_key(key);
    if (generation_of(key) != generation) return {};
    put(key, bytes);
    return last_generation_;
  }

  void remove(std::string_view key) {
    const auto found = find(key);
    if (found == objects_.end()) return;
    generations_.erase(found->first);
    objects_.erase(found);
  }

  [[nodiscard]] const Objects& objects() const noexcept { return objects_; }

 private:
  [[nodiscard]] Objects::const_iterator find(std::string_view key) const {
    check_key(key);
    return objects_.find(key);
  }

  /// Returns the generation of an object; 0 if there is no such object.
  [[nodiscard]] std::int64_t generation_of(std::string_view key) const {
    const auto found = generations_.find(key);
    return found == generations_.end() ? 0 : found->second;
  }

  Objects objects_;
  std::map<std::string, std::int64_t, std::less<>> generations_;
  std::int64_t last_generation_ = 0;
};

}  // namespace seqtrain::sink
