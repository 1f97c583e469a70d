#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/local.hpp>

#include "support/sink_conformance.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

struct AnySubject {
  std::optional<std::string> read(std::string_view key) const {
    const auto path = directory / key;
    if (!std::filesystem::is_regular_file(path)) return std::nullopt;
    return read_file(path);
  }

  TemporaryDirectory directory;
  sink::Any sink{sink::Local{directory.path()}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Any, SinkConformance, AnySubject);

TEST(Any, HoldsAnotherSinkAfterAssignment) {
  const TemporaryDirectory directory;
  sink::Any sink{sink::Discard{}};
  sink.put("name", bytes_of("lost"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  sink = sink::Any{sink::Local{directory.path()}};
  sink.put("name", bytes_of("kept"));
  EXPECT_EQ(read_file(directory / "name"), "kept");
}

}  // namespace
}  // namespace seqtrain::tests
