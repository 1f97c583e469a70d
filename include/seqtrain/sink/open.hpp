#pragma once

#include <string>

#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/local.hpp>

namespace seqtrain::sink {

/// The sink that a flag names: a directory, or nothing where it is empty.
inline Any open(const std::string& place) {
  if (place.empty()) return Any{Discard{}};
  return Any{Local{place}};
}

}  // namespace seqtrain::sink
