#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/upload.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

class HubUpload : public HubFixture {
 protected:
  HubUpload() {
    hub_.commit("models/org/m", {{"config.json", "{}"}});
    file_.hash = file_.compute_hash();
  }

  void upload(const hub::Client& client) {
    hub::upload_large_files(client, name_, {file_, file_, {.path = "small", .hash = "x"}});
    seen_ = transport_->seen();
  }
  hub::Client make_refusing_client(int times) {
    return make_client(
        [this, times](const FakeTransport::Seen& seen) mutable {
          return seen.method == "PUT" && times-- > 0 ? http::Response{403} : answer(seen);
        },
        "hf_write");
  }

  std::vector<FakeTransport::Seen> seen_;  // requests of the last upload
  hub::PushFile file_{.path = "w.bin",
                      .file = write_file(directory_ / "w.bin", "0123456789"),
                      .size = 10,
                      .is_large = true};
};

TEST_F(HubUpload, SendsEqualContentsOnce) {
  upload(make_client("hf_write"));
  EXPECT_EQ(files_.find(file_.hash), "0123456789");
  EXPECT_EQ(seen_.size(), 3U);  // batch, PUT, verify
}

TEST_F(HubUpload, SendsParts) {
  hub_.part_from = 8;
  upload(make_client("hf_write"));
  EXPECT_EQ(files_.find(file_.hash), "0123456789");
  std::string sent;
  for (const auto& seen : seen_) sent += seen.method == "PUT" ? seen.body + "|" : "";
  EXPECT_EQ(sent, "0123|4567|89|");
}

TEST_F(HubUpload, AsksForNewAddressesTwice) {
  upload(make_refusing_client(2));
  EXPECT_EQ(files_.find(file_.hash), "0123456789");
  files_.clear();
  const auto client = make_refusing_client(3);
  EXPECT_EQ(problem_of([&] { upload(client); }), "org/m: w.bin: the hub's storage answered 403");
}

TEST_F(HubUpload, WaitsForAsLongAsAnAttemptTakes) {
  int failures = 3;
  const auto client = make_client(
      [&](const FakeTransport::Seen& seen) {
        if (seen.method != "PUT" || failures-- == 0) return answer(seen);
        time_.sleep(http::Seconds{1000});
        throw http::TransportError{"broken off"};
      },
      "hf_write");
  upload(client);
  EXPECT_EQ(files_.find(file_.hash), "0123456789");
}

TEST_F(HubUpload, GivesUpIfTheStorageIsGone) {
  const auto client = make_client(
      [&](const FakeTransport::Seen& seen) {
        return seen.method == "PUT" ? http::Response{503} : answer(seen);
      },
      "hf_write");
  EXPECT_EQ(problem_of([&] { upload(client); }), "org/m: w.bin: the hub's storage answered 503");
}

TEST_F(HubUpload, FollowsTheStorageWithoutTheToken) {
  const auto client = make_client(
      [&](const FakeTransport::Seen& seen) {
        EXPECT_TRUE(seen.origin == "https://hub.test" || seen.header("Authorization").empty());
        if (seen.method != "PUT" || seen.origin == "https://near.test") {
          auto moved = seen;
          if (seen.method == "PUT") moved.origin = "https://files.test";
          return answer(moved);
        }
        return http::Response{307, {{"Location", "https://near.test" + seen.target}}, {}};
      },
      "hf_write");
  upload(client);
  EXPECT_EQ(files_.find(file_.hash), "0123456789");
}

TEST_F(HubUpload, GivesTheHeadersOfTheHubToNoOtherHost) {
  const auto client = make_client(
      [&](const FakeTransport::Seen& seen) {
        EXPECT_NE(seen.origin, "https://other.test");
        if (seen.method == "PUT") {
          EXPECT_EQ(seen.header("Authorization"), "Basic x");
          return http::Response{307, {{"Location", "https://other.test/"}}, {}};
        }
        return http::Response{200,
                              {},
                              R"({"objects": [{"oid": ")" + file_.hash +
                                  R"(", "actions": {"upload": {"href": "https://files.test/",
                                     "header": {"Authorization": "Basic x"}}}}]})"};
      },
      "hf_write");
  EXPECT_EQ(problem_of([&] { upload(client); }), "org/m: w.bin: the hub's storage answered 307");
}

TEST_F(HubUpload, RefusesAFileThatHasChanged) {
  write_file(file_.file, "shorter");
  const auto client = make_client("hf_write");
  EXPECT_NE(problem_of([&] { upload(client); }).find("changed its size"), std::string::npos);
}

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
