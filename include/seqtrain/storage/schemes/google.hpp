#pragma once

#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/storage/bucket_scheme.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the scheme of Google Cloud Storage.
[[nodiscard]] inline Scheme google_buckets() {
  return bucket_scheme<gcs::Sink>(
      "gs://bucket/path", [](const http::Log& log) { return gcs::open_client({.log = log}); });
}

}  // namespace seqtrain::storage
