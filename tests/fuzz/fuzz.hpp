#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::fuzz {

/// The input of a target. libFuzzer's buffer has its exact size, so reading past its end is
/// noticed.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_{data}, size_{size} {}

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(data_), size_};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span{data_, size_});
  }

  /// Removes the first byte and returns it, or returns 0 if nothing is left.
  std::uint8_t take() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

/// Ends the program, which libFuzzer reports, unless `holds` is true.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Runs `read`, which may refuse its input only by an `InputError` with a message.
template <class Read>
bool accepts(Read&& read) {
  try {
    read();
    return true;
  } catch (const InputError& error) {
    require(*error.what() != '\0');
    return false;
  }
}

/// The function that each target defines.
void run(Input input);

}  // namespace seqtrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  seqtrain::fuzz::run({data, size});
  return 0;
}
