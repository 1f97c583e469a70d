#pragma once

#include <seqtrain/http/timing.hpp>
#include <seqtrain/s3/open.hpp>
#include <seqtrain/s3/sink.hpp>
#include <seqtrain/storage/bucket_scheme.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the scheme of S3 and of the services that speak as S3.
[[nodiscard]] inline Scheme s3_buckets() {
  return bucket_scheme<s3::Sink>(
      "s3://bucket/path", [](const http::Log& log) { return s3::open_client({.log = log}); });
}

}  // namespace seqtrain::storage
