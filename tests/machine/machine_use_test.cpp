#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/machine/machine_use.hpp>

namespace seqtrain::machine {
namespace {

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
