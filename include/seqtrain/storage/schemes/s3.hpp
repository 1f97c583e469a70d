#pragma once

#include <string>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/s3/open.hpp>
#include <seqtrain/s3/sink.hpp>
#include <seqtrain/s3/uri.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the scheme of S3 and of the services that speak as S3. Copies are kept in the user's
/// cache.
[[nodiscard]] inline Scheme s3_buckets() {
  return {.form = "s3://bucket/path",
          .has = begins_with("s3://"),
          .open =
              [](const std::string& place, const log::Log& log) {
                return sink::Any{s3::Sink{place, {.client = {.log = log.warnings()}}}};
              },
          .list =
              [](const std::string& folder, const log::Log& log) {
                Names names;
                const auto directory = s3::Uri::parse(folder).as_directory();
                const auto client = s3::open_client({.log = log.warnings()});
                client.list(directory, [&](const s3::ObjectInfo& object) {
                  names.insert(object.uri.name.substr(directory.name.size()));
                });
                return names;
              },
          .fetch =
              [](const std::string& place, const log::Log& log) {
                return s3::localize(place, cache_directory(), log.warnings());
              }};
}

}  // namespace seqtrain::storage
