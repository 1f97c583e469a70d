// Measures the upload of a file to a storage service on this machine.
//
// upload [--mebibytes N] [--rounds N] [--directory DIR] [--python PYTHON]
//
// If --python names a Python with google-cloud-storage, Google's own client competes too. Its time
// includes the start of Python.
#include <filesystem>
#include <fstream>

#include <seqtrain/cli/run.hpp>

#include "peers.hpp"
#include "support/arguments.hpp"
#include "support/contest.hpp"

int main(int argc, char** argv) {
  using namespace seqtrain;
  return cli::run([&] {
    const auto bytes = std::stoull(bench::take_argument(argc, argv, "mebibytes", "1024")) << 20;
    const auto rounds = std::stoi(bench::take_argument(argc, argv, "rounds", "5"));
    const std::filesystem::path directory = bench::take_argument(
        argc, argv, "directory", std::filesystem::temp_directory_path().string());
    const auto python = bench::take_argument(argc, argv, "python", "");
    const bench::Content content{bytes};
    const auto file = directory / "seqtrain-bench-upload";
    {
      std::ofstream out{file, std::ios::binary};
      for (std::uint64_t at = 0; at < bytes; at += bench::Content::block_bytes)
        out << content.piece(at);
    }
    const bench::ServerProcess server{content};
    const bench::Contest contest{bytes, rounds, server};
    contest.measure(
        {"beast, nothing hashed", [&] { bench::upload_with_beast(server.port(), file); }});
    contest.measure({"seqtrain", [&] { bench::upload_with_seqtrain(server.port(), file, false); }});
    contest.measure(
        {"seqtrain, parallel", [&] { bench::upload_with_seqtrain(server.port(), file, true); }});
    if (!python.empty()) {
      contest.measure({"google-cloud-storage",
                       [&] { bench::upload_with_python(python, server.port(), file); }});
    }
    std::filesystem::remove(file);
  });
}
