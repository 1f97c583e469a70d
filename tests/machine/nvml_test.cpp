#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/machine/nvml.hpp>

#include "support/environment.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::machine {
namespace {

std::string problem_with(const std::string& library) {
  try {
    const Nvml nvml{library};
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Nvml, CallsTheLibrary) {
  const Nvml nvml{SEQTRAIN_FAKE_NVML};
  unsigned count = 0;
  EXPECT_EQ(nvml.count(&count), 0);
  EXPECT_EQ(count, 2U);
}

TEST(Nvml, IsInitializedWhileTheObjectLives) {
  const SharedLibrary library{SEQTRAIN_FAKE_NVML};  // stays loaded
  int (*const users)() = library.find("fake_nvml_users");
  {
    const Nvml nvml{SEQTRAIN_FAKE_NVML};
    EXPECT_EQ(users(), 1);
  }
  EXPECT_EQ(users(), 0);
  const tests::Environment fails{"FAKE_NVML_nvmlInit_v2", "9"};
  EXPECT_EQ(problem_with(SEQTRAIN_FAKE_NVML), SEQTRAIN_FAKE_NVML ": Driver Not Loaded");
  EXPECT_EQ(users(), 0);
}

TEST(Nvml, TellsWhatIsWrongWithTheLibrary) {
  EXPECT_EQ(problem_with("libnvidia-absent.so.1"),
            "libnvidia-absent.so.1: cannot open shared object file: No such file or directory");
  EXPECT_NE(problem_with("libm.so.6").find("undefined symbol: nvmlInit_v2"), std::string::npos);
  const tests::TemporaryDirectory directory;
  const auto text = tests::write_file(directory / "libnvidia-ml.so.1", "no library").string();
  EXPECT_EQ(problem_with(text).find(text), 0U);
}

}  // namespace
}  // namespace seqtrain::machine
