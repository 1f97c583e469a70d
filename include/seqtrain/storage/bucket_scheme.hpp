#pragma once

#include <memory>
#include <string>
#include <utility>

#include <seqtrain/buckets/cache.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/storage/bucket_tree.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the scheme of a cloud's buckets. `S` is the cloud's sink, and open(log) returns a client
/// of the cloud. Copies are kept in the user's cache.
template <class S, class Open>
[[nodiscard]] Scheme bucket_scheme(std::string form, const Open& open) {
  using Client = decltype(open(http::Log{}));
  using Uri = typename Client::Uri;
  return {.form = std::move(form),
          .has = [](const std::string& place) { return Uri::has(place); },
          .open =
              [](const std::string& place, const log::Log& log) {
                return sink::Any{S{place, {.client = {.log = log.warnings()}}}};
              },
          .list =
              [open](const std::string& folder, const log::Log& log) {
                Names names;
                const auto directory = Uri::parse(folder).as_directory();
                const auto client = open(log.warnings());
                client.list(directory, [&](const typename Client::Object& object) {
                  names.insert(object.uri.name.substr(directory.name.size()));
                });
                return names;
              },
          .fetch =
              [open](const std::string& place, const log::Log& log) {
                return buckets::localize(place, cache_directory(),
                                         [&] { return open(log.warnings()); });
              },
          .files =
              [open](const log::Log& log) {
                return std::make_shared<const BucketTree<Client>>(open(log.warnings()));
              }};
}

}  // namespace seqtrain::storage
