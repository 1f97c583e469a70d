#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

/// The conformance suite for sinks. `Subject` is default-constructible and has the sink as `sink`
/// and `std::optional<std::string> read(key)`, which returns the object that others see after a
/// flush. Instantiate with INSTANTIATE_TYPED_TEST_SUITE_P(Name, SinkConformance, Subject).
template <class Subject>
class SinkConformance : public testing::Test {
 protected:
  void put(std::string_view key, std::string_view text) {
    subject_.sink.put(key, bytes_of(text));
    subject_.sink.flush();
  }

  Subject subject_;
  TemporaryDirectory files_;
};

TYPED_TEST_SUITE_P(SinkConformance);

TYPED_TEST_P(SinkConformance, SatisfiesTheConcept) {
  static_assert(Sink<decltype(this->subject_.sink)>);
}

TYPED_TEST_P(SinkConformance, KeepsBytes) {
  this->put("name", std::string_view{"a\0b\xff\n", 5});
  EXPECT_EQ(this->subject_.read("name"), (std::string{"a\0b\xff\n", 5}));
  EXPECT_EQ(this->subject_.read("other"), std::nullopt);
}

TYPED_TEST_P(SinkConformance, KeepsWhatIsEmpty) {
  this->put("empty", "");
  EXPECT_EQ(this->subject_.read("empty"), "");
}

TYPED_TEST_P(SinkConformance, KeepsKeysApart) {
  this->put("a", "1");
  this->put("dir/deeper/a", "2");
  this->put("dir/with space, #1?", "3");
  EXPECT_EQ(this->subject_.read("a"), "1");
  EXPECT_EQ(this->subject_.read("dir/deeper/a"), "2");
  EXPECT_EQ(this->subject_.read("dir/with space, #1?"), "3");
}

TYPED_TEST_P(SinkConformance, TheLastPutWins) {
  this->put("name", "a long first text");
  this->put("name", "short");
  EXPECT_EQ(this->subject_.read("name"), "short");
}

TYPED_TEST_P(SinkConformance, KeepsFiles) {
  std::string text(3'000'000, 'x');
  text[1'234'567] = 'y';
  this->subject_.sink.put_file("dir/large", write_file(this->files_ / "large", text));
  this->subject_.sink.put_file("none", write_file(this->files_ / "none", ""));
  this->subject_.sink.flush();
  EXPECT_TRUE(this->subject_.read("dir/large") == text);
  EXPECT_EQ(this->subject_.read("none"), "");
}

TYPED_TEST_P(SinkConformance, AFileThatCannotBeReadIsAnErrorAndChangesNothing) {
  auto put_file = [this](const std::filesystem::path& file) {
    this->subject_.sink.put_file("name", file);
    this->subject_.sink.flush();
  };
  this->put("name", "kept");
  EXPECT_THROW(put_file(this->files_ / "absent"), Error);
  EXPECT_THROW(put_file(this->files_.path()), Error);
  EXPECT_EQ(this->subject_.read("name"), "kept");
}

TYPED_TEST_P(SinkConformance, RefusesKeysThatAreNoRelativePath) {
  const auto file = write_file(this->files_ / "file", "text");
  for (const std::string_view key :
       {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "a\nb"}) {
    EXPECT_THROW(this->subject_.sink.put(key, bytes_of("text")), Error) << key;
    EXPECT_THROW(this->subject_.sink.put_file(key, file), Error) << key;
  }
}

TYPED_TEST_P(SinkConformance, WorksAfterItWasMoved) {
  auto moved = std::move(this->subject_.sink);
  moved.put("name", bytes_of("text"));
  moved.flush();
  this->subject_.sink = std::move(moved);
  EXPECT_EQ(this->subject_.read("name"), "text");
}

REGISTER_TYPED_TEST_SUITE_P(SinkConformance, SatisfiesTheConcept, KeepsBytes, KeepsWhatIsEmpty,
                            KeepsKeysApart, TheLastPutWins, KeepsFiles,
                            AFileThatCannotBeReadIsAnErrorAndChangesNothing,
                            RefusesKeysThatAreNoRelativePath, WorksAfterItWasMoved);

}  // namespace seqtrain::tests
