#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/lfs.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

class HubLfs : public HubFixture {
 protected:
  /// Returns how the storage takes a file of 10 bytes, if the hub answers so.
  std::vector<hub::LfsTransfer> transfers(const std::string& object) {
    const auto client = make_client([&](const auto&) {
      return http::Response{
          200, {}, R"({"objects": [{"oid": "abc", "size": 10, )" + object + "}]}"};
    });
    return hub::lfs_transfers(client, name_, {{.path = "w.bin", .size = 10, .hash = "abc"}});
  }
  std::string problem(const std::string& object) {
    return problem_of([&] { transfers(object); });
  }
};

TEST_F(HubLfs, ReadsAnActionWithItsHeaders) {
  const auto found = transfers(R"("actions": {
      "upload": {"href": "https://files.test/x?a=b", "header": {"Authorization": "Basic x",
                 "Content-Length": "10", "X y": "z", "X-Meta": "m"}},
      "verify": {"href": "https://hub.test/verify"}})");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].upload->url.target, "/x?a=b");
  ASSERT_EQ(found[0].upload->headers.size(), 2U);
  EXPECT_EQ(found[0].upload->headers[0].value, "Basic x");
  EXPECT_EQ(found[0].upload->headers[1].name, "X-Meta");
  EXPECT_EQ(found[0].verify->url.target, "/verify");
}

TEST_F(HubLfs, ReadsPartsInOrderOfTheirNumbers) {
  const auto found = transfers(R"("actions": {"upload": {"href": "https://hub.test/end", "header": {
      "10": "https://files.test/c", "chunk_size": 4, "2": "https://files.test/b",
      "1": "https://files.test/a"}}})");
  const auto& parts = found.at(0).upload->parts;
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].target + parts[1].target + parts[2].target, "/a/b/c");
  EXPECT_EQ(found[0].upload->part_bytes, 4U);
}

TEST_F(HubLfs, HasNoActionIfTheHubHasTheContent) {
  EXPECT_FALSE(transfers(R"("authenticated": true)").at(0).upload);
}

TEST_F(HubLfs, TakesTheMirrorForThePublicHub) {
  const auto found =
      transfers(R"("actions": {"upload": {"href": "https://huggingface.co/api/x?y"}})");
  EXPECT_EQ(found.at(0).upload->url.origin(), "https://hub.test");
}

TEST_F(HubLfs, RefusesWhatNoHubSays) {
  for (const char* action :
       {R"({"href": 1})", R"({"href": "ftp://x"})", R"({})",
        R"({"href": "https://x", "header": 1})",
        R"({"href": "https://x", "header": {"chunk_size": "0"}})",
        R"({"href": "https://x", "header": {"chunk_size": "-1"}})",
        R"({"href": "https://x", "header": {"chunk_size": 5, "1": "https://x"}})",
        R"({"href": "https://x", "header": {"1": "https://x"}})"}) {
    const auto said = problem(std::string{R"("actions": {"upload": )"} + action + "}");
    EXPECT_NE(said.find("is not a hub's"), std::string::npos) << action << said;
  }
}

TEST_F(HubLfs, RefusesAnAddressWithoutEncryption) {
  EXPECT_THROW(transfers(R"("actions": {"upload": {"href": "http://files.test/x"}})"),
               http::TrustError);
}

TEST_F(HubLfs, SaysWhyTheHubRefusesAFile) {
  EXPECT_EQ(problem(R"("error": {"code": 422, "message": "quota exceeded"})"),
            "org/m: w.bin: the hub refuses it: quota exceeded");
}

}  // namespace
}  // namespace seqtrain::tests
