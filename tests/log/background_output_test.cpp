#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <seqtrain/log/background_output.hpp>

namespace seqtrain::log {
namespace {

/// A pipe with a reader.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_reader();
    close_writer();
  }

  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() { close(ends_[0]); }
  void close_writer() { close(ends_[1]); }

  /// Reads at most `most` bytes at a time until `end` is the last line, or the writer is closed.
  [[nodiscard]] std::string read_to(const std::string& end, std::size_t most = 1 << 16) const {
    std::string text, part(most, '\0');
    while (!text.ends_with(end + "\n")) {
      const auto count = ::read(ends_[0], part.data(), part.size());
      if (count <= 0) break;
      text.append(part, 0, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }

  int ends_[2] = {-1, -1};
};

BackgroundOutputOptions to(const Pipe& pipe, std::size_t most_bytes = 1 << 20) {
  return {.out = pipe.writer(), .errors = pipe.writer(), .most_bytes = most_bytes};
}

/// Writes numbered lines, and returns their text.
std::string write_lines(BackgroundOutput& output, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    output.out() << line << std::flush;
    all += line;
  }
  return all;
}

TEST(BackgroundOutput, WritesLinesAndErrorsInOrder) {
  Pipe pipe;
  BackgroundOutput output{to(pipe)};
  output.out() << "one\n" << std::flush;
  output.errors() << "two" << '\n' << std::flush;
  output.out() << "three\n" << std::flush;
  EXPECT_TRUE(output.finish());
  EXPECT_EQ(pipe.read_to("three"), "one\ntwo\nthree\n");
}

TEST(BackgroundOutput, WritesAllForASlowReader) {
  Pipe pipe;
  BackgroundOutput output{to(pipe)};
  const std::string all = write_lines(output, 20'000);
  ASSERT_GT(all.size(), std::size_t{1} << 17);  // more than the pipe holds
  output.out() << "end\n";
  std::string text;
  std::jthread reader{[&] { text = pipe.read_to("end", 1000); }};
  EXPECT_TRUE(output.finish());
  reader.join();
  EXPECT_EQ(text, all + "end\n");
}

TEST(BackgroundOutput, DropsLinesWhileItsReaderIsStuck) {
  Pipe pipe;
  BackgroundOutput output{to(pipe, 1 << 17)};
  output.set_notice([](std::size_t lines) { return "dropped " + std::to_string(lines) + "\n"; });
  constexpr int count = 100'000;
  const std::string all = write_lines(output, count);
  std::string text;
  std::jthread reader{[&] { text = pipe.read_to("end"); }};
  EXPECT_TRUE(output.finish());
  output.out() << "end\n";
  EXPECT_TRUE(output.finish());
  reader.join();
  const auto notice = text.find("dropped ");
  ASSERT_NE(notice, text.npos);
  EXPECT_TRUE(all.starts_with(text.substr(0, notice)));
  const auto kept = std::count(text.begin(), text.begin() + static_cast<long>(notice), '\n');
  EXPECT_EQ(text.substr(notice), "dropped " + std::to_string(count - kept) + "\nend\n");
}

TEST(BackgroundOutput, GoesOnWhenItsReaderCloses) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  BackgroundOutput output{to(pipe)};
  write_lines(output, 20'000);
  EXPECT_FALSE(output.finish(std::chrono::milliseconds{1}));
  pipe.close_reader();
  EXPECT_TRUE(output.finish());
  write_lines(output, 10);
  EXPECT_TRUE(output.finish());
  std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace seqtrain::log
