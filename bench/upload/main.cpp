// Measures the upload of a file to a storage service on this machine.
//
// upload [--mebibytes N] [--rounds N] [--directory DIR] [--python PYTHON]
#include <filesystem>
#include <fstream>
#include <string>

#include <seqtrain/cli/run.hpp>

#include "peers.hpp"
#include "support/transfer.hpp"

int main(int argc, char** argv) {
  using namespace seqtrain;
  using Path = std::filesystem::path;
  return cli::run([&] {
    const bench::Transfer transfer{argc, argv, "upload"};
    {
      std::ofstream out{transfer.file(), std::ios::binary};
      for (std::uint64_t at = 0; at < transfer.bytes(); at += bench::Content::block_bytes)
        out << transfer.content().piece(at);
    }
    transfer.compete(
        {{"beast, nothing hashed", bench::upload_with_beast},
         {"seqtrain", [](const std::string& port,
                         const Path& file) { bench::upload_with_seqtrain(port, file, false); }},
         {"seqtrain, parallel",
          [](const std::string& port, const Path& file) {
            bench::upload_with_seqtrain(port, file, true);
          }}},
        "upload_from_filename");
  });
}
