#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/sink/memory.hpp>

#include "support/sink_conformance.hpp"
#include "support/store_conformance.hpp"

namespace seqtrain::tests {
namespace {

struct MemorySubject {
  std::optional<std::string> read(std::string_view key) const {
    const auto found = sink.objects().find(key);
    if (found == sink.objects().end()) return std::nullopt;
    return std::string{reinterpret_cast<const char*>(found->second.data()), found->second.size()};
  }

  sink::Memory sink;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, SinkConformance, MemorySubject);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, StoreConformance, MemorySubject);

}  // namespace
}  // namespace seqtrain::tests
