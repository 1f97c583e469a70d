#include <gtest/gtest.h>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/discard.hpp>

namespace seqtrain::sink {
namespace {

static_assert(Sink<Discard>);

TEST(Discard, ChecksKeysAsAnySinkDoes) {
  Discard sink;
  EXPECT_NO_THROW(sink.put("dir/name", {}));
  EXPECT_NO_THROW(sink.put_file("dir/name", "file"));
  EXPECT_THROW(sink.put("../name", {}), Error);
  EXPECT_THROW(sink.put_file("", "file"), Error);
}

}  // namespace
}  // namespace seqtrain::sink
