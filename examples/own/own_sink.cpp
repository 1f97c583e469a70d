// A sink of your own: it prints the name and the size of each result.
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <span>
#include <string_view>

#include <seqtrain/concepts.hpp>
#include <seqtrain/sink.hpp>

using namespace seqtrain;

class Sizes {
 public:
  void put(std::string_view key, std::span<const std::byte> bytes) {
    sink::check_key(key);
    std::cout << key << ": " << bytes.size() << " bytes\n";
  }
  void put_file(std::string_view key, const std::filesystem::path& file) {
    sink::check_key(key);
    std::cout << key << ": " << std::filesystem::file_size(file) << " bytes\n";
  }
  void flush() {}
};

static_assert(Sink<Sizes>);

int main() {
  Sizes sizes;
  sizes.put("model_1/metrics.json", std::as_bytes(std::span{"{}", 2}));
  try {
    sizes.put("../metrics.json", {});
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
