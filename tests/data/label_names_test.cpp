#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/label_names.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

using Listed = std::vector<std::string>;

TEST(LabelNames, AreTheLinesOfAFile) {
  const tests::TemporaryDirectory directory;
  const auto file =
      tests::write_file(directory / "classes.txt", "\xEF\xBB\xBFWorld, or all\r\n Sports\nA B");
  EXPECT_EQ(label_names({file.string()}), (Listed{"World, or all", "Sports", "A B"}));
  EXPECT_EQ(label_names({"a", file.string()}), (Listed{"a", file.string()}));
  EXPECT_EQ(label_names({"none.txt"}), Listed{"none.txt"});
  EXPECT_EQ(label_names({directory.path().string()}), Listed{directory.path().string()});
  EXPECT_EQ(label_names({}), Listed{});
}

TEST(LabelNames, RefuseAnEmptyLineAndWhatIsNotUtf8) {
  const tests::TemporaryDirectory directory;
  const auto problem = [&](const std::string& text) {
    const auto file = tests::write_file(directory / "classes.txt", text);
    return tests::problem_of([&] { (void)read_label_names(file); })
        .substr(directory.path().string().size() + 1);
  };
  EXPECT_EQ(problem("a\n\nb\n"), "classes.txt:2: expected the name of a label");
  EXPECT_EQ(problem("a\n\xff\n").substr(0, 33), "classes.txt:2: not valid UTF-8; c");
}

}  // namespace
}  // namespace seqtrain::data
