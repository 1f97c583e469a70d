#pragma once

#include <cstdint>
#include <string>

namespace seqtrain::sink {

/// An object of a store. The generation identifies one version of its content and is never 0.
struct Stored {
  std::string bytes;
  std::int64_t generation = 0;
};

}  // namespace seqtrain::sink
