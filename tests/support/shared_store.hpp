#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/memory.hpp>

namespace seqtrain::tests {

/// A store in memory whose copies share their objects, so that a test sees the puts of another
/// thread. `fail` makes puts fail; while `hold` is locked, they wait.
class SharedStore {
 public:
  void put(std::string_view key, std::span<const std::byte> bytes) {
    const std::scoped_lock lock{state_->hold, state_->mutex};
    if (state_->fails) throw Error{"is not reachable", {.object = "bucket"}};
    state_->memory.put(key, bytes);
  }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    state_->memory.put_file(key, file);
  }
  void flush() {}

  [[nodiscard]] static std::string name() { return "bucket"; }
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    const std::lock_guard lock{state_->mutex};
    return state_->memory.list(key);
  }
  [[nodiscard]] std::optional<sink::Stored> get(std::string_view key) const {
    const std::lock_guard lock{state_->mutex};
    return state_->memory.get(key);
  }
  bool get_file(std::string_view key, const std::filesystem::path& file) const {
    return state_->memory.get_file(key, file);
  }
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    return state_->memory.put_if(key, bytes, generation);
  }
  void remove(std::string_view key) { state_->memory.remove(key); }

  void fail(bool fails) {
    const std::lock_guard lock{state_->mutex};
    state_->fails = fails;
  }
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock{state_->hold}; }

 private:
  struct State {
    std::mutex hold;
    std::mutex mutex;
    sink::Memory memory;
    bool fails = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace seqtrain::tests
