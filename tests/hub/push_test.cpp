#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/push.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

using Contents = std::map<std::string, std::string>;

class HubPush : public HubFixture {
 protected:
  HubPush() {
    for (const auto& [path, content] : model_) put(path, content);
  }

  std::filesystem::path folder() const { return directory_ / "model"; }
  void put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((folder() / path).parent_path());
    write_file(folder() / path, content);
  }
  std::string push(const hub::Client& client, const hub::PushOptions& options = {}) const {
    return hub::push_folder(client, hub::Name::parse("org/new"), folder(), options);
  }
  std::string push() {
    const auto client = make_client("hf_write");
    const auto commit = push(client);
    seen_ = transport_->seen();
    return commit;
  }
  std::string problem(const hub::Client& client) const {
    return problem_of([&] { push(client); });
  }
  /// Returns the problem if requests whose targets contain `part` are answered so.
  std::string problem_with(const http::Response& response, const std::string& part) {
    return problem(make_client(
        [&](const FakeTransport::Seen& seen) {
          return seen.target.find(part) == std::string::npos ? answer(seen) : response;
        },
        "hf_write"));
  }
  int count(std::string_view method) const {
    int found = 0;
    for (const auto& seen : seen_) found += seen.method == method ? 1 : 0;
    return found;
  }

  std::vector<FakeTransport::Seen> seen_;  // requests of the last push

  /// Returns the files of the repository without those that the hub itself added.
  Contents pushed() {
    auto files = hub_.files_of("models/org/new");
    files.erase(".gitattributes");
    return files;
  }

  const Contents model_{{"README.md", "# A model"},
                        {"config.json", "{}"},
                        {"empty.txt", ""},
                        {"model.safetensors", std::string(1000, 'w')},
                        {"folder/small.bin", "small"},
                        {"tokenizer.json", std::string("{\"\0\xff\"}", 6)}};
};

TEST_F(HubPush, CreatesTheRepositoryAndMakesOneCommit) {
  const auto commit = push();
  EXPECT_EQ(pushed(), model_);
  EXPECT_EQ(hub_.commits_of("models/org/new"), 2U);  // the first is the hub's own
  const auto name = hub::Name::parse("org/new");
  EXPECT_EQ(make_client().list(name).commit, commit);
  EXPECT_TRUE(hub_.private_ones().empty());
}

TEST_F(HubPush, SendsNothingTwice) {
  const auto commit = push();
  EXPECT_EQ(push(), commit);
  EXPECT_EQ(count("PUT"), 0);
  EXPECT_EQ(hub_.commits_of("models/org/new"), 2U);
  put("config.json", R"({"changed": 1})");
  EXPECT_NE(push(), commit);
  EXPECT_EQ(count("PUT"), 0);
  const auto body = seen_.back().body;
  EXPECT_NE(body.find("config.json"), std::string::npos);
  EXPECT_EQ(body.find("README.md"), std::string::npos);
  EXPECT_EQ(pushed().at("config.json"), R"({"changed": 1})");
}

TEST_F(HubPush, KeepsOtherFilesOfTheRepository) {
  hub_.commit("models/org/new", {{"LICENSE", "mine"}, {"config.json", "old"}});
  push();
  auto expected = model_;
  expected["LICENSE"] = "mine";
  EXPECT_EQ(pushed(), expected);
}

TEST_F(HubPush, CreatesAPrivateOne) {
  push(make_client("hf_write"), {.is_private = true});
  EXPECT_TRUE(hub_.private_ones().contains("org/new"));
}

TEST_F(HubPush, TellsTheSizeOnce) {
  std::string told;
  push(make_client("hf_write"), {.tell = [&](std::string_view line) { told += line; }});
  EXPECT_EQ(told, "Pushing 6 files of 0 MB to org/new");
}

TEST_F(HubPush, GivesTheTokenToTheHubAlone) {
  hub_.part_from = 500;
  push();
  EXPECT_GT(count("PUT"), 2);
  for (const auto& seen : seen_) {
    const bool hub = seen.origin == "https://hub.test";
    EXPECT_EQ(seen.header("Authorization"), hub ? "Bearer hf_write" : "") << seen.target;
  }
}

TEST_F(HubPush, WritesToARepositoryThatItMayNotCreate) {
  hub_.commit("models/org/new", {{"config.json", "old"}});
  push(make_client(
      [&](const FakeTransport::Seen& seen) {
        return seen.target == "/api/repos/create" ? http::Response{403} : answer(seen);
      },
      "hf_write"));
  EXPECT_EQ(pushed(), model_);
}

TEST_F(HubPush, WaitsForAnotherCreation) {
  int refusals = 2;
  const auto client = make_client(
      [&](const FakeTransport::Seen& seen) {
        if (seen.target != "/api/repos/create" || refusals-- == 0) return answer(seen);
        return http::Response{
            409, {}, "Cannot create repo: another conflicting operation is in progress"};
      },
      "hf_write");
  push(client);
  EXPECT_EQ(pushed(), model_);
}

