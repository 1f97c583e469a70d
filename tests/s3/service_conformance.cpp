// Runs the conformance suites of sinks and stores over the service that the environment names. Each
// case has a folder of its own in the bucket `bucket`. services_test.py starts this program.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/s3/sink.hpp>

#include "support/sink_conformance.hpp"
#include "support/store_conformance.hpp"

namespace seqtrain::tests {
namespace {

std::string new_folder() {
  static int count = 0;
  return "s3://bucket/conformance/" + std::to_string(++count);
}

/// A store in a service. Its files are sent in parts, or in one request.
template <std::uint64_t one_request_bytes>
struct ServiceSubject {
  /// Reads an object by a client of its own.
  [[nodiscard]] std::optional<std::string> read(std::string_view key) const {
    auto found = s3::Sink{folder}.get(key);
    if (!found) return {};
    return std::move(found->bytes);
  }

  std::string folder = new_folder();
  s3::Sink sink{folder, {.upload = {.one_request_bytes = one_request_bytes}}};
};

using InParts = ServiceSubject<1000>;
using InOneRequest = ServiceSubject<std::uint64_t{8} << 20>;

INSTANTIATE_TYPED_TEST_SUITE_P(InParts, SinkConformance, InParts);
INSTANTIATE_TYPED_TEST_SUITE_P(InParts, StoreConformance, InParts);
INSTANTIATE_TYPED_TEST_SUITE_P(InOneRequest, SinkConformance, InOneRequest);

}  // namespace
}  // namespace seqtrain::tests
