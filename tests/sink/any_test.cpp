#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/memory.hpp>

#include "support/sink_conformance.hpp"
#include "support/store_conformance.hpp"
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
  sink::Any sink{sink::Directory{directory.path()}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Any, SinkConformance, AnySubject);

struct AnyStoreSubject {
  sink::Any sink{sink::Memory{}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Any, StoreConformance, AnyStoreSubject);

TEST(Any, HoldsAnotherSinkAfterAssignment) {
  const TemporaryDirectory directory;
  sink::Any sink{sink::Discard{}};
  sink.put("name", bytes_of("lost"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  sink = sink::Any{sink::Directory{directory.path()}};
  sink.put("name", bytes_of("kept"));
  EXPECT_EQ(read_file(directory / "name"), "kept");
}

TEST(Any, TellsWhetherItHoldsADirectory) {
  const TemporaryDirectory directory;
  const sink::Any any{sink::Directory{directory.path()}};
  ASSERT_NE(any.directory(), nullptr);
  EXPECT_EQ(any.directory()->root(), directory.path());
  EXPECT_EQ(sink::Any{sink::Discard{}}.directory(), nullptr);
}

struct Cancellable : sink::Discard {
  void cancel() { ++*count; }
  int* count;
};

TEST(Any, CancelsWhatCanBeCancelled) {
  int count = 0;
  sink::Any{Cancellable{{}, &count}}.cancel();
  sink::Any{sink::Discard{}}.cancel();
  EXPECT_EQ(count, 1);
}

struct Unwritable : sink::Discard {
  static void check_writable() { throw InputError{"cannot be written"}; }
};

TEST(Any, AsksTheStoreWhetherItCanBeWritten) {
  sink::Any{sink::Discard{}}.check_writable();
  sink::Any any{Unwritable{}};
  EXPECT_THROW(any.check_writable(), InputError);
}

}  // namespace
}  // namespace seqtrain::tests
