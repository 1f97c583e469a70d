#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/discard.hpp>

namespace seqtrain::sink {
namespace {

static_assert(Store<Discard>);

TEST(Discard, ChecksKeysAsAnySinkDoes) {
  Discard sink;
  EXPECT_NO_THROW(sink.put("dir/name", {}));
  EXPECT_NO_THROW(sink.put_file("dir/name", "file"));
  EXPECT_THROW(sink.put("../name", {}), Error);
  EXPECT_THROW(sink.put_file("", "file"), Error);
}

TEST(Discard, IsAlwaysEmpty) {
  Discard store;
  store.put("name", {});
  EXPECT_TRUE(store.list("").empty());
  EXPECT_FALSE(store.get("name"));
  EXPECT_FALSE(store.get_file("name", "file"));
  EXPECT_EQ(store.put_if("name", {}, 0), 1);
  EXPECT_NO_THROW(store.remove("name"));
}

}  // namespace
}  // namespace seqtrain::sink
