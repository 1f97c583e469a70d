#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/hub/cache.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/text/loading/tokenizer_folder.hpp>
#include <seqtrain/weights/adapter.hpp>
#include <seqtrain/weights/sentence_form.hpp>
#include <seqtrain/weights/setfit_head.hpp>
#include <seqtrain/weights/weights_file.hpp>

namespace seqtrain::hub {

/// Selects the files of a repository from which a model is loaded: configuration, tokenizer and
/// weights. It does not return the shards of the weights, which an index names, nor the files of
/// modules, which modules.json names. If there are weights in several formats it returns only the
/// preferred one. Of an adapter it returns the files in PEFT's layout, and a configuration only if
/// there is one. Throws `InputError` that names `model` if a part is missing, or if there are both
/// a whole model and an adapter.
[[nodiscard]] inline std::vector<std::string> model_files(const std::vector<std::string>& all,
                                                          const std::string& model) {
  const auto has = [&](std::string_view name) { return std::ranges::find(all, name) != all.end(); };
  std::vector<std::string> chosen;
  const auto take = [&](std::string_view name) { chosen.emplace_back(name); };
  const auto weights = std::ranges::find_if(weights::weights_file_names, has);
  const bool whole = weights != std::end(weights::weights_file_names);
  const bool adapter = !whole && has(weights::adapter_config_name);
  if (whole && has(weights::adapter_config_name)) {
    throw InputError{"holds a model and an adapter", {.object = model}, weights::only_one};
  }
  if (!has("config.json") && !adapter) {
    throw InputError{"has no config.json", {.object = model}, "it is not a model of transformers"};
  }
  if (has("config.json")) take("config.json");
  for (const auto name : text::tokenizer_file_names) {
    if (has(name) && text::is_tokenizer_file(name, has("tokenizer.json"))) take(name);
  }
  constexpr std::string_view of_sentences[] = {"modules.json", weights::model_config_name,
                                               weights::setfit_head_name,
                                               weights::setfit_config_name};
  for (const auto name : of_sentences) {
    if (has(name)) take(name);
  }
  const auto settings = std::ranges::find_if(weights::transformer_config_names, has);
  if (settings != std::end(weights::transformer_config_names)) take(*settings);
  for (const auto name : {weights::adapter_weights_name, weights::old_adapter_weights_name}) {
    if (!adapter || !has(name)) continue;
    take(weights::adapter_config_name);
    take(name);
    return chosen;
  }
  if (!whole) {
    throw InputError{"has no weights in a known format",
                     {.object = model},
                     "model.safetensors or pytorch_model.bin is needed, or an index of either; of "
                     "an adapter, adapter_model.safetensors or adapter_model.bin"};
  }
  take(*weights);
  return chosen;
}

/// Tells whether a folder holds all parts of a model: configuration, tokenizer and weights with all
/// shards; or an adapter, whose other parts may be its base's.
[[nodiscard]] inline bool is_whole_model(const std::filesystem::path& folder) {
  const auto is_file = [](const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored);
  };
  const auto has = [&](std::string_view name) { return is_file(folder / name); };
  const bool is_adapter = weights::is_adapter(folder);
  const auto is_vocabulary = [&](std::string_view name) {
    return has(name) && (name != "vocab.json" || has("merges.txt"));
  };
  const bool tokenizer =
      has("vocabulary.txt") || std::ranges::any_of(text::vocabulary_file_names, is_vocabulary);
  const bool is_model = has("config.json") && tokenizer && weights::weights_file(folder);
  if (!is_adapter && !is_model) return false;
  try {
    for (const auto& [kind, part] : weights::modules_in(folder)) {
      const bool has_config = kind == "Pooling" || kind == "Dense";
      if (has_config && !is_file(part / "config.json")) return false;
    }
    if (is_adapter) return is_file(weights::adapter_weights(folder));
    return std::ranges::all_of(weights::weights_files(folder), is_file);
  } catch (const InputError&) {  // the index, or the list of modules, is damaged
    return false;
  }
}

/// Options of `fetch_files`.
struct FetchOptions {
  std::size_t threads = 4;  ///< number of files to fetch at the same time
  http::Log tell = {};      ///< receives a line before files are fetched
  http::Log warn = {};  ///< receives a line if the cache is used because the hub cannot be reached
};

