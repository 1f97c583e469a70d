#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/preupload.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

class HubPreupload : public HubFixture {
 protected:
  HubPreupload() {
    hub_.commit("models/org/m", {{"same.txt", "same"}, {"same.bin", "same"}, {"new.txt", "old"}});
    for (const char* name : {"same.txt", "same.bin", "new.txt", "new.bin", "empty.bin"}) {
      const std::string text{name};
      write_file(directory_ / name, text.starts_with("same") ? "same"
                                    : text == "empty.bin"    ? ""
                                                             : "new");
    }
  }
};

TEST_F(HubPreupload, FindsWhatTheBranchDoesNotHave) {
  const auto changed =
      hub::changed_files(make_client("hf_write"), name_, hub::files_to_push(directory_.path()));
  ASSERT_EQ(changed.size(), 3U);
  EXPECT_EQ(changed[0].path, "empty.bin");
  EXPECT_FALSE(changed[0].is_large);
  EXPECT_EQ(changed[1].path, "new.bin");
  EXPECT_TRUE(changed[1].is_large);
  EXPECT_EQ(changed[1].hash, hex_digest(EVP_sha256(), "new"));
  EXPECT_EQ(changed[2].path, "new.txt");
  EXPECT_FALSE(changed[2].is_large);
}

TEST_F(HubPreupload, LeavesNoFileOutSilently) {
  hub_.ignored = "new.bin";
  const auto client = make_client("hf_write");
  EXPECT_EQ(problem_of([&] {
              (void)hub::changed_files(client, name_, hub::files_to_push(directory_.path()));
            }),
            "org/m: new.bin: the repository's .gitignore leaves it out; change that on the hub");
}

}  // namespace
}  // namespace seqtrain::tests
