// Measures the download of a file from a storage service on this machine.
//
// download [--mebibytes N] [--rounds N] [--directory DIR] [--python PYTHON]
#include <filesystem>
#include <string>

#include <seqtrain/cli/run.hpp>

#include "peers.hpp"
#include "support/transfer.hpp"

int main(int argc, char** argv) {
  using namespace seqtrain;
  using Path = std::filesystem::path;
  return cli::run([&] {
    const bench::Transfer transfer{argc, argv, "download"};
    transfer.compete(
        {{"beast, nothing hashed", bench::download_with_beast},
         {"seqtrain", [](const std::string& port,
                         const Path& file) { bench::download_with_seqtrain(port, file, 1); }},
         {"seqtrain, parallel",
          [](const std::string& port, const Path& file) {
            bench::download_with_seqtrain(port, file, 4);
          }}},
        "download_to_filename");
  });
}
