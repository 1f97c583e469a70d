#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/parquet/file.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::parquet {
namespace {

using Names = std::vector<std::string>;

Names names_in(const std::string& feature) {
  return class_names(R"({"info":{"features":{"label":)" + feature + "}}}", "label", "f.parquet");
}

TEST(ClassNames, OfALabelAndOfListsInEachForm) {
  const std::string label = R"({"names":["no","yes"],"_type":"ClassLabel"})";
  EXPECT_EQ(names_in(label), (Names{"no", "yes"}));
  EXPECT_EQ(names_in(R"({"feature":)" + label + R"(,"length":-1,"_type":"Sequence"})"),
            (Names{"no", "yes"}));
  EXPECT_EQ(names_in("[" + label + "]"), (Names{"no", "yes"}));
  EXPECT_EQ(names_in(R"({"names":[1,5],"_type":"ClassLabel"})"), (Names{"1", "5"}));
}

TEST(ClassNames, NoneInOtherMetadata) {
  EXPECT_EQ(names_in(R"({"dtype":"int64","_type":"Value"})"), Names{});
  EXPECT_EQ(names_in(R"({"feature":"int64"})"), Names{});
  EXPECT_EQ(names_in("null"), Names{});
  EXPECT_EQ(names_in("[]"), Names{});
  EXPECT_EQ(class_names("{}", "label", "f"), Names{});
  EXPECT_EQ(class_names(R"({"info":{"features":{"x":{"names":["a"]}}}})", "label", "f"), Names{});
}

TEST(ClassNames, RefusesOtherForms) {
  EXPECT_EQ(tests::refusal([] { (void)class_names("{", "label", "f.parquet"); }).substr(0, 31),
            "f.parquet: metadata huggingface");
  EXPECT_THROW((void)names_in(R"("text")"), InputError);
  EXPECT_THROW((void)names_in(R"({"names":[true]})"), InputError);
  EXPECT_THROW((void)class_names("[]", "label", "f"), InputError);
}

}  // namespace
}  // namespace seqtrain::parquet
