#pragma once

#include <memory>
#include <string>

#include <seqtrain/hub/fetch.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/open.hpp>
#include <seqtrain/storage/from_hub.hpp>
#include <seqtrain/storage/hub_tree.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the scheme of models on the hub. A name without `://` means a model there only where a
/// model is asked for; elsewhere it is a local path.
[[nodiscard]] inline Scheme hub_models() {
  return {.form = "org/name on the hub",
          .has = is_on_hub,
          .fetch_model =
              [](const std::string& place, const log::Log& log) {
                return from_hub(
                    log, [&](const auto& client, const auto& cache, const auto& options) {
                      return hub::fetch_model(client, cache, hub::Name::parse(place), options);
                    });
              },
          .files =
              [](const log::Log& log) {
                return std::make_shared<const HubTree>(hub::open_client(log.warnings()));
              }};
}

}  // namespace seqtrain::storage
