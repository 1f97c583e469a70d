#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::fuzz {

/// The input of a target. libFuzzer's buffer is exact, so a byte read past its end is found.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_{data}, size_{size} {}

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(data_), size_};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span{data_, size_});
  }

  /// Takes the first byte off; 0 where nothing is left.
  std::uint8_t take() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

/// A finding: what must hold does not.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Runs `read`, which may refuse its input by an `InputError` that says something, and no other
/// way.
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
