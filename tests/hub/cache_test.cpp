#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/cache.hpp>

#include "support/file_size_limit.hpp"
#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

namespace fs = std::filesystem;

class HubCache : public HubFixture {
 protected:
  void fetch(const hub::Client& client, const std::string& path) {
    cache_.fetch(client, name_, commit_, client.look_at(name_, commit_, path));
  }
  [[nodiscard]] fs::path blob(const std::string& hash) const {
    return directory_.path() / "models--org--m/blobs" / hash;
  }

  const std::string large_ = std::string(100'000, 'w');
  const std::string commit_ =
      hub_.commit("models/org/m", {{"x/a.txt", "hello\n"}, {"m.safetensors", large_}});
  const std::string hash_ = hex_digest(EVP_sha256(), large_);
};

TEST_F(HubCache, HasTheLayoutOfThePythonPackage) {
  const auto client = make_client();
  fetch(client, "x/a.txt");
  fetch(client, "m.safetensors");
  const auto folder = directory_ / "models--org--m";
  const std::string git = "ce013625030ba8dba906f756967f9e9ca394464a";
  EXPECT_EQ(fs::read_symlink(folder / "snapshots" / commit_ / "x/a.txt"), "../../../blobs/" + git);
  EXPECT_EQ(fs::read_symlink(folder / "snapshots" / commit_ / "m.safetensors"),
            "../../blobs/" + hash_);
  EXPECT_EQ(read_file(blob(git)), "hello\n");
  EXPECT_EQ(read_file(blob(hash_)), large_);
  EXPECT_TRUE(fs::exists(directory_ / ".locks/models--org--m" / (hash_ + ".lock")));
  EXPECT_TRUE(read_file(directory_ / "CACHEDIR.TAG").starts_with("Signature: 8a477f597d28d172"));
  cache_.remember(name_, commit_);
  EXPECT_EQ(read_file(folder / "refs/main"), commit_);
  EXPECT_EQ(cache_.commit_of(name_), commit_);
  EXPECT_TRUE(cache_.has(name_, commit_, "x/a.txt"));
  EXPECT_FALSE(cache_.has(name_, commit_, "x/b.txt"));
}

TEST_F(HubCache, TakesOnlyACommitForOne) {
  EXPECT_EQ(cache_.commit_of(name_), std::nullopt);
  fs::create_directories(directory_ / "models--org--m/refs");
  write_file(directory_ / "models--org--m/refs/main", "../../../etc");
  EXPECT_EQ(cache_.commit_of(name_), std::nullopt);
  EXPECT_EQ(cache_.commit_of(hub::Name::parse("org/m@" + commit_)), commit_);
}

TEST_F(HubCache, KeepsTheFoldersOfARevision) {
  const auto name = hub::Name::parse("org/m@refs/pr/1");
  cache_.remember(name, commit_);
  EXPECT_EQ(read_file(directory_ / "models--org--m/refs/refs/pr/1"), commit_);
}

TEST_F(HubCache, ContinuesWhatBrokeOff) {
  fs::create_directories(blob("").parent_path());
  write_file(blob(hash_ + ".incomplete"), large_.substr(0, 60'000));
  const auto client = make_client();
  fetch(client, "m.safetensors");
  EXPECT_EQ(transport_->seen().back().header("Range"), "bytes=60000-");
  EXPECT_EQ(read_file(blob(hash_)), large_);
  EXPECT_FALSE(fs::exists(blob(hash_ + ".incomplete")));
}

TEST_F(HubCache, StartsAnewOnWhatIsSomethingElse) {
  for (const std::size_t size : {1'000, 100'000, 100'001}) {
    fs::remove(blob(hash_));
    fs::create_directories(blob("").parent_path());
    write_file(blob(hash_ + ".incomplete"), std::string(size, '?'));
    fetch(make_client(), "m.safetensors");
    EXPECT_EQ(read_file(blob(hash_)), large_) << size;
  }
  EXPECT_NE(log_.find("m.safetensors: arrived with a wrong hash"), std::string::npos) << log_;
}

TEST_F(HubCache, KeepsNothingWithAWrongHash) {
  const auto client = make_client([&](const FakeTransport::Seen& seen) {
    auto response = answer(seen);
    if (seen.origin == "https://files.test") response.body.back() = '?';
    return response;
  });
  EXPECT_NE(problem_of([&] { fetch(client, "m.safetensors"); }).find("does not have the hash"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(blob(hash_)));
  EXPECT_EQ(fs::file_size(blob(hash_ + ".incomplete")), 0U);
  EXPECT_FALSE(cache_.has(name_, commit_, "m.safetensors"));
}

TEST_F(HubCache, LinksWhatAnotherCommitHas) {
  fetch(make_client(), "m.safetensors");
  const auto next = hub_.commit("models/org/m", {{"renamed.safetensors", large_}});
  const auto client = make_client();
  cache_.fetch(client, name_, next, client.look_at(name_, next, "renamed.safetensors"));
  EXPECT_EQ(transport_->seen().size(), 1U);
  EXPECT_EQ(read_file(cache_.snapshot(name_, next) / "renamed.safetensors"), large_);
}

TEST_F(HubCache, ReplacesALinkToNothing) {
  fetch(make_client(), "m.safetensors");
  fs::remove(blob(hash_));
  EXPECT_FALSE(cache_.has(name_, commit_, "m.safetensors"));
  fetch(make_client(), "m.safetensors");
  EXPECT_TRUE(cache_.has(name_, commit_, "m.safetensors"));
}

TEST_F(HubCache, SaysThatTheDiskIsFull) {
  const FileSizeLimit limit{50'000};
  const auto problem = problem_of([&] { fetch(make_client(), "m.safetensors"); });
  EXPECT_NE(problem.find(hash_ + ".incomplete: cannot be written"), std::string::npos) << problem;
}

TEST_F(HubCache, SaysThatItCannotBeMade) {
  const auto file = write_file(directory_ / "file", "");
  const hub::Cache cache{file / "hub"};
  const auto client = make_client();
  const auto problem = problem_of(
      [&] { cache.fetch(client, name_, commit_, client.look_at(name_, commit_, "x/a.txt")); });
  EXPECT_NE(problem.find("HF_HUB_CACHE"), std::string::npos) << problem;
}

}  // namespace
}  // namespace seqtrain::tests
