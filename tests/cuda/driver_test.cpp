#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/shared_library.hpp>
#include <seqtrain/cuda/driver.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::cuda {
namespace {

using tests::Environment;
using tests::problem_of;

std::string calls() {
  const SharedLibrary library{SEQTRAIN_FAKE_CUDA_DRIVER};
  const char* (*const get)() = library.find("fake_driver_calls");
  return get();
}

/// Makes the calling thread one that no GPU has a context for.
void forget_context() {
  const SharedLibrary library{SEQTRAIN_FAKE_CUDA_DRIVER};
  int (*const set)(void*) = library.find("cuCtxSetCurrent");
  set(nullptr);
}

TEST(Driver, LoadsAndCallsAKernel) {
  const Driver driver{SEQTRAIN_FAKE_CUDA_DRIVER};
  driver.use_device(1);
  driver.use_device(1);  // the thread has a context now
  const auto entry = driver.load("fake cubin of a kernel\n", "double_it");
  int argument = 7;
  driver.launch(entry, 3, 32, nullptr, &argument);
  EXPECT_EQ(calls(),
            "retain 101\nload fake cubin of a kernel\nfind double_it\nlaunch 3 x 32 of 7 on "
            "stream 0\n");
}

TEST(Driver, SaysWhatFails) {
  const Driver driver{SEQTRAIN_FAKE_CUDA_DRIVER};
  int argument = 7;
  const auto work = [&] {
    driver.use_device(0);
    driver.launch(driver.load("fake cubin\n", "double_it"), 1, 32, nullptr, &argument);
  };
  for (const char* function : {"cuCtxGetCurrent", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
                               "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel"}) {
    const Environment fails{"FAKE_DRIVER_FAILS", function};
    forget_context();
    EXPECT_EQ(problem_of(work),
              "NVIDIA driver: " + std::string{function} +
                  " fails with 209: no kernel image is available for execution on the device");
  }
  EXPECT_EQ(problem_of([&] { (void)driver.load("damaged", "double_it"); }),
            "NVIDIA driver: cuModuleLoadData fails with 200: an error without a name");
}

TEST(Driver, IsMissingOrLacksAFunction) {
  EXPECT_NE(problem_of([] { const Driver none{"libcuda.so.999"}; }), "nothing was thrown");
  const std::string lacks = problem_of([] { const Driver other{SEQTRAIN_FAKE_NVRTC}; });
  EXPECT_NE(lacks.find("cuGetErrorString"), std::string::npos) << lacks;
}

}  // namespace
}  // namespace seqtrain::cuda
