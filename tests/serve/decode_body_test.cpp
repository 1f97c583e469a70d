#include <cstddef>
#include <string>

#include <gtest/gtest.h>
#include <zstd.h>

#include <seqtrain/serve/decode_body.hpp>

#include "support/compressed.hpp"

namespace seqtrain::serve {
namespace {

/// Returns the decoded body, or the status of the refusal.
std::string decoded(const std::string& body, const std::string& coding, std::size_t limit = 100) {
  HttpRequest request{.content_encoding = coding, .body = body};
  try {
    decode_body(request, limit);
    return request.body;
  } catch (const HttpError& refusal) {
    return std::to_string(refusal.status());
  }
}

TEST(DecodeBody, ReadsGzipAndZstd) {
  const std::string text(100, 'a');
  EXPECT_EQ(decoded(text, ""), text);
  EXPECT_EQ(decoded(text, "identity"), text);
  EXPECT_EQ(decoded(tests::gzipped(text), "gzip"), text);
  EXPECT_EQ(decoded(tests::gzipped(text), " X-Gzip "), text);
  EXPECT_EQ(decoded(tests::zstd_compressed(text), "zstd"), text);
  EXPECT_EQ(decoded(tests::zstd_compressed(tests::gzipped(text)), "gzip, zstd"), text);
  EXPECT_EQ(decoded(tests::gzipped(""), "gzip"), "");
  std::string long_text;
  for (int i = 0; i < 50'000; ++i) long_text += std::to_string(i);
  EXPECT_EQ(decoded(tests::gzipped(long_text), "gzip", long_text.size()), long_text);
}

TEST(DecodeBody, StopsAtTheLimit) {
  const std::string large(101, 'a'), bomb(10'000'000, 'a');
  for (const auto& text : {large, bomb}) {
    EXPECT_EQ(decoded(tests::gzipped(text), "gzip"), "413");
    EXPECT_EQ(decoded(tests::zstd_compressed(text), "zstd"), "413");
  }
}

/// Returns a zstd frame whose reader must keep 128 MiB of text.
std::string with_large_window(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 27);
  std::string out(1000, '\0');
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_inBuffer from{text.data(), text.size(), 0}, none{nullptr, 0, 0};
  ZSTD_compressStream2(context, &to, &from, ZSTD_e_continue);
  ZSTD_compressStream2(context, &to, &none, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  out.resize(to.pos);
  return out;
}

TEST(DecodeBody, RefusesAWindowThatTakesMuchMemory) {
  EXPECT_EQ(decoded(with_large_window("text"), "zstd"), "400");
}

TEST(DecodeBody, RefusesOtherCodingsAndDamage) {
  for (const char* coding : {"br", "deflate", "gzip, br", "gzip;q=1", "gzip,gzip,gzip,gzip,gzip"}) {
    EXPECT_EQ(decoded("x", coding), "415") << coding;
  }
  EXPECT_EQ(decoded("no gzip", "gzip"), "400");
  EXPECT_EQ(decoded("", "gzip"), "400");
  const std::string whole = tests::gzipped("some text");
  EXPECT_EQ(decoded(whole.substr(0, whole.size() - 3), "gzip"), "400");
  EXPECT_EQ(decoded(whole + "rest", "gzip"), "400");
}

}  // namespace
}  // namespace seqtrain::serve
