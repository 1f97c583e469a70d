#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// Keeps everything in memory: for tests, and for programs that take a run's results themselves.
class Memory {
 public:
  using Objects = std::map<std::string, std::vector<std::byte>, std::less<>>;

  void put(std::string_view key, std::span<const std::byte> bytes) {
    check_key(key);
    objects_.insert_or_assign(std::string{key}, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }

  void put_file(std::string_view key, const std::filesystem::path& file) {
    check_key(key);
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    std::vector<std::byte> bytes(error ? 0 : size);
    std::ifstream in{file, std::ios::binary};
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (error || !in) throw Error{"cannot be read", {.object = file.string()}};
    objects_.insert_or_assign(std::string{key}, std::move(bytes));
  }

  void flush() {}

  [[nodiscard]] const Objects& objects() const noexcept { return objects_; }

 private:
  Objects objects_;
};

}  // namespace seqtrain::sink
