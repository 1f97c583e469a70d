#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/control_groups.hpp>

#include "support/fake_root.hpp"

namespace seqtrain {
namespace {

std::set<std::string> groups_of(const std::string& text) {
  tests::FakeRoot root;
  root.write("proc/self/cgroup", text);
  std::set<std::string> groups;
  visit_control_groups(root.path(), [&](const std::filesystem::path& group) {
    groups.insert((group / "").lexically_relative(root.path()).string());
  });
  return groups;
}

using Groups = std::set<std::string>;

TEST(ControlGroups, AreThoseOfTheProcessAndTheGroupsAroundThem) {
  EXPECT_EQ(groups_of("0::/\n"), Groups{"sys/fs/cgroup/"});
  EXPECT_EQ(groups_of("0::/a/b\n"),
            (Groups{"sys/fs/cgroup/", "sys/fs/cgroup/a/", "sys/fs/cgroup/a/b/"}));
}

TEST(ControlGroups, HaveAHierarchyForEachControllerInVersion1) {
  EXPECT_EQ(groups_of("3:cpu,cpuacct:/\n2:memory:/job\n"),
            (Groups{"sys/fs/cgroup/cpu/", "sys/fs/cgroup/cpuacct/", "sys/fs/cgroup/memory/",
                    "sys/fs/cgroup/memory/job/"}));
}

TEST(ControlGroups, StayInsideTheHierarchyAndSkipOtherLines) {
  EXPECT_EQ(groups_of("0::/../../outside\n").count("sys/fs/cgroup/"), 1u);
  EXPECT_EQ(groups_of(""), Groups{});
  EXPECT_EQ(groups_of("no colon\n:\n0:\n"), Groups{});
}

}  // namespace
}  // namespace seqtrain
