#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqtrain/core/read_text.hpp>
#include <seqtrain/cuda/cubin_cache.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::cuda {
namespace {

constexpr KernelSource kept_source{"double_it", "void double_it();"};

class CubinCacheTest : public testing::Test {
 protected:
  /// Returns the cubin by a new cache.
  std::string get(const KernelSource& kernel = kept_source, int architecture = 90) {
    const Nvrtc nvrtc{SEQTRAIN_FAKE_NVRTC};
    return cache().get(kernel, architecture, nvrtc);
  }

  CubinCache cache() {
    return CubinCache{folder_, [this](const std::string& text) { sentences_.push_back(text); }};
  }

  [[nodiscard]] std::size_t compilations() const {
    return std::filesystem::exists(count_) ? std::filesystem::file_size(count_) : 0;
  }

  std::filesystem::path file() {
    return cache().file_of(kept_source, 90, Nvrtc{SEQTRAIN_FAKE_NVRTC});
  }

  tests::TemporaryDirectory place_;
  std::filesystem::path folder_ = place_.path() / "seqtrain/kernels";
  std::filesystem::path count_ = place_.path() / "count";
  tests::Environment counted_{"FAKE_NVRTC_COUNT", count_.string()};
  std::vector<std::string> sentences_;
};

TEST_F(CubinCacheTest, CompilesOnce) {
  const std::string first = get();
  EXPECT_TRUE(first.starts_with("fake cubin")) << first;
  EXPECT_EQ(get(), first);
  EXPECT_EQ(compilations(), 1U);
  EXPECT_TRUE(sentences_.empty());
}

TEST_F(CubinCacheTest, CompilesForEachTextArchitectureAndVersion) {
  const std::string first = get();
  EXPECT_NE(get({"double_it", "void double_it(); // twice"}), first);
  EXPECT_NE(get(kept_source, 80), first);
  const tests::Environment newer{"FAKE_NVRTC_VERSION", "1305"};
  EXPECT_EQ(get(), first);
  EXPECT_EQ(compilations(), 4U);
}

TEST_F(CubinCacheTest, CompilesAgainWhatIsDamaged) {
  const std::string cubin = get(), whole = read_text(file());
  for (std::size_t i = 0; i < whole.size(); i += 7) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream{file(), std::ios::binary} << damaged;
    const std::size_t before = compilations();
    EXPECT_EQ(get(), cubin) << i;
    EXPECT_EQ(compilations(), before + 1) << i;
    EXPECT_EQ(read_text(file()), whole) << i;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, whole.size() - 1}) {
    std::ofstream{file(), std::ios::binary} << whole.substr(0, size);
    EXPECT_EQ(get(), cubin) << size;
    EXPECT_EQ(read_text(file()), whole) << size;
  }
  EXPECT_TRUE(sentences_.empty());
}

TEST_F(CubinCacheTest, CompilesIfTheFolderCannotBeWritten) {
  std::ofstream{place_.path() / "seqtrain"} << "a file";
  EXPECT_TRUE(get().starts_with("fake cubin"));
  EXPECT_TRUE(get().starts_with("fake cubin"));
  EXPECT_EQ(compilations(), 2U);
  ASSERT_EQ(sentences_.size(), 2U);
  EXPECT_TRUE(sentences_[0].starts_with("compiled kernels cannot be kept: ")) << sentences_[0];
  EXPECT_NE(sentences_[0].find(folder_.string()), std::string::npos) << sentences_[0];
}

TEST_F(CubinCacheTest, KeepsNothingOfATextThatDoesNotCompile) {
  const tests::Environment fails{"FAKE_NVRTC_FAILS", "nvrtcCompileProgram"};
  EXPECT_NE(tests::problem_of([&] { get(); }).find("cannot compile it"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(CubinCacheTest, ServesProcessesThatCompileAtOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool right = true;
      for (int architecture = 0; architecture < 20; ++architecture) {
        const std::string option = "sm_" + std::to_string(architecture) + " ";
        right = right && get(kept_source, architecture).find(option) != std::string::npos;
      }
      ::_exit(right && sentences_.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const std::size_t before = compilations();
  for (int architecture = 0; architecture < 20; ++architecture) get(kept_source, architecture);
  EXPECT_EQ(compilations(), before);
  for (const auto& entry : std::filesystem::directory_iterator{folder_}) {
    EXPECT_EQ(entry.path().extension(), ".cubin") << entry.path();
  }
}

}  // namespace
}  // namespace seqtrain::cuda
