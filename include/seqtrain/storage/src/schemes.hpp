#pragma once

#include <vector>

#include <seqtrain/storage/schemes.hpp>
#include <seqtrain/storage/schemes/google.hpp>
#include <seqtrain/storage/schemes/hub.hpp>
#include <seqtrain/storage/schemes/s3.hpp>

namespace seqtrain::storage {

[[nodiscard]] SEQTRAIN_SEPARATE const std::vector<Scheme>& known_schemes() {
  static const std::vector<Scheme> known{
      google_buckets(),
      s3_buckets(),
      hub_models(),
  };
  return known;
}

}  // namespace seqtrain::storage