TEST_F(HubPush, CommitsOnTopOfAnotherCommit) {
  bool first = true;
  push(make_client(
      [&](const FakeTransport::Seen& seen) {
        if (seen.target.find("/commit/") != std::string::npos && std::exchange(first, false)) {
          hub_.commit("models/org/new", {{"README.md", "theirs"}, {"LICENSE", "theirs"}});
        }
        return answer(seen);
      },
      "hf_write"));
  auto expected = model_;
  expected["LICENSE"] = "theirs";
  EXPECT_EQ(pushed(), expected);
}

TEST_F(HubPush, SaysWhyItMayNot) {
  hub_.owners = {"me"};
  EXPECT_EQ(problem(make_client("hf_write")),
            "org/new: the hub does not allow this: You don't have the rights to create a model "
            "there; see HF_TOKEN and https://hub.test/org/new");
  hub_.commit("models/org/new", {{"config.json", "theirs"}});
  EXPECT_NE(problem(make_client("hf_write")).find("does not allow this: no write access"),
            std::string::npos);
  EXPECT_NE(problem(make_client("hf_old")).find("the hub does not accept the token"),
            std::string::npos);
  EXPECT_EQ(pushed(), (Contents{{"config.json", "theirs"}}));
}

TEST_F(HubPush, SaysWhatTheHubRefuses) {
  EXPECT_NE(problem_with({409, {}, "{}"}, "/commit/").find("always has a newer one"),
            std::string::npos);
  EXPECT_NE(problem_with({412, {}, "{}"}, "/commit/").find("always has a newer one"),
            std::string::npos);
  EXPECT_NE(problem_with({400, {}, R"({"error": "Invalid metadata\nin README.md"})"}, "/commit/")
                .find("the hub answered 400: Invalid metadata in README.md"),
            std::string::npos);
  EXPECT_NE(problem_with({403, {}, R"({"error": "storage limit reached"})"}, "/commit/")
                .find("the hub does not allow this: storage limit reached"),
            std::string::npos);
  EXPECT_NE(problem_with({413}, "/batch").find("the hub answered 413"), std::string::npos);
  for (const char* part : {"/revision/", "/preupload/", "/batch", "/commit/"}) {
    for (const char* body : {"<html>", "{}", "[]", R"({"sha": "x", "commitOid": "x"})",
                             R"({"files": [{"path": "config.json", "uploadMode": "x"}]})",
                             R"({"files": [], "objects": [1]})"}) {
      const std::string text = problem_with({200, {}, body}, part);
      EXPECT_NE(text.find("is not a hub's"), std::string::npos) << part << body << text;
    }
  }
  EXPECT_TRUE(pushed().empty());
}

/// The way in which a request fails.
enum class Failing { before, after, busy, broken, refused };

/// A hub that fails the request with this number, or all from it on.
class HubPushFaults : public HubPush {
 protected:
  HubPushFaults() { hub_.part_from = 500; }  // the weights are sent in four parts

  http::Response fail(Failing how, const FakeTransport::Seen& seen) {
    if (how == Failing::after) static_cast<void>(answer(seen));
    if (how == Failing::before || how == Failing::after) throw http::TransportError{"broken off"};
    return {how == Failing::busy ? 429 : how == Failing::broken ? 500 : 403};
  }
  hub::Client failing_client(std::size_t at, Failing how, bool for_ever) {
    return make_client(
        [this, at, how, for_ever, number = std::size_t{0}](const auto& seen) mutable {
          const auto now = number++;
          return now == at || (for_ever && now > at) ? fail(how, seen) : answer(seen);
        },
        "hf_write");
  }

  /// Pushes with that failure, then without one. Checks after each what the hub has.
  void try_push(std::size_t at, Failing how, bool for_ever) {
    SCOPED_TRACE(std::to_string(at) + " " + std::to_string(static_cast<int>(how)));
    hub_.erase("models/org/new");
    files_.clear();
    bool done = true;
    try {
      push(failing_client(at, how, for_ever));
    } catch (const Error&) {
      done = false;
    }
    EXPECT_TRUE(pushed() == model_ || (pushed().empty() && !done));
    // A single failure other than a refusal is overcome.
    EXPECT_TRUE(done || for_ever || how == Failing::refused);
    push();
    EXPECT_EQ(pushed(), model_);
    EXPECT_EQ(hub_.commits_of("models/org/new"), 2U);
  }
};

TEST_F(HubPushFaults, LeaveTheWholeCommitOrNone) {
  push();
  const auto requests = seen_.size();
  EXPECT_EQ(requests, 13U);
  for (std::size_t at = 0; at < requests; ++at) {
    for (const auto how :
         {Failing::before, Failing::after, Failing::busy, Failing::broken, Failing::refused}) {
      try_push(at, how, false);
      try_push(at, how, true);
    }
  }
}

TEST_F(HubPushFaults, AreOvercomeIfTheStorageRefusesOnce) {
  push();
  const auto seen = std::exchange(seen_, {});
  for (std::size_t at = 0; at < seen.size(); ++at) {
    const bool storage = seen[at].origin != "https://hub.test" ||
                         seen[at].target.find("complete") != std::string::npos ||
                         seen[at].target.find("verify") != std::string::npos;
    if (!storage) continue;
    hub_.erase("models/org/new");
    files_.clear();
    push(failing_client(at, Failing::refused, false));
    EXPECT_EQ(pushed(), model_) << at;
  }
}

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
