#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/cuda/adam_kernel.hpp>
#include <seqtrain/cuda/nvrtc.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::cuda {
namespace {

using tests::Environment;
using tests::problem_of;

constexpr KernelSource source{"double_it", "void double_it();"};

TEST(Nvrtc, CompilesForAnArchitecture) {
  const Nvrtc nvrtc{SEQTRAIN_FAKE_NVRTC};
  EXPECT_EQ(nvrtc.version(), "12.9");
  const std::string cubin = nvrtc.compile(source, 90);
  EXPECT_TRUE(cubin.starts_with("fake cubin --gpu-architecture=sm_90 --std=c++17 --fmad=false\n"))
      << cubin;
  EXPECT_NE(cubin.find(source.text), std::string::npos);
}

TEST(Nvrtc, TellsWhatTheCompilerSays) {
  const Nvrtc nvrtc{SEQTRAIN_FAKE_NVRTC};
  const Environment fails{"FAKE_NVRTC_FAILS", "nvrtcCompileProgram"};
  EXPECT_EQ(problem_of([&] { (void)nvrtc.compile(source, 90); }),
            "double_it: NVRTC 12.9 cannot compile it: NVRTC_ERROR_COMPILATION: "
            "line 3: expected a ;");
}

TEST(Nvrtc, NamesTheFunctionThatFails) {
  const Nvrtc nvrtc{SEQTRAIN_FAKE_NVRTC};
  for (const char* function : {"nvrtcCreateProgram", "nvrtcGetCUBIN"}) {
    const Environment fails{"FAKE_NVRTC_FAILS", function};
    EXPECT_EQ(problem_of([&] { (void)nvrtc.compile(source, 90); }),
              "NVRTC: " + std::string{function} + " says NVRTC_ERROR_COMPILATION");
  }
  const Environment fails{"FAKE_NVRTC_FAILS", "nvrtcVersion"};
  EXPECT_EQ(problem_of([] { const Nvrtc other{SEQTRAIN_FAKE_NVRTC}; }),
            "NVRTC: nvrtcVersion says NVRTC_ERROR_COMPILATION");
}

TEST(Nvrtc, IsMissingOrLacksAFunction) {
  const std::string missing = problem_of([] {
    (void)open_nvrtc({"libnvrtc.so.999", "/nowhere.so"});
  });
  EXPECT_TRUE(missing.starts_with("NVRTC: cannot be loaded: libnvrtc.so.999: ")) << missing;
  EXPECT_NE(missing.find("PyPI's nvidia-cuda-nvrtc has it"), std::string::npos) << missing;
  const std::string lacks = problem_of([] { (void)open_nvrtc({SEQTRAIN_FAKE_CUDA_DRIVER}); });
  EXPECT_NE(lacks.find("nvrtcVersion"), std::string::npos) << lacks;
}

TEST(Nvrtc, IsTheFirstLibraryThatCanBeLoaded) {
  EXPECT_EQ(open_nvrtc({"libnvrtc.so.999", SEQTRAIN_FAKE_NVRTC})->version(), "12.9");
}

TEST(Nvrtc, IsLookedForBesideLibTorch) {
  const tests::TemporaryDirectory place;
  const auto packages = place.path() / "site-packages", torch = packages / "torch/lib";
  std::filesystem::create_directories(torch);
  EXPECT_EQ(nvrtc_files(13, torch).size(), 1U);
  for (const auto& folder : {packages / "nvidia/cu13/lib", packages / "nvidia/cuda_nvrtc/lib"}) {
    std::filesystem::create_directories(folder);
    std::ofstream{folder / "libnvrtc.so.13"};
  }
  const auto files = nvrtc_files(13, torch);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0], "libnvrtc.so.13");
  EXPECT_EQ(std::filesystem::weakly_canonical(files[1]),
            std::filesystem::weakly_canonical(packages / "nvidia/cu13/lib/libnvrtc.so.13"));
  EXPECT_EQ(nvrtc_files(12, torch).size(), 1U);
}

#ifdef SEQTRAIN_NVRTC_PLACE  // not under a sanitizer, nor for another processor
// The libraries are those that tests/cuda/compile_kernels.py has installed.
TEST(Nvrtc, OfNvidiaCompilesTheKernels) {
  std::size_t libraries = 0;
  const std::filesystem::path place{SEQTRAIN_NVRTC_PLACE};
  if (!std::filesystem::exists(place)) GTEST_SKIP() << "there is no NVRTC in " << place;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{place}) {
    if (!entry.path().filename().string().starts_with("libnvrtc.so.")) continue;
    ++libraries;
    const auto nvrtc = open_nvrtc({entry.path().string()});
    const std::string cubin = nvrtc->compile(adam_kernel, 90);
    EXPECT_TRUE(cubin.starts_with("\177ELF")) << nvrtc->version();
    EXPECT_NE(cubin.find(adam_kernel.name), std::string::npos) << nvrtc->version();
    const auto problem = problem_of([&] { (void)nvrtc->compile({"broken", "int f( {"}, 90); });
    EXPECT_NE(problem.find("broken.cu(1): error: "), std::string::npos) << problem;
    const auto unknown = problem_of([&] { (void)nvrtc->compile(adam_kernel, 20); });
    EXPECT_NE(unknown.find("--gpu-architecture"), std::string::npos) << unknown;
  }
  if (libraries == 0) GTEST_SKIP() << "NVRTC is not installed in " << place << " yet";
}
#endif

}  // namespace
}  // namespace seqtrain::cuda
