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

}  // namespace
}  // namespace seqtrain::tests
