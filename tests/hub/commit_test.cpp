#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/commit.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

using HubCommit = HubFixture;

TEST_F(HubCommit, IsOneLineAFile) {
  const auto parent = hub_.commit("models/org/m", {{"config.json", "old"}});
  files_.put("abc", "large");
  const auto small = write_file(directory_ / "config.json", "{}");
  const auto client = make_client("hf_write");
  const auto hash =
      hub::commit_files(client, name_,
                        {{.path = "config.json", .file = small, .size = 2, .hash = "h"},
                         {.path = "w.bin", .size = 5, .is_large = true, .hash = "abc"}},
                        "Say \"why\"", parent);
  EXPECT_EQ(hash, client.list(name_).commit);
  EXPECT_EQ(
      transport_->seen().front().body,
      R"({"key":"header","value":{"summary":"Say \"why\"","description":"","parentCommit":")" +
          parent + "\"}}\n" +
          R"({"key":"file","value":{"path":"config.json","encoding":"base64","content":"e30="}}
{"key":"lfsFile","value":{"path":"w.bin","algo":"sha256","oid":"abc","size":5}}
)");
  EXPECT_EQ(hub_.files_of("models/org/m").at("w.bin"), "large");
}

TEST_F(HubCommit, IsRefusedOnAnotherParent) {
  hub_.commit("models/org/m", {{"config.json", "old"}});
  EXPECT_FALSE(hub::commit_files(make_client("hf_write"), name_, {}, "x", std::string(40, '0')));
  EXPECT_EQ(hub_.commits_of("models/org/m"), 1U);
}

}  // namespace
}  // namespace seqtrain::tests
