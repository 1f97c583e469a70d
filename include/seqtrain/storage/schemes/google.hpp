#pragma once

#include <string>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the scheme of Google Cloud Storage. Copies are kept in the user's cache.
[[nodiscard]] inline Scheme google_buckets() {
  return {.form = "gs://bucket/path",
          .has = begins_with("gs://"),
          .open =
              [](const std::string& place, const log::Log& log) {
                return sink::Any{gcs::Sink{place, {.client = {.log = log.warnings()}}}};
              },
          .list =
              [](const std::string& folder, const log::Log& log) {
                Names names;
                const auto directory = gcs::Uri::parse(folder).as_directory();
                const auto client = gcs::open_client({.log = log.warnings()});
                client.list(directory, [&](const gcs::ObjectInfo& object) {
                  names.insert(object.uri.name.substr(directory.name.size()));
                });
                return names;
              },
          .fetch =
              [](const std::string& place, const log::Log& log) {
                return gcs::localize(place, cache_directory(), log.warnings());
              }};
}

}  // namespace seqtrain::storage
