#pragma once

#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/hub/open.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::storage {

/// Returns `fetch(client, cache, options)`, which takes files from the hub. Progress is logged. If
/// the hub does not have the files or cannot be reached, the error also says that there is no local
/// directory of this name.
template <class Fetch>
auto from_hub(const log::Log& log, const Fetch& fetch) {
  const auto client = hub::open_client(log.warnings());
  const hub::Cache cache{client.settings().cache};
  const std::string no_directory =
      "; there is no local directory of this name either: --model takes one";
  const hub::FetchOptions options{.tell = [&](std::string_view line) { log.info(line); },
                                  .warn = log.warnings()};
  try {
    return fetch(client, cache, options);
  } catch (const hub::NotFound& error) {
    throw InputError{error.what() + no_directory};
  } catch (const hub::Unavailable& error) {
    throw Error{error.what() + no_directory};
  }
}

}  // namespace seqtrain::storage
