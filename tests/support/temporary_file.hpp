#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace seqtrain::tests {

/// A file with the given content, which the destructor removes.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, const std::string& suffix = "") {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("seqtrain_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + suffix);
    std::ofstream{path_, std::ios::binary} << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace seqtrain::tests
