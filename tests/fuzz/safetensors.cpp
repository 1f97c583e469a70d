#include <seqtrain/weights/safetensors.hpp>

#include "fuzz.hpp"

/// A file that is accepted must be readable to its last byte.
void seqtrain::fuzz::run(Input input) {
  accepts([&] {
    std::size_t total = 0;
    for (const auto& tensor : weights::parse_safetensors(input.bytes(), "fuzz")) {
      total += tensor.bytes.size();
      if (is_floating(tensor.dtype)) to_floats(tensor);
    }
    require(total <= input.bytes().size());
  });
}
