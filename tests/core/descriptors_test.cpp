#include <array>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

/// The two ends of a pipe.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(0);
    close(1);
  }

  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }

  std::array<int, 2> ends{-1, -1};
};

TEST(OwnedDescriptor, IsClosedWithItsOwner) {
  int number = -1;
  {
    const OwnedDescriptor owned{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    number = owned.number;
    EXPECT_GE(::fcntl(number, F_GETFD), 0);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  const OwnedDescriptor nothing{-1};
}

TEST(Descriptors, PassBytesThroughAPipe) {
  Pipe pipe;
  const InputDescriptor input{pipe.ends[0], "in"};
  EXPECT_FALSE(input.ready());
  EXPECT_TRUE((OutputDescriptor{pipe.ends[1], "out"}.write("abc")));
  EXPECT_TRUE(input.ready());
  EXPECT_EQ(input.size(), std::nullopt);
  std::array<char, 10> bytes{};
  EXPECT_EQ(input.read(bytes), 3U);
  EXPECT_EQ((std::string_view{bytes.data(), 3}), "abc");
  EXPECT_FALSE(input.ready());
  pipe.close(1);
  EXPECT_TRUE(input.ready());
  EXPECT_EQ(input.read(bytes), 0U);
}

TEST(Descriptors, WriteAllToAPipeThatIsFull) {
  Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK), 0);
  const std::string text(1'000'000, 'x');
  std::size_t count = 0;
  std::jthread reader{[&] {
    std::array<char, 5000> bytes{};
    const InputDescriptor input{pipe.ends[0], "in"};
    while (count < text.size()) count += input.read(bytes);
  }};
  EXPECT_TRUE((OutputDescriptor{pipe.ends[1], "out"}.write(text)));
  reader.join();
  EXPECT_EQ(count, text.size());
}

TEST(Descriptors, SayWhenNobodyReads) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close(0);
  EXPECT_FALSE((OutputDescriptor{pipe.ends[1], "out"}.write("abc")));
  std::signal(SIGPIPE, before);
}

TEST(Descriptors, TellTheSizeOfAFileAndWhatCannotBeDone) {
  const tests::TemporaryDirectory directory;
  const auto path = tests::write_file(directory / "five", "12345");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ((InputDescriptor{file, "in"}.size()), 5);
  EXPECT_THROW(static_cast<void>(OutputDescriptor{file, "out"}.write("a")), Error);
  ::close(file);
  std::array<char, 1> byte{};
  EXPECT_THROW(static_cast<void>(InputDescriptor{-1, "in"}.read(byte)), Error);
}

}  // namespace
}  // namespace seqtrain
