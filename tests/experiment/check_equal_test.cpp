#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <support/dist_worlds.hpp>

#include <seqtrain/dist/group.hpp>
#include <seqtrain/experiment/check_equal.hpp>

namespace seqtrain::experiment {
namespace {

using dist::Group;
using dist::World;

/// Returns the errors of three ranks with these settings.
std::vector<std::string> errors_of(const std::vector<train::Pairs>& settings) {
  return tests::on_threads(tests::local_worlds(3), [&](const World& world) {
    auto group = Group::connect(world);
    check_equal(group, settings[static_cast<std::size_t>(world.rank)]);
  });
}

TEST(CheckEqual, AcceptsEqualSettings) {
  const train::Pairs pairs{{"seed", "1"}, {"labels", ""}};
  EXPECT_EQ(errors_of({pairs, pairs, pairs}), std::vector<std::string>(3));
}

TEST(CheckEqual, NamesTheRankAndTheDifferenceOnAllRanks) {
  const train::Pairs pairs{{"seed", "1"}, {"precision", "bf16"}};
  const std::string expected =
      "rank 2: differs from rank 0: seed (1 on rank 0, 3 on rank 2), precision (bf16 on rank 0, "
      "fp32 on rank 2); start the same program with the same flags and data on every machine";
  EXPECT_EQ(errors_of({pairs, pairs, {{"seed", "3"}, {"precision", "fp32"}}}),
            std::vector<std::string>(3, expected));
}

}  // namespace
}  // namespace seqtrain::experiment
