#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/storage/list.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/storage/scheme.hpp>
#include <seqtrain/weights/adapter.hpp>

namespace seqtrain::storage {

/// The models among the names of files at a place.
namespace model_names {

/// Returns the model's folder inside `folder`, or nothing if there is none. It is `folder` itself,
/// or `model/` in it if `folder` is a run's. `folder` is empty or ends with `/`.
inline std::optional<std::string> model_in(const Names& names, const std::string& folder) {
  const auto has = [&](std::string_view name) {
    return names.contains(folder + std::string{name});
  };
  if (has("config.json")) return folder;
  if (has("model/config.json")) return folder + "model/";
  if (has(weights::adapter_config_name)) return folder;
  if (has("vocabulary.txt") || has("subwords.model")) return folder;  // ULMFiT has no config.json
  return {};
}

/// Returns the last `YYYYmmdd_HHMMSS` in the name of a run's folder, or an empty string.
inline std::string_view date_in(std::string_view folder) {
  constexpr std::string_view form = "dddddddd_dddddd";
  for (std::size_t end = folder.size(); end >= form.size(); --end) {
    const auto part = folder.substr(end - form.size(), form.size());
    const bool fits = std::ranges::equal(part, form, [](char c, char wanted) {
      return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
    });
    if (fits) return part;
  }
  return {};
}

/// Returns the model's folder, given the names of the files at a place: the place itself, or the
/// folder of the newest run in it. A run counts as complete if it has a manifest, which is written
/// last. If no run has a manifest, runs without one count, except uploads, `model_YYYYmmdd_HHMMSS`.
inline std::optional<std::string> choose_model(const Names& names) {
  if (auto here = model_in(names, "")) return here;
  std::tuple<bool, std::string, std::string> newest;  // has a manifest, date, folder
  std::optional<std::string> chosen;
  for (auto name = names.begin(); name != names.end();) {
    const std::string folder = name->substr(0, name->find('/') + 1);
    name = names.lower_bound(folder.empty() ? *name + '\0'
                                            : folder.substr(0, folder.size() - 1) + '0');
    if (folder.empty()) continue;
    auto model = model_in(names, folder);
    const auto date = date_in(folder);
    const bool complete = names.contains(folder + std::string{sink::Manifest::file_name});
    if (!model || date.empty() || (!complete && folder.starts_with("model_"))) continue;
    std::tuple run{complete, std::string{date}, folder};
    if (chosen && run < newest) continue;
    newest = std::move(run);
    chosen = std::move(model);
  }
  return chosen;
}

}  // namespace model_names

/// A model that was found.
struct FoundModel {
  std::string place;                ///< its folder, local or in another storage
  std::filesystem::path directory;  ///< the folder, or a verified local copy
  std::filesystem::path base = {};  ///< a local copy of an adapter's base, if that is elsewhere
};

/// Finds the folder of the model at a place, as `find_model` does, but not the base of an adapter.
[[nodiscard]] inline FoundModel find_model_folder(const std::string& place,
                                                  const Options& options) {
  const Scheme* const scheme = find_scheme(place, options, Use::model);
  if (scheme && scheme->fetch_model) {
    return {.place = place, .directory = scheme->fetch_model(place, options.log)};
  }
  if (!scheme) demand_directory(place, "model");
  const auto names = scheme ? scheme->list(place, options.log) : names_below(place);
  const auto folder = model_names::choose_model(names);
  if (!folder) {
    const auto config = std::filesystem::path{place} / "config.json";
    std::error_code ignored;
    if (!scheme && std::filesystem::exists(std::filesystem::symlink_status(config, ignored))) {
      throw InputError{"is not a regular file", {.object = config.string()}};
    }
    const bool stopped = names.contains("train_log.jsonl");
    throw InputError{
        stopped ? "is a run that was stopped before it had a model"
                : "holds no model and no complete run",
        {.object = place},
        stopped ? "to continue it: seqtrain train with the same flags, --output-dir " + place +
                      " --resume auto"
                : "name a folder with a model's config.json, a run's folder, or the folder of "
                  "its dated runs"};
  }
  std::string found = place;
  if (!folder->empty()) {
    found += (place.ends_with('/') ? "" : "/") + folder->substr(0, folder->size() - 1);
  }
  return {.place = found, .directory = fetch(found, options)};
}

/// Returns the place of an adapter's base.
inline std::string base_of(const weights::AdapterConfig& config) {
  return config.base + (config.revision.empty() ? "" : "@" + config.revision);
}

/// Finds the model at a place: a model's folder, a run's folder with a model in it, or a folder of
/// dated runs, whose newest complete run is taken. The place is local, in another storage or
/// a name on the hub. From a bucket only the model's files are fetched. The base of an adapter is
/// fetched too. Throws `InputError` if there is no model.
inline FoundModel find_model(const std::string& place, const Options& options) {
  auto found = find_model_folder(place, options);
  if (!weights::is_adapter(found.directory)) return found;
  const auto base = base_of(weights::read_adapter_config(found.directory));
  if (is_elsewhere(base, options)) found.base = find_model_folder(base, options).directory;
  return found;
}

}  // namespace seqtrain::storage
