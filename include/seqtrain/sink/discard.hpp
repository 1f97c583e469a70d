#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// A store that keeps nothing, for a run whose results stay in its own directory. It is always
/// empty, and every write succeeds.
class Discard {
 public:
  [[nodiscard]] static std::string name() { return "nowhere"; }

  void put(std::string_view key, std::span<const std::byte>) { check_key(key); }
  void put_file(std::string_view key, const std::filesystem::path&) { check_key(key); }
  void flush() {}

  [[nodiscard]] static std::vector<std::string> list(std::string_view) { return {}; }
  [[nodiscard]] static std::optional<Stored> get(std::string_view key) {
    check_key(key);
    return {};
  }
  static bool get_file(std::string_view key, const std::filesystem::path&) {
    check_key(key);
    return false;
  }
  static std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte>,
                                            std::int64_t) {
    check_key(key);
    return 1;
  }
  static void remove(std::string_view key) { check_key(key); }
};

}  // namespace seqtrain::sink
