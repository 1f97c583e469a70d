#pragma once

#include <filesystem>
#include <string_view>

#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

/// A directory with files that a test writes in place of those in /proc and /sys.
class FakeRoot {
 public:
  void write(std::string_view file, std::string_view text) {
    const auto path = directory_ / file;
    std::filesystem::create_directories(path.parent_path());
    write_file(path, text);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace seqtrain::tests
