#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/machine/gpus.hpp>

#include "support/environment.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::machine {
namespace {

using tests::Environment;
using Texts = std::vector<std::string>;

struct GpusTest : testing::Test {
  Gpus gpus(const std::optional<std::string>& visible = {}) {
    return Gpus{SEQTRAIN_FAKE_NVML, visible,
                [this](std::string_view text) { messages.emplace_back(text); }};
  }
  Texts names(const std::optional<std::string>& visible) {
    Texts found;
    for (const auto& use : gpus(visible).sample()) found.push_back(use.name);
    return found;
  }

  Texts messages;
};

TEST_F(GpusTest, AreRead) {
  const auto uses = gpus().sample();
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].name, "NVIDIA H100");
  EXPECT_EQ(uses[0].percent, 93);
  EXPECT_EQ(uses[0].memory_mib, 40 * 1024);
  EXPECT_EQ(uses[0].memory_limit_mib, 80 * 1024);
  EXPECT_EQ(uses[0].power_watts, 512.25);
  EXPECT_EQ(uses[0].celsius, 61);
  EXPECT_EQ(uses[1].name, "Tesla T4");
  EXPECT_EQ(uses[1].percent, 7);
  EXPECT_EQ(messages, Texts{});
}

TEST_F(GpusTest, AreThoseThatCudaSees) {
  EXPECT_EQ(names("0,1"), (Texts{"NVIDIA H100", "Tesla T4"}));
  EXPECT_EQ(names("1"), Texts{"Tesla T4"});
  EXPECT_EQ(names(" 1 , 0 "), (Texts{"Tesla T4", "NVIDIA H100"}));
  EXPECT_EQ(names("GPU-bb,0"), (Texts{"Tesla T4", "NVIDIA H100"}));
  EXPECT_EQ(names(""), Texts{});
  EXPECT_EQ(names("-1"), Texts{});
  EXPECT_EQ(names("1,-1,0"), Texts{"Tesla T4"});
  EXPECT_EQ(messages, Texts{});
}

TEST_F(GpusTest, EndWithTheFirstThatCudaDoesNotKnow) {
  EXPECT_EQ(names("1,7,0"), Texts{"Tesla T4"});
  EXPECT_EQ(names("GPU-cc,0"), Texts{});
  EXPECT_EQ(names("99999999999,0"), Texts{});
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0],
            "CUDA_VISIBLE_DEVICES: 7: no GPU has this index or UUID; write it as nvidia-smi -L "
            "does");
}

TEST_F(GpusTest, LeaveOutAFigureThatFailsAndTellItOnce) {
  auto some = gpus("1");
  {
    const Environment fails{"FAKE_NVML_nvmlDeviceGetPowerUsage", "3"};
    for (int i = 0; i < 3; ++i) {
      const auto use = some.sample().at(0);
      EXPECT_EQ(use.power_watts, std::nullopt);
      EXPECT_EQ(use.celsius, 33);
    }
  }
  EXPECT_EQ(messages, Texts{"GPU 0 Tesla T4: its power cannot be read: Not Supported; training "
                            "goes on without this figure"});
  EXPECT_EQ(some.sample().at(0).power_watts, 30);  // the failure may be temporary
}

TEST_F(GpusTest, LeaveOutEachFigure) {
  const Environment use{"FAKE_NVML_nvmlDeviceGetUtilizationRates", "3"};
  const Environment memory{"FAKE_NVML_nvmlDeviceGetMemoryInfo", "999"};
  const Environment temperature{"FAKE_NVML_nvmlDeviceGetTemperature", "999"};
  const Environment name{"FAKE_NVML_nvmlDeviceGetName", "999"};
  const auto sample = gpus("0").sample().at(0);
  EXPECT_EQ(sample.name, "");
  EXPECT_EQ(sample.percent, std::nullopt);
  EXPECT_EQ(sample.memory_mib, std::nullopt);
  EXPECT_EQ(sample.memory_limit_mib, std::nullopt);
  EXPECT_EQ(sample.power_watts, 512.25);
  EXPECT_EQ(sample.celsius, std::nullopt);
  EXPECT_EQ(messages.size(), 3U);
}

TEST_F(GpusTest, KeepThePlaceOfAGpuThatIsLost) {
  auto both = gpus();
  both.sample();
  {
    const Environment lost{"FAKE_NVML_LOST", "0"};
    both.sample();
  }
  const auto uses = both.sample();
  EXPECT_EQ(uses.at(0).name, "NVIDIA H100");
  EXPECT_EQ(uses.at(0).percent, std::nullopt);
  EXPECT_EQ(uses.at(0).celsius, std::nullopt);
  EXPECT_EQ(uses.at(1).percent, 7);
  EXPECT_EQ(messages, Texts{"GPU 0 NVIDIA H100: its use cannot be read: GPU is lost; training goes "
                            "on without this GPU's figures"});
}

TEST_F(GpusTest, AreLeftOutWhereTheyCannotBeUsedFromTheStart) {
  const Environment lost{"FAKE_NVML_LOST", "0"};
  EXPECT_EQ(names({}), Texts{"Tesla T4"});
}

TEST_F(GpusTest, ThrowWhereTheyCannotBeCounted) {
  const Environment fails{"FAKE_NVML_nvmlDeviceGetCount_v2", "999"};
  EXPECT_THROW(gpus(), Error);
  EXPECT_NO_THROW(gpus("0"));
}

TEST_F(GpusTest, NeedNoLog) {
  const Environment lost{"FAKE_NVML_LOST", "0"};
  Gpus silent{SEQTRAIN_FAKE_NVML, "0,5", {}};
  EXPECT_EQ(silent.sample().size(), 0U);
}

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
