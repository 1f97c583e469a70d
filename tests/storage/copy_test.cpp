#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/storage/copy.hpp>

#include "support/environment.hpp"
#include "support/fake_s3.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

using namespace tests;
namespace fs = std::filesystem;

/// A directory, in which places are paths.
struct Local {
  TemporaryDirectory directory;

  [[nodiscard]] std::string at(const std::string& name) const {
    return (directory.path() / name).string();
  }
  void write(const std::string& name, const std::string& text) const {
    create_folder_of(at(name));
    write_file(at(name), text);
  }
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const {
    if (!fs::is_regular_file(at(name))) return {};
    return read_file(at(name));
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator{directory.path()}) {
      files += entry.is_regular_file() ? 1 : 0;
    }
    return files;
  }
};

/// The bucket of a service that the environment names.
template <class Server, class Service>
struct Bucket {
  Server server;
  std::string scheme;

  [[nodiscard]] std::string at(const std::string& name) const { return scheme + name; }
  void write(const std::string& name, const std::string& text) { server.service.write(name, text); }
  [[nodiscard]] std::optional<std::string> read(const std::string& name) {
    return server.service.read(name);
  }
  [[nodiscard]] std::size_t count() { return server.service.objects(); }
};

struct Google : Bucket<FaultServer, FakeStorage> {
  Google() { scheme = "gs://bucket/"; }
  tests::Environment emulator{"STORAGE_EMULATOR_HOST", "127.0.0.1:" + server.port()};
};

struct Amazon : Bucket<FaultyServer<FakeS3>, FakeS3> {
  Amazon() { scheme = "s3://bucket/"; }
  tests::Environment endpoint{"AWS_ENDPOINT_URL", "http://127.0.0.1:" + server.port()};
  tests::Environment anonymous{"AWS_NO_SIGN_REQUEST", "YES"};
  tests::Environment config{"AWS_CONFIG_FILE", "/nonexistent"};
  tests::Environment credentials{"AWS_SHARED_CREDENTIALS_FILE", "/nonexistent"};
};

template <class S>
class AStorage : public testing::Test {
 protected:
  S storage;
  Trees trees{Options{log::Log{}}};

  std::vector<std::string> names(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& file : list_files(storage.at(folder), trees)) names.push_back(file.name);
    return names;
  }
  std::string problem(const std::function<void()>& action) {
    EXPECT_THROW(action(), InputError);
    return problem_of(action);
  }
};
using Storages = testing::Types<Local, Google, Amazon>;
TYPED_TEST_SUITE(AStorage, Storages);

TYPED_TEST(AStorage, ListsAFileOrAllFilesBelowAFolder) {
  this->storage.write("a/1", "one");
  this->storage.write("a/b/2", "two!");
  this->storage.write("ab/3", "other");
  EXPECT_EQ(this->names("a"), (std::vector<std::string>{"1", "b/2"}));
  EXPECT_EQ(this->names("a/"), (std::vector<std::string>{"1", "b/2"}));
  EXPECT_EQ(this->names("a/1"), std::vector<std::string>{"1"});
  const auto files = list_files(this->storage.at("a"), this->trees);
  EXPECT_EQ(files[1].place, this->storage.at("a/b/2"));
  EXPECT_EQ(files[1].size, 4U);
}

TYPED_TEST(AStorage, HasNothingToListWhereNothingIs) {
  this->storage.write("ab/3", "other");
  for (const std::string name : {"a", "a/", "ab/3/4", "b"}) {
    EXPECT_THROW((void)this->names(name), http::NotFound) << name;
  }
}

