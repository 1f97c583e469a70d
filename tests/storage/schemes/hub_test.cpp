#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/schemes/hub.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

using namespace tests;

/// A cache of the hub for the test, and no hub.
class HubModels : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  tests::Environment cache_{"HF_HUB_CACHE", directory_.path().string()};
  tests::Environment offline_{"HF_HUB_OFFLINE", "1"};
  const Options options_{log::Log{}};
};

TEST_F(HubModels, AreTakenFromTheCache) {
  const auto repository = directory_ / "models--org--m";
  const std::string commit(40, 'a');
  const auto snapshot = repository / "snapshots" / commit;
  std::filesystem::create_directories(snapshot);
  std::filesystem::create_directories(repository / "refs");
  write_file(repository / "refs/main", commit);
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    write_file(snapshot / name, "{}");
  }
  const auto found = find_model("org/m", options_);
  EXPECT_EQ(found.directory, snapshot);
  EXPECT_EQ(found.place, "org/m");
}

TEST_F(HubModels, TakeNoResults) {
  const auto scheme = hub_models();
  EXPECT_EQ(scheme.open, nullptr);
  EXPECT_EQ(scheme.fetch, nullptr);
}

TEST_F(HubModels, ThatAreNotInTheCacheAreWrongInput) {
  EXPECT_NE(problem_of([&] { find_model("org/absent", options_); }).find("is not in the cache"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::storage
