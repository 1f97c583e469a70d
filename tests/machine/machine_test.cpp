#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/machine/machine.hpp>

#include "support/environment.hpp"
#include "support/fake_root.hpp"

namespace seqtrain::machine {
namespace {

using Texts = std::vector<std::string>;

struct MachineTest : testing::Test {
  MachineTest() { root.write("proc/self/statm", "999 256 1\n"); }

  /// Returns options for one sample; the next one would be a day later.
  [[nodiscard]] MachineOptions once() {
    return {.seconds = 86400, .log = log, .nvml = SEQTRAIN_FAKE_NVML, .root = root.path()};
  }

  static void wait_for_a_sample(const Machine& machine) {
    while (machine.latest().empty()) std::this_thread::yield();
  }

  static Texts names(const std::vector<metrics::Figure>& figures) {
    Texts found;
    for (const auto& figure : figures) found.push_back(figure.name);
    return found;
  }

  std::mutex mutex;
  Texts messages;
  const std::function<void(std::string_view)> log = [this](std::string_view text) {
    const std::lock_guard lock{mutex};
    messages.emplace_back(text);
  };
  tests::FakeRoot root;
  const tests::Environment visible{"CUDA_VISIBLE_DEVICES", std::nullopt};
};

TEST_F(MachineTest, SamplesAtOnceAndEndsWithoutWaiting) {
  const Machine machine{once()};
  wait_for_a_sample(machine);
  EXPECT_EQ(names(machine.latest()), Texts{"memory_mib"});
  EXPECT_TRUE(machine.describe().starts_with("Machine: memory ")) << machine.describe();
}

TEST_F(MachineTest, MayEndBeforeItsFirstSample) {
  for (int i = 0; i < 100; ++i) const Machine machine{once()};
}

TEST_F(MachineTest, SamplesAgainAndAgain) {
  auto options = once();
  options.seconds = 0.001;
  const Machine machine{options};
  wait_for_a_sample(machine);
  root.write("proc/self/statm", "999 512 1\n");
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
  while (machine.latest().empty() || machine.latest()[0].value < 512 * page) {
    std::this_thread::yield();
  }
  const auto summary = machine.summary();
  ASSERT_EQ(summary.size(), 1U);
  EXPECT_EQ(summary[0].name, "memory_mib");
  EXPECT_EQ(summary[0].max, 512 * page);
  EXPECT_GT(summary[0].mean, 256 * page);
  EXPECT_LT(summary[0].mean, 512 * page);
}

TEST_F(MachineTest, IsSilentWithoutFigures) {
  const tests::FakeRoot empty;
  auto options = once();
  options.root = empty.path();
  options.seconds = 0.001;
  const Machine machine{options};
  EXPECT_TRUE(machine.latest().empty());
  EXPECT_TRUE(machine.summary().empty());
  EXPECT_EQ(machine.describe(), "");
}

TEST_F(MachineTest, SamplesTheGpusWhereTheyAreUsed) {
  auto options = once();
  options.gpu = true;
  const Machine machine{options};
  wait_for_a_sample(machine);
  EXPECT_EQ(
      names(machine.latest()),
      (Texts{"memory_mib", "gpu0_percent", "gpu0_memory_mib", "gpu0_power_watts", "gpu0_celsius",
             "gpu1_percent", "gpu1_memory_mib", "gpu1_power_watts", "gpu1_celsius"}));
  EXPECT_NE(machine.describe().find("; GPU 0 NVIDIA H100: 93 %, 40 of 80 GiB, 512 W, 61 °C; GPU 1"),
            std::string::npos)
      << machine.describe();
  const auto summary = machine.summary();
  ASSERT_EQ(summary.size(), 9U);
  EXPECT_EQ(summary[3].name, "gpu0_power_watts");
  EXPECT_EQ(summary[3].mean, 512.25);
  EXPECT_EQ(summary[3].max, 512.25);
}

TEST_F(MachineTest, HeedsTheGpusThatCudaSees) {
  const tests::Environment second{"CUDA_VISIBLE_DEVICES", "GPU-bb"};
  auto options = once();
  options.gpu = true;
  const Machine machine{options};
  wait_for_a_sample(machine);
  EXPECT_EQ(machine.latest().size(), 5U);
  EXPECT_EQ(machine.latest()[1].name, "gpu0_percent");
  EXPECT_EQ(machine.latest()[1].value, 7);
}

TEST_F(MachineTest, TellsOnceThatThereIsNoNvml) {
  auto options = once();
  options.nvml = "libnvidia-absent.so.1";
  options.gpu = true;
  const Machine machine{options};
  wait_for_a_sample(machine);
  const std::lock_guard lock{mutex};
  EXPECT_EQ(messages,
            Texts{"The use of the GPUs cannot be read: libnvidia-absent.so.1: cannot open shared "
                  "object file: No such file or directory; training goes on without it. NVML comes "
                  "with NVIDIA's driver, and a container needs the driver's libraries"});
}

TEST_F(MachineTest, LooksForNoGpuWhereNoneIsUsed) {
  auto options = once();
  options.nvml = "libnvidia-absent.so.1";
  const Machine machine{options};
  wait_for_a_sample(machine);
  EXPECT_EQ(names(machine.latest()), Texts{"memory_mib"});
  const std::lock_guard lock{mutex};
  EXPECT_EQ(messages, Texts{});
}

TEST_F(MachineTest, GoesOnWhereNvmlDoesNotStartAndNobodyListens) {
  const tests::Environment fails{"FAKE_NVML_nvmlInit_v2", "9"};
  auto options = once();
  options.gpu = true;
  options.log = {};
  const Machine machine{options};
  wait_for_a_sample(machine);
  EXPECT_EQ(names(machine.latest()), Texts{"memory_mib"});
}

TEST_F(MachineTest, IsReadWhileItSamples) {
  auto options = once();
  options.seconds = 0.0001;
  options.gpu = true;
  const Machine machine{options};
  wait_for_a_sample(machine);
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int read = 0; read < 200; ++read) {
        EXPECT_EQ(machine.latest().size(), 9U);
        EXPECT_EQ(machine.summary().size(), 9U);
        EXPECT_FALSE(machine.describe().empty());
      }
    });
  }
}

