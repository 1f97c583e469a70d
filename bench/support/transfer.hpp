#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <stdlib.h>
#include <unistd.h>

#include "support/arguments.hpp"
#include "support/contest.hpp"
#include "support/loopback_storage.hpp"

namespace seqtrain::bench {

/// A file that is moved to or from a storage service on this machine. The flags are
/// `--mebibytes N`, `--rounds N`, `--directory DIR` and `--python PYTHON`, a Python with
/// google-cloud-storage. If it is given, Google's own client competes too, and its time includes
/// the start of Python.
class Transfer {
 public:
  /// A competitor gets the service's port and the file.
  struct Competitor {
    std::string name;
    std::function<void(const std::string&, const std::filesystem::path&)> run;
  };

  Transfer(int& argc, char** argv, const std::string& name)
      : bytes_{std::stoull(take_argument(argc, argv, "mebibytes", "1024")) << 20},
        rounds_{std::stoi(take_argument(argc, argv, "rounds", "5"))},
        file_{take_argument(argc, argv, "directory",
                            std::filesystem::temp_directory_path().string())},
        python_{take_argument(argc, argv, "python", "")} {
    file_ /= "seqtrain-bench-" + name;
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const Content& content() const { return content_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  /// Measures the competitors and then Google's client, of which `method` is called. Removes the
  /// file.
  void compete(std::vector<Competitor> competitors, const std::string& method) const {
    if (!python_.empty()) {
      competitors.push_back(
          {"google-cloud-storage", [&](const std::string& port, const std::filesystem::path& file) {
             run_google(port, file, method);
           }});
    }
    const ServerProcess server{content_};
    const Contest contest{bytes_, rounds_, server};
    for (const Competitor& competitor : competitors) {
      contest.measure({competitor.name, [&] { competitor.run(server.port(), file_); }});
    }
    std::filesystem::remove(file_);
  }

 private:
  void run_google(const std::string& port, const std::filesystem::path& file,
                  const std::string& method) const {
    const std::string program = R"(
import sys
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
client = storage.Client(project="bench", credentials=AnonymousCredentials())
client.bucket("bucket").blob("name").)" +
                                method + "(sys.argv[1])\n";
    ::setenv("STORAGE_EMULATOR_HOST", ("http://127.0.0.1:" + port).c_str(), 1);
    ::execlp(python_.c_str(), python_.c_str(), "-c", program.c_str(), file.c_str(), nullptr);
    throw std::runtime_error{"cannot be run: " + python_};
  }

  std::uint64_t bytes_;
  int rounds_;
  std::filesystem::path file_;
  std::string python_;
  Content content_{bytes_};
};

}  // namespace seqtrain::bench
