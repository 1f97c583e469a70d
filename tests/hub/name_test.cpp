#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/name.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::hub {
namespace {

TEST(HubName, HasAnOwnerAndARevision) {
  const auto name = Name::parse("FacebookAI/roberta-base@refs/pr/1");
  EXPECT_EQ(name.id, "FacebookAI/roberta-base");
  EXPECT_EQ(name.revision, "refs/pr/1");
  EXPECT_EQ(name.text(), "FacebookAI/roberta-base@refs/pr/1");
  EXPECT_EQ(name.folder(), "models--FacebookAI--roberta-base");
  EXPECT_EQ(Name::parse("org/name").text(), "org/name");
  EXPECT_EQ(Name::parse("org/name").revision, "main");
}

TEST(HubName, MayBeAnOldOneWithoutOwner) {
  EXPECT_EQ(Name::parse("bert-base-uncased").folder(), "models--bert-base-uncased");
  EXPECT_EQ(Name::parse("nyu-mll/multi_nli", Kind::dataset).folder(),
            "datasets--nyu-mll--multi_nli");
}

TEST(HubName, IsRefusedIfTheHubHasNoneLikeIt) {
  for (const char* text : {"",
                           "a/b/c",
                           "/a",
                           "a/",
                           "./a",
                           "../a",
                           "a/..",
                           "a--b",
                           "a/b.git",
                           "-a/b",
                           "a b",
                           "gs://a/b",
                           "~/a",
                           "org/name@",
                           "org/name@../../x",
                           "org/name@a b",
                           "org/name@a@b",
                           "org/name@/x",
                           "org/name@.hidden",
                           "org/name@a//b",
                           "\xc3\xbc/b",
                           "a\nb"}) {
    EXPECT_FALSE(Name::fits(text)) << text;
    EXPECT_THROW(Name::parse(text), InputError) << text;
  }
  EXPECT_FALSE(Name::fits(std::string(97, 'a')));
  EXPECT_FALSE(Name::fits("a@" + std::string(201, 'a')));
  EXPECT_TRUE(Name::fits("a.b-c_d/E.0@v1.0+x"));
}

TEST(HubName, KnowsACommit) {
  EXPECT_TRUE(is_commit("c9745ed1d9f207416be6d2e6f8de32d1f16199bf"));
  EXPECT_FALSE(is_commit("c9745ed"));
  EXPECT_FALSE(is_commit("C9745ED1D9F207416BE6D2E6F8DE32D1F16199BF"));
}

}  // namespace
}  // namespace seqtrain::hub

namespace seqtrain::tests {
namespace {

TEST(HubDatasetName, HasAConfigAndARevision) {
  const auto name = hub::DatasetName::parse("nyu-mll/glue:sst2@v1");
  EXPECT_EQ(name.repository.id, "nyu-mll/glue");
  EXPECT_EQ(name.repository.revision, "v1");
  EXPECT_EQ(name.repository.folder(), "datasets--nyu-mll--glue");
  EXPECT_EQ(name.config, "sst2");
  EXPECT_EQ(name.text(), "nyu-mll/glue:sst2@v1");
}

TEST(HubDatasetName, NeedsNeither) {
  for (const char* text : {"imdb", "nyu-mll/multi_nli", "glue:sst2", "imdb@refs/convert/parquet"}) {
    EXPECT_EQ(hub::DatasetName::parse(text).text(), text);
  }
  EXPECT_EQ(hub::DatasetName::parse("imdb@main").text(), "imdb");
}

TEST(HubDatasetName, RefusesWhatIsNone) {
  for (const char* text :
       {"", ":", "a:", "a:b/c", "a:b c", ":b", "../a:b", "a:b@", "a:b@..", "a@b:c"}) {
    EXPECT_NE(problem_of([&] { hub::DatasetName::parse(text); }).find("org/name"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace seqtrain::tests
