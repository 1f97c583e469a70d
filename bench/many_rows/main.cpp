// Reads more rows than fit into memory, as a training run does: makes a file of JSON lines, encodes
// it into a file, reads one epoch of it, and prints the time and the memory of each phase. With
// --in-memory the encoded set is in memory.
//
// many_rows [--rows N] [--directory DIR] [--tokenizer DIR] [--workers N] [--in-memory yes]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/loader.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>

#include "support/arguments.hpp"

namespace {

using namespace seqtrain;

/// Returns the process's memory in MiB that is not backed by a file.
double anonymous_mib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "RssAnon:" && status >> kib) return kib / 1024;
  }
  return 0;
}

/// Measures the time of a phase, and every few milliseconds the memory.
class Phase {
 public:
  explicit Phase(const char* name) : name_{name} {}
  ~Phase() {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
    watch_.request_stop();
    watch_.join();
    std::printf("%-8s %8.1f s   peak of anonymous memory %7.1f MiB\n", name_, taken.count(), peak_);
    std::fflush(stdout);
  }

 private:
  const char* name_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double peak_ = 0;
  std::jthread watch_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak_ = std::max(peak_, anonymous_mib());
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
  }};
};

/// Writes rows of 12 to 44 frequent words, which have about 30 ids with the special tokens.
void make_rows(const std::filesystem::path& path, std::size_t rows) {
  constexpr const char* words[] = {"the", "of",    "and",  "to",    "in",    "time", "people",
                                   "way", "day",   "man",  "thing", "woman", "life", "child",
                                   "out", "world", "over", "still", "last",  "very"};
  std::ofstream file{path};
  random::Stream stream{1, random::Purpose::data};
  std::string line;
  for (std::size_t row = 0; row < rows; ++row) {
    line = R"({"label":")" + std::to_string(row % 3) + R"(","text":")";
    for (std::size_t count = 12 + stream.below(33); count > 0; --count) {
      (line += words[stream.below(std::size(words))]) += ' ';
    }
    file << (line += "\"}\n");
  }
  if (!file.flush()) throw Error{"cannot be written", {.object = path.string()}};
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run([&] {
    const auto take = [&](const char* name, const char* otherwise) {
      return bench::take_argument(argc, argv, name, otherwise);
    };
    const std::size_t rows = std::stoul(take("rows", "10000000"));
    const std::size_t workers = std::stoul(take("workers", "2"));
    const auto tokenizer = text::load_tokenizer(take("tokenizer", "checkpoints/all-MiniLM-L6-v2"));
    const std::filesystem::path directory = take("directory", "/tmp");
    const auto text = directory / ("many_rows_" + std::to_string(rows) + ".jsonl");
    const auto encoded_file = directory / "many_rows.encoded";
    const bool in_memory = take("in-memory", "no") == "yes";
    if (!exists(text)) {
      const Phase phase{"make"};
      make_rows(text, rows);
    }
    const data::Labels labels{{"0", "1", "2"}};
    auto encoded = [&] {
      const Phase phase{"encode"};
      return data::encode_file(text, tokenizer, labels,
                               {.encode = {.max_length = 128},
                                .workers = workers,
                                .file = in_memory ? "" : encoded_file});
    }();
    if (!in_memory) {
      const Phase phase{"open"};
      encoded = data::open_encoded_file(encoded_file, tokenizer, labels);
    }
    const std::size_t ids = encoded.set.tokens();
    std::printf("%zu rows, %.1f ids a row\n", encoded.set.size(),
                static_cast<double>(ids) / static_cast<double>(rows));
    std::size_t seen = 0;
    {
      const Phase phase{"epoch"};
      data::BucketLoader loader{std::move(encoded.set), {.workers = workers}};
      for (const data::Batch& batch : loader.epoch(1)) {
        seen += static_cast<std::size_t>(batch.tokens());
      }
    }
    std::filesystem::remove(encoded_file);
    if (seen != ids) throw Error{"an epoch does not have all ids"};
  });
}
