#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <seqtrain/cli/find_model.hpp>
#include <seqtrain/cli/local_input.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/weights/adapter.hpp>

/// An adapter that is served under a name.
struct NamedAdapter {
  std::string name;
  seqtrain::cli::FoundModel found;
};

/// Returns the adapters in the folders of a folder, sorted by their names. Other folders are passed
/// over.
inline std::vector<NamedAdapter> adapters_in(const std::string& place) {
  seqtrain::cli::demand_directory(place, "model");
  std::vector<NamedAdapter> adapters;
  for (const auto& entry : std::filesystem::directory_iterator{place}) {
    for (const auto& folder : {entry.path(), entry.path() / "model"}) {
      if (!seqtrain::weights::is_adapter(folder)) continue;
      adapters.push_back({entry.path().filename().string(), {folder.string(), folder}});
      break;
    }
  }
  if (adapters.empty()) {
    throw seqtrain::InputError{
        "has no folder with an adapter", {.object = place}, "see --adapters in --help"};
  }
  std::ranges::sort(adapters, {}, &NamedAdapter::name);
  return adapters;
}

/// Throws `InputError` if a folder holds an adapter of another base.
inline void check_base(const seqtrain::cli::FoundModel& found, const std::string& base) {
  if (!seqtrain::weights::is_adapter(found.directory)) return;
  const auto named =
      seqtrain::cli::base_of(seqtrain::weights::read_adapter_config(found.directory));
  if (named == base || !seqtrain::cli::is_elsewhere(named) || !seqtrain::cli::is_elsewhere(base))
    return;
  throw seqtrain::InputError{"is an adapter of " + named + ", not of " + base,
                             {.object = found.place},
                             "serve it with --model " + named};
}

/// Finds the adapters that `--adapters` gives: each entry is `name=PLACE`, or a folder of adapters.
/// `model` is the place of the base, and `model_name` its own name. Throws `InputError` if there is
/// none at a place, if it is of another base, or if a name is not allowed or is given twice.
inline std::vector<NamedAdapter> find_adapters(const std::vector<std::string>& given,
                                               const std::string& model,
                                               const std::string& model_name,
                                               const seqtrain::log::Log& log) {
  std::vector<NamedAdapter> adapters;
  for (const std::string& entry : given) {
    const auto equals = entry.find('=');
    if (equals == entry.npos) {
      const auto some = adapters_in(entry);
      adapters.insert(adapters.end(), some.begin(), some.end());
    } else {
      adapters.push_back({entry.substr(0, equals),
                          seqtrain::cli::detail::find_folder(entry.substr(equals + 1), log)});
    }
  }
  std::vector<std::string> names{model_name};
  for (const auto& [name, found] : adapters) {
    const seqtrain::Where flag{.object = "--adapters"};
    if (name.empty() || name != seqtrain::http::percent_encode(name)) {
      throw seqtrain::InputError{"'" + name + "' is no name of letters, digits and -._~", flag};
    }
    if (std::ranges::find(names, name) != names.end()) {
      throw seqtrain::InputError{"two models are called " + name, flag,
                                 "give each a name of its own"};
    }
    names.push_back(name);
    check_base(found, model);
  }
  return adapters;
}