TYPED_TEST(AStorage, PrintsFiles) {
  std::string large(300'000, 'x');
  large.back() = 'y';
  this->storage.write("a/1", large);
  this->storage.write("a/empty", "");
  std::ostringstream out;
  print(this->storage.at("a/empty"), this->trees, out);
  print(this->storage.at("a/1"), this->trees, out);
  EXPECT_EQ(out.str(), large);
  const auto print_folder = [&] { print(this->storage.at("a"), this->trees, out); };
  EXPECT_NE(this->problem(print_folder).find("is a folder"), std::string::npos);
  EXPECT_THROW(print(this->storage.at("absent"), this->trees, out), http::NotFound);
}

TYPED_TEST(AStorage, RemovesAFileAndNothingElse) {
  for (const auto* name : {"a", "ab", "a.txt", "b/a", "c/1"}) this->storage.write(name, "text");
  remove(this->storage.at("a"), this->trees, false);
  EXPECT_FALSE(this->storage.read("a"));
  EXPECT_EQ(this->storage.count(), 4U);
  const auto remove_folder = [&] { remove(this->storage.at("c"), this->trees, false); };
  EXPECT_NE(this->problem(remove_folder).find("is a folder; -r"), std::string::npos)
      << this->problem(remove_folder);
  for (const bool recursive : {false, true}) {
    EXPECT_THROW(remove(this->storage.at("a"), this->trees, recursive), http::NotFound);
  }
  EXPECT_EQ(this->storage.count(), 4U);
}

TYPED_TEST(AStorage, RemovesAFolderAndNothingElse) {
  for (const auto* name : {"a/1", "a/b/2", "ab/3", "a.txt"}) this->storage.write(name, "text");
  int asked = 0;
  remove(this->storage.at("a"), this->trees, true, [&] { ++asked; });
  EXPECT_GE(asked, 1);
  EXPECT_EQ(this->storage.count(), 2U);
  EXPECT_TRUE(this->storage.read("ab/3"));
  EXPECT_TRUE(this->storage.read("a.txt"));
  remove(this->storage.at("ab/"), this->trees, true);
  EXPECT_EQ(this->storage.count(), 1U);
  remove(this->storage.at("a.txt"), this->trees, true);
  EXPECT_EQ(this->storage.count(), 0U);
}

TYPED_TEST(AStorage, RemovesNothingMoreAfterAStop) {
  for (const auto* name : {"a/1", "a/2", "a/3"}) this->storage.write(name, "text");
  const auto stop = [] { throw Error{"stopped"}; };
  EXPECT_THROW(remove(this->storage.at("a"), this->trees, true, stop), Error);
  EXPECT_EQ(this->storage.count(), 3U);
}

/// Copies go between each two storages.
template <class Pair>
class Copies : public testing::Test {
 protected:
  std::unique_ptr<typename Pair::first_type> other = std::make_unique<typename Pair::first_type>();
  /// The same storage twice is one with two folders.
  std::unique_ptr<typename Pair::second_type> second =
      std::is_same_v<typename Pair::first_type, typename Pair::second_type>
          ? nullptr
          : std::make_unique<typename Pair::second_type>();
  Trees trees{Options{log::Log{}}};

  auto& from() { return *other; }
  auto& to() {
    if constexpr (std::is_same_v<typename Pair::first_type, typename Pair::second_type>) {
      return *other;
    } else {
      return *second;
    }
  }
};
template <class From, class To>
using P = std::pair<From, To>;
using Pairs = testing::Types<P<Local, Local>, P<Local, Google>, P<Local, Amazon>, P<Google, Local>,
                             P<Google, Google>, P<Google, Amazon>, P<Amazon, Local>,
                             P<Amazon, Google>, P<Amazon, Amazon>>;
TYPED_TEST_SUITE(Copies, Pairs);

TYPED_TEST(Copies, AreComplete) {
  const std::string large = std::string(20'000'000, 'x') + "y";
  this->from().write("from/large", large);
  this->from().write("from/empty", "");
  std::uint64_t last = 0, all = 0;
  const auto progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GE(done, last);
    last = done;
    all = total;
  };
  copy(this->from().at("from/large"), this->to().at("to/renamed"), this->trees,
       {.progress = progress});
  EXPECT_EQ(this->to().read("to/renamed"), large);
  EXPECT_LE(last, all);
  EXPECT_EQ(all % large.size(), 0U);
  copy(this->from().at("from/empty"), this->to().at("to/"), this->trees);
  EXPECT_EQ(this->to().read("to/empty"), "");
}

TYPED_TEST(Copies, TakeAllFilesBelowAFolder) {
  for (const auto* name : {"from/1", "from/b c/ü", "from/b c/100%", "fromage/2"}) {
    this->from().write(name, name);
  }
  const auto before = this->to().count();
  copy(this->from().at("from"), this->to().at("to"), this->trees, {.recursive = true});
  EXPECT_EQ(this->to().count(), before + 3);
  EXPECT_EQ(this->to().read("to/1"), "from/1");
  EXPECT_EQ(this->to().read("to/b c/ü"), "from/b c/ü");
  EXPECT_EQ(this->to().read("to/b c/100%"), "from/b c/100%");
}

TYPED_TEST(Copies, OfNothingAreWrongInput) {
  this->from().write("from/1", "text");
  const auto before = this->to().count();
  for (const bool recursive : {false, true}) {
    const auto copy_absent = [&] {
      copy(this->from().at("fro"), this->to().at("to"), this->trees, {.recursive = recursive});
    };
    EXPECT_THROW(copy_absent(), http::NotFound);
  }
  const auto copy_folder = [&] { copy(this->from().at("from"), this->to().at("to"), this->trees); };
  EXPECT_NE(problem_of(copy_folder).find("-r copies all files below it"), std::string::npos);
  EXPECT_EQ(this->to().count(), before);
}

TYPED_TEST(Copies, ThatAreStoppedLeaveNothingHalfWritten) {
  const std::string large = std::string(20'000'000, 'x');
  for (const auto* name : {"from/1", "from/2"}) this->from().write(name, large);
  const auto before = this->to().count();
  const auto stop_within = [](std::uint64_t done, std::uint64_t total) {
    if (done > total / 3) throw Error{"stopped"};
  };
  EXPECT_THROW(copy(this->from().at("from"), this->to().at("to"), this->trees,
                    {.recursive = true, .progress = stop_within}),
               Error);
  EXPECT_LE(this->to().count(), before + 1);
  EXPECT_FALSE(this->to().read("to/2"));
  EXPECT_EQ(this->to().read("to/1").value_or(large), large);
}

