#include <chrono>

#include <gtest/gtest.h>

#include <seqtrain/core/timestamp.hpp>

namespace seqtrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

TEST(Iso8601, IsInUtc) {
  EXPECT_EQ(iso8601(system_clock::time_point{milliseconds{0}}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(iso8601(system_clock::time_point{milliseconds{1'769'850'300'250}}),
            "2026-01-31T09:05:00.250Z");
  EXPECT_EQ(iso8601(system_clock::time_point{milliseconds{-1}}), "1969-12-31T23:59:59.999Z");
}

TEST(Dated, SortsAsTimeDoes) {
  const system_clock::time_point time{milliseconds{1'769'850'300'250}};
  const auto text = dated(time);
  EXPECT_EQ(text.size(), 15U);
  EXPECT_EQ(text[8], '_');
  EXPECT_LT(text, dated(time + std::chrono::hours{25}));
}

}  // namespace
}  // namespace seqtrain