/// Fetches files of a commit unless they are in the cache. Throws the errors of `Cache::fetch`.
inline void fetch_files(const Client& client, const Cache& cache, const Name& name,
                        const std::string& commit, const std::vector<std::string>& paths,
                        const FetchOptions& options = {}) {
  std::vector<std::string> missing;
  for (const auto& path : paths) {
    if (!cache.has(name, commit, path)) missing.push_back(path);
  }
  if (missing.empty()) return;
  std::vector<RemoteFile> files(missing.size());
  run_parallel(options.threads, files.size(),
               [&](std::size_t i) { files[i] = client.look_at(name, commit, missing[i]); });
  std::uint64_t bytes = 0;
  for (const auto& file : files) bytes += file.size;
  if (options.tell) {
    options.tell("Fetching " + name.text() + ", " + std::to_string(files.size()) + " files of " +
                 std::to_string((bytes + 500'000) / 1'000'000) + " MB, to " +
                 cache.snapshot(name, commit).string());
  }
  // Files with equal content are one blob, which one thread fetches.
  std::ranges::stable_sort(files, {}, &RemoteFile::hash);
  const auto is_first = [&](std::size_t i) { return i == 0 || files[i].hash != files[i - 1].hash; };
  run_parallel(options.threads, files.size(), [&](std::size_t i) {
    if (is_first(i)) cache.fetch(client, name, commit, files[i]);
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!is_first(i)) cache.fetch(client, name, commit, files[i]);
  }
}

namespace detail {

inline std::filesystem::path fetch_model_at(const Client& client, const Cache& cache,
                                            const Name& name, const FetchOptions& options) {
  const auto listing = client.list(name);
  const auto folder = cache.snapshot(name, listing.commit);
  fetch_files(client, cache, name, listing.commit, model_files(listing.files, name.text()),
              options);
  std::vector<std::string> rest;
  for (const auto& file : weights::weights_files(folder)) {
    rest.push_back(file.lexically_relative(folder).string());
    const bool beside = std::filesystem::path{rest.back()}.filename() == rest.back();
    if (!beside) throw InputError{"'" + rest.back() + "' is not a file name", {folder.string()}};
  }
  for (const auto& [_, part] : weights::modules_in(folder)) {
    for (const auto* const file : {"/config.json", "/model.safetensors"}) {
      auto path = part.filename().string() + file;
      if (std::ranges::find(listing.files, path) != listing.files.end()) rest.push_back(path);
    }
  }
  fetch_files(client, cache, name, listing.commit, rest, options);
  cache.remember(name, listing.commit);
  return folder;
}

/// Takes files from the cache or from the hub. If the revision is a commit, or in offline mode,
/// files in the cache are used without a request. If the hub cannot be reached, the files of the
/// commit that was fetched last are used with a warning. `find(commit, last)` returns what the
/// cache has of a commit, or nothing; `last` is true if no request to the hub follows. `fetch()`
/// asks the hub. Errors call the files `what`.
template <class Find, class Fetch>
std::invoke_result_t<Fetch> from_cache_or_hub(const Client& client, const Cache& cache,
                                              const Name& name, const std::string& what,
                                              const FetchOptions& options, const Find& find,
                                              const Fetch& fetch) {
  const auto commit = cache.commit_of(name);
  const bool offline = client.settings().offline;
  if (commit && (offline || is_commit(name.revision))) {
    if (auto found = find(*commit, offline)) return *found;
  }
  if (offline) {
    throw InputError{"is not in the cache, " + cache.directory().string() + ", as a whole",
                     {.object = what},
                     "unset HF_HUB_OFFLINE to fetch it"};
  }
  try {
    return fetch();
  } catch (const Unavailable& error) {
    auto found = commit ? find(*commit, true) : std::nullopt;
    if (!found) throw;
    if (options.warn) {
      options.warn(std::string{error.what()} + "; using " + *commit +
                   " from the cache, which was fetched earlier");
    }
    return *found;
  }
}

}  // namespace detail

/// Returns the folder with a model's configuration, tokenizer and weights. Fetches the files that
/// are not in the cache. If the revision is a commit, or in offline mode, a model in the cache is
/// used without a request. If the hub cannot be reached, the commit that was fetched last is used
/// with a warning. Throws `NotFound`, `Forbidden`, `Unavailable` or `Error`.
[[nodiscard]] inline std::filesystem::path fetch_model(const Client& client, const Cache& cache,
                                                       const Name& name,
                                                       const FetchOptions& options = {}) {
  const auto find = [&](const std::string& commit, bool) -> std::optional<std::filesystem::path> {
    auto folder = cache.snapshot(name, commit);
    if (!is_whole_model(folder)) return {};
    return folder;
  };
  return detail::from_cache_or_hub(client, cache, name, name.text(), options, find, [&] {
    return detail::fetch_model_at(client, cache, name, options);
  });
}

}  // namespace seqtrain::hub
