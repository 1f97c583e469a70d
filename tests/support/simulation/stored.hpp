#pragma once

#if __has_include(<seqtrain/sink/stored.hpp>)
#include <seqtrain/sink/stored.hpp>
#else
#include <cstdint>
#include <string>

namespace seqtrain::sink {

/// An object as a store gives it back. The generation is one version of its content, never 0.
struct Stored {
  std::string bytes;
  std::int64_t generation = 0;
};

}  // namespace seqtrain::sink
#endif
