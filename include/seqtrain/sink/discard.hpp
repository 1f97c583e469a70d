#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// Keeps nothing: for a run whose results stay in its own directory.
class Discard {
 public:
  void put(std::string_view key, std::span<const std::byte>) { check_key(key); }
  void put_file(std::string_view key, const std::filesystem::path&) { check_key(key); }
  void flush() {}
};

}  // namespace seqtrain::sink
