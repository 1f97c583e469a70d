#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/storage/hub_tree.hpp>

#include "support/hub_fixture.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

using namespace tests;

class HubTrees : public HubFixture {
 protected:
  HubTree tree(bool offline = false) {
    auto transport =
        std::make_unique<FakeTransport>([this](const auto& seen) { return answer(seen); });
    hub::Settings settings{.endpoint = http::Url::parse("https://hub.test", "test"),
                           .cache = directory_.path() / "cache",
                           .offline = offline};
    return HubTree{
        hub::Client{std::move(transport), std::move(settings), {.timing = time_.timing()}}};
  }
};

TEST_F(HubTrees, ListAndCopyTheFilesOfOneCommit) {
  const auto commit = hub_.commit("models/org/m", {{"config.json", "{}"}, {"1_Pooling/a", "abc"}});
  const auto files = tree().list("org/m");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].name, "1_Pooling/a");
  EXPECT_EQ(files[0].place, "org/m@" + commit + "/1_Pooling/a");
  EXPECT_EQ(files[0].size, 3U);
  hub_.commit("models/org/m", {{"1_Pooling/a", "newer"}});
  tree().fetch(files[0], directory_ / "copy", {});
  EXPECT_EQ(read_file(directory_ / "copy"), "abc");
}

TEST_F(HubTrees, AreNotChanged) {
  for (const auto& action : {+[](const HubTree& t) { t.remove("org/m"); },
                             +[](const HubTree& t) { t.remove_all("org/m", [] {}); },
                             +[](const HubTree& t) { t.put("org/m", "file", {}); }}) {
    EXPECT_NE(problem_of([&] { action(tree()); }).find("is on the hub"), std::string::npos);
  }
}

TEST_F(HubTrees, ThatAreMissingAreWrongInput) {
  EXPECT_NE(problem_of([&] { (void)tree().list("org/absent"); }).find("no local file"),
            std::string::npos);
  EXPECT_NE(problem_of([&] { (void)tree(true).list("org/m"); }).find("unset HF_HUB_OFFLINE"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::storage
