#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/storage/open.hpp>

#include "support/environment.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

using namespace tests;

const Options known{log::Log{}};

void put(sink::Any store, const std::string& text) {
  store.put("name", std::as_bytes(std::span{text}));
  store.flush();
}

/// Returns a scheme whose places are the folders of a directory.
Scheme shelf(const std::filesystem::path& directory) {
  const auto path = [directory](const std::string& place) { return directory / place.substr(8); };
  return {.form = "shelf://folder",
          .has = begins_with("shelf://"),
          .open = [path](const std::string& place,
                         const log::Log&) { return sink::Any{sink::Directory{path(place)}}; },
          .list =
              [path](const std::string& folder, const log::Log&) {
                const auto keys = sink::Directory{path(folder)}.list("");
                return Names{keys.begin(), keys.end()};
              },
          .fetch = [path](const std::string& place, const log::Log&) { return path(place); }};
}

TEST(Storage, RefusesAnAddressOfNoKnownStorage) {
  for (const std::string place :
       {"az://bucket/path", "https://host/train.csv", "gcs://bucket/path", "GS://bucket/path"}) {
    const std::string problem = place + ": is not in a storage that is known here; name ";
    EXPECT_EQ(problem_of([&] { (void)open(place, known); }),
              problem + "a directory, gs://bucket/path or s3://bucket/path");
    EXPECT_EQ(problem_of([&] { (void)is_local(place, known); }),
              problem + "a directory, gs://bucket/path or s3://bucket/path");
    EXPECT_EQ(problem_of([&] { (void)fetch(place, known); }),
              problem + "a local path, gs://bucket/path or s3://bucket/path");
    EXPECT_EQ(problem_of([&] { (void)find_scheme(place, known, Use::model); }),
              problem + "a directory, gs://bucket/path, s3://bucket/path or org/name on the hub");
    EXPECT_FALSE(is_elsewhere(place, known));
  }
  EXPECT_THROW((void)open("az://bucket/path", known), InputError);
}

TEST(Storage, ListsAProgramsOwnStorageToo) {
  const Options options{log::Log{},
                        {{.form = "tape://reel", .has = begins_with("tape://")},
                         {.form = "shelf://folder",
                          .has = begins_with("shelf://"),
                          .open = [](const std::string&, const log::Log&) {
                            return sink::Any{sink::Directory{"."}};
                          }}}};
  EXPECT_EQ(problem_of([&] { (void)open("az://bucket", options); }),
            "az://bucket: is not in a storage that is known here; name a directory, "
            "shelf://folder, gs://bucket/path or s3://bucket/path");
  EXPECT_EQ(problem_of([&] { (void)open("tape://reel", options); }),
            "tape://reel: is in a storage that takes no results; name a directory, "
            "shelf://folder, gs://bucket/path or s3://bucket/path");
  EXPECT_EQ(problem_of([&] { (void)fetch("shelf://a", options); }),
            "shelf://a: is in a storage without files to fetch; name a local path, "
            "gs://bucket/path or s3://bucket/path");
  EXPECT_EQ(
      problem_of([&] { (void)find_scheme("shelf://a", options, Use::model); }),
      "shelf://a: is in a storage without models to fetch; name a directory, gs://bucket/path, "
      "s3://bucket/path or org/name on the hub");
  EXPECT_TRUE(is_elsewhere("tape://reel", options));
}

TEST(Storage, OfAProgramsOwnTakesResultsAndHasInputs) {
  const TemporaryDirectory directory;
  const Options options{log::Log{}, {shelf(directory.path())}};
  put(open_writable("shelf://runs", options), "text");
  EXPECT_EQ(read_file(directory / "runs/name"), "text");
  EXPECT_FALSE(is_local("shelf://runs", options));
  EXPECT_EQ(fetch("shelf://runs/name", options), directory / "runs/name");
  EXPECT_EQ(open("shelf://runs", options).get("name")->bytes, "text");
}

TEST(Storage, IsAskedBeforeTheKnownOnesIfItIsAProgramsOwn) {
  const TemporaryDirectory directory;
  auto own = shelf(directory.path());
  own.has = begins_with("gs://ab/");
  const Options options{log::Log{}, {std::move(own)}};
  EXPECT_EQ(fetch("gs://ab/name", options), directory / "name");
}

TEST(Storage, IsADirectoryWithoutAnAddress) {
  const TemporaryDirectory directory;
  const std::string place = (directory / "runs").string();
  EXPECT_TRUE(is_local(place, known));
  put(open_writable(place, known), "text");
  EXPECT_EQ(read_file(directory / "runs/name"), "text");
  EXPECT_EQ(fetch(place, known), place);
  EXPECT_EQ(fetch("", known), "");
  EXPECT_EQ(fetch("-", known), "-");
}

TEST(Storage, TakesANameOnTheHubForAModelOnly) {
  EXPECT_EQ(find_scheme("org/name", known, Use::model)->form, "org/name on the hub");
  EXPECT_EQ(find_scheme("./name", known, Use::model), nullptr);
  EXPECT_TRUE(is_local("org/name", known));
  EXPECT_EQ(fetch("org/name", known), "org/name");
  EXPECT_TRUE(is_elsewhere("org/name", known));
}

TEST(FetchAll, CutsBeforeAnAddressOnly) {
  const TemporaryDirectory directory;
  const Options options{log::Log{}, {shelf(directory.path())}};
  const std::string at = directory.path().string() + "/";
  for (const auto& [places, files] : std::vector<std::pair<std::string, std::string>>{
           {"", ""},
           {"a.csv,b.csv", "a.csv,b.csv"},
           {"shelf://a,1.csv", at + "a,1.csv"},
           {"shelf://a,1.csv,shelf://b", at + "a,1.csv," + at + "b"},
           {"a.csv,shelf://b,", "a.csv," + at + "b,"}}) {
    EXPECT_EQ(fetch_all(places, options), files);
  }
  EXPECT_EQ(problem_of([&] { (void)fetch_all("a.csv,az://b", options); }),
            "az://b: is not in a storage that is known here; name a local path, "
            "shelf://folder, gs://bucket/path or s3://bucket/path");
}

}  // namespace
}  // namespace seqtrain::storage
