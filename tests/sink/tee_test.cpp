#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/memory.hpp>
#include <seqtrain/sink/tee.hpp>

#include "support/sink_conformance.hpp"

namespace seqtrain::tests {
namespace {

std::optional<std::string> text_in(const sink::Memory& sink, std::string_view key) {
  const auto found = sink.objects().find(key);
  if (found == sink.objects().end()) return std::nullopt;
  return std::string{reinterpret_cast<const char*>(found->second.data()), found->second.size()};
}

struct TeeSubject {
  std::optional<std::string> read(std::string_view key) const {
    const auto first = text_in(std::get<0>(sink.sinks()), key);
    EXPECT_EQ(first, text_in(std::get<1>(sink.sinks()), key));
    return first;
  }

  sink::Tee<sink::Memory, sink::Memory> sink{sink::Memory{}, sink::Memory{}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Tee, SinkConformance, TeeSubject);

/// A sink that fails at each call, with its number in the message.
struct Broken {
  void put(std::string_view, std::span<const std::byte>) { throw Error{message}; }
  void put_file(std::string_view, const std::filesystem::path&) { throw Error{message}; }
  void flush() { throw Error{message}; }
  std::string message;
};

TEST(Tee, OneThatFailsDoesNotKeepItFromTheOthers) {
  sink::Tee tee{Broken{"first"}, sink::Memory{}, Broken{"second"}};
  const auto message_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return std::string{error.what()};
    }
    return std::string{"nothing thrown"};
  };
  EXPECT_EQ(message_of([&] { tee.put("name", bytes_of("text")); }), "first");
  EXPECT_EQ(message_of([&] { tee.flush(); }), "first");
  EXPECT_EQ(text_in(std::get<1>(tee.sinks()), "name"), "text");
}

}  // namespace
}  // namespace seqtrain::tests
