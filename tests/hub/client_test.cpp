#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/client.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

class HubClient : public HubFixture {
 protected:
  /// Returns the client's error if the hub answers each request with `response`.
  std::string problem_with(const http::Response& response, const std::string& token = "") {
    const auto client = make_client([&](const auto&) { return response; }, token);
    return problem_of([&] { static_cast<void>(client.list(name_)); });
  }

  struct Text {
    std::string text;
    [[nodiscard]] std::uint64_t size() const { return text.size(); }
    void clear() { text.clear(); }
    void append(std::span<const std::byte> bytes) {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  };
};

TEST_F(HubClient, ListsARevision) {
  const auto first = hub_.commit("models/org/m", {{"config.json", "{}"}});
  const auto second = hub_.commit("models/org/m", {{"a/b.txt", "x"}, {"config.json", "{}"}});
  hub_.tag("models/org/m", "refs/pr/1", first);
  const auto client = make_client();
  const auto listing = client.list(name_);
  EXPECT_EQ(listing.commit, second);
  EXPECT_EQ(listing.files, (std::vector<std::string>{"a/b.txt", "config.json"}));
  EXPECT_EQ(client.list(hub::Name::parse("org/m@" + first)).commit, first);
  EXPECT_EQ(client.list(hub::Name::parse("org/m@refs/pr/1")).commit, first);
  EXPECT_EQ(transport_->seen().back().target, "/api/models/org/m/revision/refs%2Fpr%2F1");
}

TEST_F(HubClient, FollowsAnOldName) {
  const auto commit = hub_.commit("models/FacebookAI/roberta-base", {{"config.json", "{}"}});
  hub_.rename("models/roberta-base", "models/FacebookAI/roberta-base");
  const auto client = make_client();
  const auto name = hub::Name::parse("roberta-base");
  EXPECT_EQ(client.list(name).commit, commit);
  EXPECT_EQ(client.look_at(name, commit, "config.json").size, 2U);
}

TEST_F(HubClient, KnowsHashesAndSizes) {
  const auto commit = hub_.commit("datasets/org/m", {{"a b.txt", "hello\n"}, {"x.bin", "large"}});
  const auto client = make_client();
  const auto name = hub::Name::parse("org/m", hub::Kind::dataset);
  const auto small = client.look_at(name, commit, "a b.txt");
  EXPECT_EQ(small.hash, "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(small.size, 6U);
  const auto large = client.look_at(name, commit, "x.bin");
  EXPECT_EQ(large.hash, hex_digest(EVP_sha256(), "large"));
  EXPECT_EQ(large.size, 5U);
  Text text;
  client.read(name, commit, large, text);
  EXPECT_EQ(text.text, "large");
  text.text = "la";
  client.read(name, commit, large, text);
  EXPECT_EQ(text.text, "large");
  EXPECT_EQ(transport_->seen().back().header("Range"), "bytes=2-");
}

TEST_F(HubClient, GivesTheTokenToNobodyElse) {
  const auto commit = hub_.commit("models/org/m", {{"x.bin", "large"}});
  const auto client = make_client("hf_secret");
  const auto file = client.look_at(name_, commit, "x.bin");
  Text text;
  client.read(name_, commit, file, text);
  int elsewhere = 0;
  for (const auto& seen : transport_->seen()) {
    const bool hub = seen.origin == "https://hub.test";
    EXPECT_EQ(seen.header("Authorization"), hub ? "Bearer hf_secret" : "") << seen.target;
    elsewhere += hub ? 0 : 1;
  }
  EXPECT_EQ(elsewhere, 1);
}

TEST_F(HubClient, FollowsAMirrorToThePublicHub) {
  const auto commit = hub_.commit("models/org/m", {{"x.bin", "large"}});
  const auto client = make_client([&](const FakeTransport::Seen& seen) {
    if (seen.origin != "https://hub.test" || seen.target.starts_with("/api/")) return answer(seen);
    return http::Response{308, {{"Location", "https://huggingface.co" + seen.target}}, {}};
  });
  EXPECT_EQ(client.look_at(name_, commit, "x.bin").size, 5U);
}

TEST_F(HubClient, FollowsNoRedirectToPlainHttp) {
  const auto client = make_client([](const auto&) {
    return http::Response{302, {{"Location", "http://hub.test/x"}}, {}};
  });
  EXPECT_THROW(static_cast<void>(client.list(name_)), http::TrustError);
}

TEST_F(HubClient, StartsAnewIfTheHubSendsAllAgain) {
  const auto client = make_client([](const auto&) { return http::Response{200, {}, "large"}; });
  Text text{"xx"};
  client.read(name_, std::string(40, 'a'), {.path = "x", .hash = "", .size = 5}, text);
  EXPECT_EQ(text.text, "large");
}

TEST_F(HubClient, GivesUpIfTheHubBreaksOffAtTheSameByte) {
  int answers = 0;
  const auto client = make_client([&](const auto&) {
    if (++answers > 1000) ADD_FAILURE() << "there is no end";
    return http::Response{answers > 1000 ? 404 : 200, {}, "larg"};
  });
  Text text;
  EXPECT_THROW(client.read(name_, std::string(40, 'a'), {.path = "x", .hash = "", .size = 5}, text),
               hub::Unavailable);
}

TEST_F(HubClient, RefusesAnotherRange) {
  const auto client = make_client([](const auto&) {
    return http::Response{206, {{"Content-Range", "bytes 0-4/5"}}, "large"};
  });
  Text text{"xx"};
  EXPECT_THROW(client.read(name_, std::string(40, 'a'), {.path = "x", .hash = "", .size = 5}, text),
               hub::Unavailable);
  EXPECT_EQ(text.text, "xx");
}

TEST_F(HubClient, AsksForAnAddressAgainThatHasRunOut) {
  const auto commit = hub_.commit("models/org/m", {{"x.bin", "large"}});
  int refusals = 2;
  const auto client = make_client([&](const FakeTransport::Seen& seen) {
    if (seen.origin == "https://files.test" && refusals-- > 0) return http::Response{403};
    return answer(seen);
  });
  Text text;
  client.read(name_, commit, client.look_at(name_, commit, "x.bin"), text);
  EXPECT_EQ(text.text, "large");
  EXPECT_EQ(time_.sleeps().size(), 2U);
}

TEST_F(HubClient, SaysWhyItMayNot) {
  const auto gated = problem_with({403, {{"X-Error-Code", "GatedRepo"}}, {}});
  EXPECT_EQ(gated,
            "org/m: its owners ask for conditions to be accepted first; accept them at "
            "https://hub.test/org/m, then set HF_TOKEN to a token of that account");
  EXPECT_NE(problem_with({401, {{"X-Error-Code", "GatedRepo"}}, {}}, "t").find("HF_TOKEN belongs"),
            std::string::npos);
  EXPECT_NE(problem_with({401, {}, {}}, "t").find("does not accept the token"), std::string::npos);
  EXPECT_NE(problem_with({403, {{"X-Error-Message", "a\nb"}}, {}}).find("not allow this: a b"),
            std::string::npos);
}

TEST_F(HubClient, SaysWhatIsNotThere) {
  const auto commit = hub_.commit("models/org/m", {{"config.json", "{}"}});
  const auto client = make_client();
  EXPECT_NE(problem_of([&] {
              static_cast<void>(client.list(hub::Name::parse("org/none")));
            }).find("org/none: there is no such model at https://hub.test, or it is private"),
            std::string::npos);
  EXPECT_NE(problem_of([&] {
              static_cast<void>(client.list(hub::Name::parse("org/m@v9")));
            }).find("has no revision 'v9'"),
            std::string::npos);
  EXPECT_NE(problem_of([&] {
              static_cast<void>(client.look_at(name_, commit, "none"));
            }).find("org/m: none: has no such file"),
            std::string::npos);
}

TEST_F(HubClient, WaitsAsLongAsTheHubAsks) {
  hub_.commit("models/org/m", {{"config.json", "{}"}});
  int refusals = 1;
  const auto client = make_client([&](const FakeTransport::Seen& seen) {
    return refusals-- > 0 ? http::Response{429, {{"Retry-After", "17"}}, {}} : answer(seen);
  });
  static_cast<void>(client.list(name_));
  EXPECT_EQ(time_.sleeps(), std::vector{17.0});
}

TEST_F(HubClient, GivesUpInTheEnd) {
  EXPECT_NE(problem_with({429, {{"Retry-After", "300"}}, {}}).find("asks to wait 300 s"),
            std::string::npos);
  EXPECT_NE(problem_with({503, {}, {}}).find("the hub answered 503"), std::string::npos);
  EXPECT_GT(time_.sleeps().size(), 2U);
}

TEST_F(HubClient, DoesNotWaitForAHubThatIsNotThere) {
  const auto client = make_client(
      [](const auto&) -> http::Response { throw http::Unreachable{"connecting: refused"}; });
  EXPECT_THROW(static_cast<void>(client.list(name_)), hub::Unavailable);
  EXPECT_TRUE(time_.sleeps().empty());
}

TEST_F(HubClient, TakesNoOtherServerForTheHub) {
  for (const char* body :
       {"<html>", "{}", R"({"sha": "main", "siblings": []})", R"({"sha": 1, "siblings": []})"}) {
    EXPECT_NE(problem_with({200, {}, body}).find("is not a hub's"), std::string::npos) << body;
  }
  const std::string commit(40, 'a');
  const auto look = [&](std::vector<http::Header> headers) {
    const auto client = make_client([&](const auto&) { return http::Response{200, headers, {}}; });
    return problem_of([&] { static_cast<void>(client.look_at(name_, commit, "x")); });
  };
  const http::Header of_commit{"X-Repo-Commit", commit}, hash{"ETag", '"' + commit + '"'};
  EXPECT_NE(look({hash, {"Content-Length", "1"}}).find("not of the commit"), std::string::npos);
  EXPECT_NE(look({of_commit, {"Content-Length", "1"}}).find("no hash"), std::string::npos);
  EXPECT_NE(look({of_commit, {"ETag", "\"../x\""}}).find("no hash"), std::string::npos);
  EXPECT_NE(look({of_commit, hash}).find("no size"), std::string::npos);
  EXPECT_NE(look({of_commit, hash, {"Content-Length", "-1"}}).find("no size"), std::string::npos);
  EXPECT_EQ(look({of_commit, hash, {"Content-Length", "1"}}), "nothing was thrown");
}

TEST_F(HubClient, LeavesOutFilesThatLeadElsewhere) {
  const auto client = make_client([](const auto&) {
    return http::Response{200,
                          {},
                          R"({"sha": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "siblings": [
        {"rfilename": "../x"}, {"rfilename": "/x"}, {"rfilename": "a//b"}, {"rfilename": "ok"},
        {"rfilename": "a/./b"}, {"rfilename": ""}]})"};
  });
  EXPECT_EQ(client.list(name_).files, std::vector<std::string>{"ok"});
}

}  // namespace
}  // namespace seqtrain::tests
