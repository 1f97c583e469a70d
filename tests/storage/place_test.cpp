#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/storage/place.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::storage {
namespace {

using tests::problem_of;

TEST(Place, IsANameOnTheHubUnlessAPathIsMeant) {
  for (const char* name : {"org/model", "bert-base-uncased", "org/model@v1"}) {
    EXPECT_TRUE(is_on_hub(name)) << name;
  }
  for (const char* name : {"checkpoints/typo", "runs/typo", "./typo", "../typo", "/typo"}) {
    EXPECT_FALSE(is_on_hub(name)) << name;
  }
}

TEST(Place, AMisspelledDirectoryIsNoName) {
  for (const char* place : {"checkpoints/typo", "./typo", "../typo", "/no/such", "~/typo"}) {
    EXPECT_EQ(problem_of([&] { demand_directory(place, "model"); }),
              std::string{place} +
                  ": there is no such directory; name an existing directory, or a model on "
                  "the hub, org/name");
  }
}

TEST(Place, AFolderThatIsHereBeginsAPath) {
  const auto folder = std::filesystem::temp_directory_path().filename();
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::temp_directory_path().parent_path());
  EXPECT_FALSE(is_on_hub((folder / "typo").string()));
  std::filesystem::current_path(before);
}

TEST(Place, IsAnAddressIfItBeginsWithAScheme) {
  for (const char* place :
       {"gs://bucket/a", "az://b", "HTTPS://host/a,b", "git+ssh://host", "a://"}) {
    EXPECT_TRUE(is_address(place)) << place;
  }
  for (const char* place : {"", "-", "runs/one", "/a", "org/name@v1", "dir:config", "://a",
                            "1s://a", "a/b://c", "a,gs://b", "gs:/b", "gs"}) {
    EXPECT_FALSE(is_address(place)) << place;
  }
}

TEST(Place, AnAddressIsNoLocalDirectory) {
  demand_local("runs/one", "--work-dir", "see --model-dir");
  EXPECT_EQ(problem_of([] { demand_local("az://b/one", "--work-dir", "see --model-dir"); }),
            "--work-dir: must be a local directory; see --model-dir");
}

TEST(Place, HasItsNameOnTheHubWithoutTheRevision) {
  EXPECT_EQ(name_on_hub("org/model@v1"), "org/model");
  EXPECT_EQ(name_on_hub("./model"), "");
  EXPECT_EQ(name_on_hub("gs://bucket/model"), "");
}

}  // namespace
}  // namespace seqtrain::storage
