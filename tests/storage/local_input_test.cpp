#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/storage/local_input.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::storage {
namespace {

using tests::problem_of;

TEST(LocalModel, NamesAreOfTheHubUnlessAPathIsMeant) {
  for (const char* name : {"org/model", "bert-base-uncased", "org/model@v1"}) {
    EXPECT_TRUE(is_on_hub(name)) << name;
  }
  for (const char* name : {"checkpoints/typo", "runs/typo", "./typo", "../typo", "/typo"}) {
    EXPECT_FALSE(is_on_hub(name)) << name;
  }
}

TEST(LocalModel, AMisspelledDirectoryIsNoName) {
  for (const char* place : {"checkpoints/typo", "./typo", "../typo", "/no/such", "~/typo"}) {
    EXPECT_EQ(problem_of([&] { demand_directory(place, "model"); }),
              std::string{place} +
                  ": there is no such directory; name an existing directory, or a model on "
                  "the hub, org/name");
  }
}

TEST(LocalModel, AFolderThatIsHereBeginsAPath) {
  const auto folder = std::filesystem::temp_directory_path().filename();
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::temp_directory_path().parent_path());
  EXPECT_FALSE(is_on_hub((folder / "typo").string()));
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace seqtrain::storage
