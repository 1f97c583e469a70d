#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/sink/local.hpp>

#include "support/sink_conformance.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

namespace fs = std::filesystem;

struct LocalSubject {
  std::optional<std::string> read(std::string_view key) const {
    const auto path = directory / key;
    if (!fs::is_regular_file(path)) return std::nullopt;
    return read_file(path);
  }

  TemporaryDirectory directory;
  sink::Local sink{directory.path()};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Local, SinkConformance, LocalSubject);

TEST(Local, CreatesNothingBeforeTheFirstPut) {
  const TemporaryDirectory directory;
  sink::Local sink{directory / "jobs/one"};
  EXPECT_TRUE(fs::is_empty(directory.path()));
  sink.put("model_1/model.pth", bytes_of("weights"));
  EXPECT_EQ(read_file(directory / "jobs/one/model_1/model.pth"), "weights");
}

TEST(Local, LeavesOnlyObjectsBehind) {
  const TemporaryDirectory directory;
  sink::Local sink{directory.path()};
  sink.put("one", bytes_of("1"));
  EXPECT_THROW(sink.put_file("two", directory / "absent"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator{directory.path()}, {}), 1);
}

TEST(Local, AnObjectInPlaceOfADirectoryIsAnError) {
  const TemporaryDirectory directory;
  sink::Local sink{directory.path()};
  sink.put("a", bytes_of("1"));
  EXPECT_THROW(sink.put("a/b", bytes_of("2")), Error);
  sink.put("dir/b", bytes_of("3"));
  EXPECT_THROW(sink.put("dir", bytes_of("4")), Error);
  EXPECT_EQ(read_file(directory / "a"), "1");
  EXPECT_EQ(read_file(directory / "dir/b"), "3");
}

TEST(Local, ARootThatCannotBeWrittenIsWrongInput) {
  const TemporaryDirectory directory;
  const auto file = write_file(directory / "file", "");
  EXPECT_THROW(sink::Local{file}, InputError);
  EXPECT_THROW(sink::Local{file / "below"}, InputError);
}

}  // namespace
}  // namespace seqtrain::tests
