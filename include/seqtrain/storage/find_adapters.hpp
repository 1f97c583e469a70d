#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/weights/adapter.hpp>

namespace seqtrain::storage {

/// An adapter that is served under a name.
struct NamedAdapter {
  std::string name;
  FoundModel found;
};

/// Returns the adapters in the folders of a folder, sorted by their names. Ignores other folders.
inline std::vector<NamedAdapter> adapters_in(const std::string& place) {
  const char* const named = "give an adapter as name=PLACE";
  if (!std::filesystem::is_directory(place)) {
    throw InputError{"there is no such directory of adapters", {.object = place}, named};
  }
  if (weights::is_adapter(place) || weights::is_adapter(place + "/model")) {
    throw InputError{"is one adapter, not a directory of adapters", {.object = place}, named};
  }
  std::vector<NamedAdapter> adapters;
  with_file_errors([&] {
    for (const auto& entry : std::filesystem::directory_iterator{place}) {
      for (const auto& folder : {entry.path(), entry.path() / "model"}) {
        if (!weights::is_adapter(folder)) continue;
        adapters.push_back({entry.path().filename().string(), {folder.string(), folder}});
        break;
      }
    }
  });
  if (adapters.empty()) throw InputError{"has no folder with an adapter", {.object = place}, named};
  std::ranges::sort(adapters, {}, &NamedAdapter::name);
  return adapters;
}

/// Tells whether a place that an adapter names is that of a model. Revisions on the hub are
/// compared if both are given.
inline bool is_base(std::string named, std::string model) {
  for (auto* place : {&named, &model}) {
    while (place->ends_with('/')) place->pop_back();
  }
  if (named == model) return true;
  const auto at_most_one_revision = named.find('@') == named.npos || model.find('@') == model.npos;
  return is_on_hub(named) && is_on_hub(model) && at_most_one_revision &&
         name_on_hub(named) == name_on_hub(model);
}

/// Throws `InputError` if a folder holds an adapter of another base on the hub or in a bucket, and
/// warns if its base is another directory. `model` is the place of the base as it was given and as
/// it was found.
inline void check_base(const FoundModel& found, const std::string& model,
                       const std::filesystem::path& directory, const Options& options) {
  if (!weights::is_adapter(found.directory)) return;
  const auto named = base_of(weights::read_adapter_config(found.directory));
  if (is_base(named, model) || is_base(named, directory.string())) return;
  const std::string problem = "is an adapter of " + named + ", not of " + model;
  if (is_elsewhere(named, options) && is_elsewhere(model, options)) {
    throw InputError{problem, {.object = found.place}, "serve it with that model"};
  }
  std::error_code unknown;
  const bool same = std::filesystem::equivalent(named, directory, unknown);
  if (!same && !unknown) options.log.warning(found.place + " " + problem);
}

/// Finds the adapters that `--adapters` gives: each entry is `name=PLACE`, or a folder of adapters.
/// `model` is the place of the base, `directory` its folder and `model_name` its own name. Throws
/// `InputError` if a place has no adapter, if an adapter is of another base, or if a name is not
/// allowed or given twice.
inline std::vector<NamedAdapter> find_adapters(const std::vector<std::string>& given,
                                               const std::string& model,
                                               const std::filesystem::path& directory,
                                               const std::string& model_name,
                                               const Options& options) {
  std::vector<NamedAdapter> adapters;
  std::vector<std::string> places;  // where they are looked for once all names are known
  for (const std::string& entry : given) {
    const auto equals = entry.find('=');
    auto some = equals == entry.npos ? adapters_in(entry)
                                     : std::vector<NamedAdapter>{{entry.substr(0, equals), {}}};
    const std::string place = equals == entry.npos ? "" : entry.substr(equals + 1);
    places.insert(places.end(), some.size(), place);
    adapters.insert(adapters.end(), some.begin(), some.end());
  }
  std::vector<std::string> names{model_name};
  for (const auto& [name, found] : adapters) {
    const Where flag{.object = "--adapters"};
    if (name.empty() || name != http::percent_encode(name)) {
      throw InputError{"'" + name + "' must consist of letters, digits and -._~", flag};
    }
    if (std::ranges::find(names, name) != names.end()) {
      throw InputError{"two models are called " + name, flag, "give each a name of its own"};
    }
    names.push_back(name);
  }
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    auto& found = adapters[i].found;
    if (!places[i].empty()) found = find_model_folder(places[i], options);
    check_base(found, model, directory, options);
  }
  return adapters;
}

}  // namespace seqtrain::storage