TEST(MachineOptions, AreChecked) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double seconds : {0.0, -1.0, nan, 1e9}) {
    EXPECT_THROW(Machine{MachineOptions{.seconds = seconds}}, InputError) << seconds;
  }
}

TEST(Machine, SamplesThisMachine) {
  if (!std::filesystem::exists("/proc/self/statm")) GTEST_SKIP() << "no /proc here";
  const Machine machine{{.seconds = 0.02}};
  const auto has_percentages = [&] {
    const auto figures = machine.latest();
    return std::any_of(figures.begin(), figures.end(), [](const metrics::Figure& figure) {
      return figure.name == "processor_percent";
    });
  };
  while (!has_percentages()) std::this_thread::yield();
  EXPECT_NE(machine.describe().find("processor "), std::string::npos);
}

using Pairs = std::vector<std::pair<std::string, double>>;

const HostUse some_host{.processor_percent = 187.4,
                        .machine_percent = 95,
                        .memory_mib = 1229,
                        .processors = 2,
                        .memory_limit_mib = 24 * 1024};
const GpuUse some_gpu{.name = "NVIDIA H100",
                      .percent = 93,
                      .memory_mib = 40 * 1024,
                      .memory_limit_mib = 80 * 1024,
                      .power_watts = 512.25,
                      .celsius = 61};

Pairs pairs(const MachineUse& use) {
  Pairs found;
  for (const auto& [name, value] : figures(use)) found.emplace_back(name, value);
  return found;
}

TEST(MachineUse, HasFigures) {
  EXPECT_EQ(pairs({.host = some_host, .gpus = {some_gpu}}), (Pairs{{"processor_percent", 187.4},
                                                                   {"machine_percent", 95},
                                                                   {"memory_mib", 1229},
                                                                   {"gpu0_percent", 93},
                                                                   {"gpu0_memory_mib", 40960},
                                                                   {"gpu0_power_watts", 512.25},
                                                                   {"gpu0_celsius", 61}}));
}

TEST(MachineUse, LeavesOutFiguresThatAreAbsent) {
  EXPECT_EQ(pairs({}), Pairs{});
  EXPECT_EQ(pairs({.host = {.memory_mib = 1}, .gpus = {{}, {.percent = 5}}}),
            (Pairs{{"memory_mib", 1}, {"gpu1_percent", 5}}));
}

TEST(MachineUse, IsALineOfText) {
  EXPECT_EQ(describe({.host = some_host, .gpus = {some_gpu, {.name = "Tesla T4"}}}),
            "Machine: processor 187 of 200 %, memory 1.2 of 24 GiB; GPU 0 NVIDIA H100: 93 %, 40 of "
            "80 GiB, 512 W, 61 °C; GPU 1 Tesla T4: no figures");
  EXPECT_EQ(describe({.host = {.processor_percent = 50, .memory_mib = 10240}}),
            "Machine: processor 50 %, memory 10 GiB");
  EXPECT_EQ(describe({.gpus = {{.name = "Tesla T4", .memory_mib = 512, .celsius = 33}}}),
            "Machine: GPU 0 Tesla T4: 0.5 GiB, 33 °C");
  EXPECT_EQ(describe(MachineUse{}), "");
}

}  // namespace
}  // namespace seqtrain::machine
