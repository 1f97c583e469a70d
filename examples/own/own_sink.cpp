// A sink of your own: it logs the name and the size of each result.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

class Sizes {
 public:
  explicit Sizes(const log::Log& log) : log_{&log} {}

  void put(std::string_view key, std::span<const std::byte> bytes) { tell(key, bytes.size()); }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    tell(key, std::filesystem::file_size(file));
  }
  void flush() {}

 private:
  void tell(std::string_view key, std::uintmax_t size) {
    sink::check_key(key);
    log_->info(std::string{key} + ": " + std::to_string(size) + " bytes");
  }

  const log::Log* log_;
};

int main(int argc, char** argv) {
  return experiment::run(argc, argv, {.name = "own_sink"}, [](experiment::Run& run) {
    auto model = run.model();
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), Sizes{run.log()}});
  });
}