TEST(StoppedCopies, AbortTheirUploads) {
  Local local;
  Amazon amazon;
  local.write("large", std::string(50'000'000, 'x'));
  Trees trees{Options{log::Log{}}};
  const auto stop_within = [](std::uint64_t done, std::uint64_t) {
    if (done > 0) throw Error{"stopped"};
  };
  EXPECT_THROW(copy(local.at("large"), amazon.at("large"), trees, {.progress = stop_within}),
               Error);
  EXPECT_EQ(amazon.count(), 0U);
  EXPECT_EQ(amazon.server.service.open_uploads(), 0U);
}

TEST(LocalCopies, LeaveNoPartialFileIfTheyAreStopped) {
  Local local;
  local.write("large", std::string(20'000'000, 'x'));
  Trees trees{Options{log::Log{}}};
  const auto stop_within = [](std::uint64_t done, std::uint64_t) {
    if (done > 0) throw Error{"stopped"};
  };
  EXPECT_THROW(copy(local.at("large"), local.at("copy"), trees, {.progress = stop_within}), Error);
  EXPECT_EQ(local.count(), 1U);
}

TEST(CopiesToADirectory, RefuseNamesThatNoFileCanHave) {
  for (const std::string name : {"a//b", "a/1/2"}) {
    Google google;
    Local local;
    google.write("a/1", "text");
    google.write(name, "text");
    Trees trees{Options{log::Log{}}};
    EXPECT_THROW(copy(google.at("a"), local.at("to"), trees, {.recursive = true}), InputError);
    EXPECT_EQ(local.count(), 0U);
  }
}

TEST(CopiesToADirectory, ReplaceNothingButFiles) {
  Local local;
  local.write("a/1", "text");
  local.write("a/2", "text");
  local.write("to/2/3", "text");
  Trees trees{Options{log::Log{}}};
  EXPECT_THROW(copy(local.at("a"), local.at("to"), trees, {.recursive = true}), InputError);
  EXPECT_FALSE(local.read("to/1"));
}

TEST(CopiesOfAFolder, RefuseAFileOfTheSameName) {
  Google google;
  Local local;
  google.write("a", "text");
  google.write("a/1", "text");
  Trees trees{Options{log::Log{}}};
  EXPECT_THROW(copy(google.at("a"), local.at("to"), trees, {.recursive = true}), InputError);
  copy(google.at("a/"), local.at("to"), trees, {.recursive = true});
  EXPECT_EQ(local.count(), 1U);
}

TEST(CopiesOfManyFiles, ThatFailLaterAreNoWrongInput) {
  Local local;
  Google google;
  local.write("from/1", "text");
  local.write("from/2", "text");
  google.server.script({.kind = Fault::answer, .method = "POST", .skip = 1, .response = {403}});
  Trees trees{Options{log::Log{}}};
  try {
    copy(local.at("from"), google.at("to"), trees, {.recursive = true});
    FAIL() << "was not refused";
  } catch (const InputError& error) {
    FAIL() << error.what();
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("storage.objects.create"), std::string::npos);
  }
  EXPECT_EQ(google.count(), 1U);
}

TEST(LinksInADirectory, AreFollowedForCopiesAndRemovedAlone) {
  Local local;
  local.write("elsewhere/1", "text");
  local.write("a/2", "text");
  fs::create_directory_symlink(local.at("elsewhere"), local.at("a/link"));
  Trees trees{Options{log::Log{}}};
  copy(local.at("a"), local.at("to"), trees, {.recursive = true});
  EXPECT_EQ(local.read("to/link/1"), "text");
  remove(local.at("a/link/"), trees, true);
  EXPECT_TRUE(local.read("elsewhere/1"));
  fs::create_directory_symlink(local.at("elsewhere"), local.at("a/link"));
  remove(local.at("a"), trees, true);
  EXPECT_FALSE(fs::exists(local.at("a")));
  EXPECT_TRUE(local.read("elsewhere/1"));
}

TEST(TheCurrentDirectory, IsNotRemoved) {
  Trees trees{Options{log::Log{}}};
  for (const std::string place : {".", "..", "/", "./"}) {
    EXPECT_NE(problem_of([&] { remove(place, trees, true); }).find("holds the current directory"),
              std::string::npos)
        << place;
  }
}

TEST(Trees, RefuseWhatNoStorageServes) {
  Trees trees{Options{log::Log{}}};
  EXPECT_EQ(problem_of([&] { (void)trees.of("az://bucket/a", Use::source); }),
            "az://bucket/a: is not in a storage that is known here; name a local path, "
            "gs://bucket/path, s3://bucket/path or org/name on the hub");
  EXPECT_EQ(problem_of([&] { (void)trees.of("az://bucket/a", Use::target); }),
            "az://bucket/a: is not in a storage that is known here; name a local path, "
            "gs://bucket/path or s3://bucket/path");
  EXPECT_TRUE(trees.of("org/name", Use::target).is_local());
  EXPECT_FALSE(trees.of("org/name", Use::source).is_local());
  EXPECT_TRUE(trees.of("name", Use::source).is_local());
}

}  // namespace
}  // namespace seqtrain::storage
