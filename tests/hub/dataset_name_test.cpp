#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/dataset_name.hpp>

#include "support/problem_of.hpp"

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
