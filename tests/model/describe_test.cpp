#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/describe.hpp>

namespace seqtrain::model {
namespace {

TEST(Describe, WarnsOfBf16ThatTheDeviceLacks) {
  const c10::Device cpu{c10::kCPU};
  EXPECT_EQ(describe(Precision::fp32, cpu), "Precision: fp32");
  EXPECT_EQ(describe(Precision::fp16, cpu), "Precision: fp16 products, fp32 sums");
  const std::string line = describe(Precision::bf16, cpu);
  EXPECT_TRUE(line.starts_with("Precision: bf16 products")) << line;
  EXPECT_EQ(line.find("warning") == std::string::npos, has_native_bf16()) << line;
  EXPECT_NE(describe(Precision::bf16, c10::Device{c10::kMeta}).find("warning"), std::string::npos);
}

TEST(Describe, CountsLinearMapsThatInt8DoesNotSuit) {
  const c10::Device cpu{c10::kCPU};
  EXPECT_EQ(describe(Precision::int8, cpu).find("; bf16 for"), std::string::npos);
  EXPECT_NE(describe(Precision::int8, cpu, 3).find("; bf16 for 3 of the linear layers"),
            std::string::npos);
}

TEST(Describe, NamesWhatIsNewAndWhatIsLeftOut) {
  EXPECT_EQ(describe(LoadReport{}), "");
  EXPECT_EQ(describe({.fresh = {"a", "b"}, .left_out = {"c"}}),
            "New, not in the checkpoint: a, b\nLeft out of the checkpoint: c\n");
  EXPECT_EQ(describe({.wrapper = "module."}),
            "All names in the checkpoint begin with module., which is left out\n");
  const std::vector<std::string> many(100'000, "name");
  const std::string line = describe({.left_out = many});
  EXPECT_LT(line.size(), 400U);
  EXPECT_NE(line.find("name, name and 99950 more\n"), std::string::npos) << line;
  EXPECT_EQ(describe({.resized = {"d"}}), "New, of other sizes in the checkpoint: d\n");
}

}  // namespace
}  // namespace seqtrain::model
