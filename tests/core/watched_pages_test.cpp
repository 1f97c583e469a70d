#include <atomic>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seqtrain/core/watched_pages.hpp>

#include "support/temporary_file.hpp"

namespace seqtrain {
namespace {

constexpr std::size_t size = std::size_t{1} << 20;

/// A mapped file that the constructor shortens to nothing if it is told so.
class Mapped {
 public:
  explicit Mapped(bool shortened = true) {
    const int file = ::open(file_.path().c_str(), O_RDONLY);
    bytes_ = static_cast<const char*>(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0));
    ::close(file);
    if (shortened) std::filesystem::resize_file(file_.path(), 0);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { ::munmap(const_cast<char*>(bytes_), size); }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span{bytes_, size});
  }
  [[nodiscard]] char operator[](std::size_t i) const {
    return static_cast<const volatile char*>(bytes_)[i];
  }

 private:
  const tests::TemporaryFile file_{std::string(size, 'x')};
  const char* bytes_;
};

TEST(WatchedPages, AreAsTheyAreWhereNothingIsLost) {
  const Mapped mapped{false};
  const WatchedPages pages{mapped.bytes()};
  EXPECT_EQ(mapped[size - 1], 'x');
  EXPECT_FALSE(pages.lost());
}

TEST(WatchedPages, GiveZerosFromALostPageOn) {
  const Mapped mapped;
  const Mapped other{false};
  const WatchedPages pages{mapped.bytes()};
  const WatchedPages others{other.bytes()};
  EXPECT_FALSE(pages.lost());
  EXPECT_EQ(mapped[size / 2], '\0');
  EXPECT_TRUE(pages.lost());
  EXPECT_EQ(mapped[size - 1], '\0');
  EXPECT_EQ(mapped[0], '\0');
  EXPECT_FALSE(others.lost());
  EXPECT_EQ(other[size / 2], 'x');
}

TEST(WatchedPages, BeginAnewInAPlaceThatIsUsedAgain) {
  for (int i = 0; i < 3; ++i) {
    const Mapped mapped;
    const WatchedPages pages{mapped.bytes()};
    EXPECT_FALSE(pages.lost());
    EXPECT_EQ(mapped[7], '\0');
    EXPECT_TRUE(pages.lost());
  }
}

TEST(WatchedPages, AreWatchedOnAllThreads) {
  const Mapped mapped;
  const WatchedPages pages{mapped.bytes()};
  std::atomic<int> sum = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = size; i > thread * 4096; i -= 4096) sum += mapped[i - 1];
        for (int i = 0; i < 100; ++i) {
          const Mapped own;
          const WatchedPages of_own{own.bytes()};
          if (own[size - 1] != '\0' || !of_own.lost()) ++sum;
        }
      });
    }
  }
  EXPECT_EQ(sum, 0);
  EXPECT_TRUE(pages.lost());
}

TEST(WatchedPagesDeathTest, PassOnOtherFaults) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Mapped mapped;
  EXPECT_DEATH(
      {
        { const WatchedPages pages{mapped.bytes()}; }
        static_cast<void>(mapped[0]);
      },
      "");
  EXPECT_DEATH(
      {
        const WatchedPages pages{mapped.bytes()};
        std::raise(SIGBUS);
      },
      "");
}

}  // namespace
}  // namespace seqtrain
