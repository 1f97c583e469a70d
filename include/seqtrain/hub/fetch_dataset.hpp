#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/hub/dataset_splits.hpp>
#include <seqtrain/hub/fetch.hpp>
#include <seqtrain/hub/name.hpp>

namespace seqtrain::hub {

/// Facts about a public data set that its files do not show.
struct KnownDataset {
  std::string_view id = {};
  std::string_view old_id = {};  ///< the name without an owner, which the hub redirects
  std::string_view config = {};
  std::string_view dev_split = {};
  std::string_view problem_type = {};  ///< empty for single-label classification
};

/// The data sets whose facts are known.
inline constexpr std::array<KnownDataset, 4> known_datasets{
    {{"nyu-mll/multi_nli", "multi_nli", "", "validation_matched", ""},
     {"nyu-mll/glue", "glue", "mnli", "validation_matched", ""},
     {"nyu-mll/glue", "glue", "stsb", "validation", "regression"},
     {"stanfordnlp/imdb", "imdb", "", "test", ""}}};

/// Returns the known facts about a data set and its config, or the defaults for any other data set.
/// The training split is always `train`.
[[nodiscard]] inline KnownDataset known_dataset(std::string_view id, std::string_view config) {
  const auto found = std::ranges::find_if(known_datasets, [&](const KnownDataset& known) {
    return (known.id == id || known.old_id == id) &&
           (known.config.empty() || known.config == config);
  });
  return found == known_datasets.end() ? KnownDataset{.dev_split = "validation"} : *found;
}

/// Selects the needed splits of a data set. Throws if one of them does not exist.
using ChooseSplits = std::function<std::vector<std::string>(const DatasetSplits&)>;

/// The files of a data set on this machine.
struct FetchedDataset {
  std::string commit = {};  ///< empty for a local directory
  /// The files of each split.
  std::map<std::string, std::vector<std::filesystem::path>> files = {};
};

namespace detail {

constexpr const char* card_name = "README.md";

/// Returns the relative paths of the files below a directory.
inline std::vector<std::string> files_below(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry{directory, error}, end; !error && entry != end;
       entry.increment(error)) {
    std::error_code broken_link;
    if (!entry->is_regular_file(broken_link)) continue;
    files.push_back(entry->path().lexically_relative(directory).generic_string());
  }
  if (error) throw InputError{"cannot be read: " + error.message(), {directory.string()}};
  return files;
}

inline std::string card_in(const std::filesystem::path& directory) {
  const auto card = directory / card_name;
  std::error_code error;
  if (std::filesystem::file_size(card, error) == 0 || error) return {};
  return std::string{MappedFile{card}.text()};
}

/// Tells whether all files of a split are there. The name train-00000-of-00002.parquet tells that
/// the split has two files.
inline bool are_all_shards(const std::vector<std::string>& files) {
  constexpr std::size_t length = 9;  // length of "-of-00002"
  return std::ranges::all_of(files, [&](const auto& file) {
    const auto of = file.rfind("-of-");
    if (of == file.npos || of == 0 || of + length > file.size()) return true;
    const auto begin = file.substr(0, file.rfind('-', of - 1) + 1);
    const auto end = file.substr(of, length);
    const auto there = std::ranges::count_if(files, [&](const auto& other) {
      return other.starts_with(begin) && other.substr(0, of + length).ends_with(end);
    });
    return end.substr(4) == std::to_string(100'000 + there).substr(1);
  });
}

/// Fetches data sets, and finds them in the cache. The names of all files of a commit are stored in
/// a separate directory, because the cache may hold only some of the files, and the splits follow
/// from all names.
class DatasetFetcher {
 public:
  DatasetFetcher(const Client& client, const Cache& cache, const DatasetName& name,
                 const ChooseSplits& choose, std::filesystem::path lists,
                 const FetchOptions& options)
      : client_{client},
        cache_{cache},
        name_{name},
        repository_{name.repository},
        choose_{choose},
        lists_{std::move(lists)},
        options_{options} {}

  /// Asks the hub.
  FetchedDataset fetch() const {
    const auto listing = client_.list(repository_);
    note(listing);
    if (std::ranges::count(listing.files, card_name) > 0) {
      fetch_files(client_, cache_, repository_, listing.commit, {card_name});
    }
    const auto chosen = choose(listing.commit, listing.files);
    std::vector<std::string> needed;
    for (const auto& [split, files] : chosen) {
      needed.insert(needed.end(), files.begin(), files.end());
    }
    std::ranges::sort(needed);
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    fetch_files(client_, cache_, repository_, listing.commit, needed, options_);
    cache_.remember(repository_, listing.commit);
    return result(listing.commit, chosen);
  }

  /// Returns the data set in the cache at a commit, or nothing if files are missing. If the names
  /// of the commit's files were not stored and `guess` is set, the files in the cache are taken for
  /// all files of the commit.
  std::optional<FetchedDataset> find(const std::string& commit, bool guess) const {
    const auto noted = noted_files(commit);
    if (!noted && !guess) return {};
    const auto folder = cache_.snapshot(repository_, commit);
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) return {};
    if (noted) {
      const bool card = std::ranges::count(*noted, card_name) > 0;
      if (card && !cache_.has(repository_, commit, card_name)) return {};
      return whole(commit, choose(commit, *noted));
    }
    Chosen chosen;
    try {
      chosen = choose(commit, files_below(folder));
    } catch (const InputError&) {  // the missing files may include a split or the card
      return {};
    }
    if (!std::ranges::all_of(chosen, are_all_shards, &Chosen::value_type::second)) return {};
    if (options_.warn) {
      options_.warn(name_.text() + ": taking the files in " + folder.string() +
                    " for all of the commit's");
    }
    return whole(commit, chosen);
  }

 private:
  using Chosen = std::map<std::string, std::vector<std::string>>;

  [[nodiscard]] Chosen choose(const std::string& commit,
                              const std::vector<std::string>& files) const {
    const auto card = card_in(cache_.snapshot(repository_, commit));
    const auto splits = dataset_splits(files, card, name_.config, repository_.id);
    Chosen chosen;
    for (const auto& split : choose_(splits)) chosen[split] = splits.files(split);
    return chosen;
  }

  [[nodiscard]] FetchedDataset result(const std::string& commit, const Chosen& chosen) const {
    FetchedDataset found{.commit = commit};
    for (const auto& [split, files] : chosen) {
      for (const auto& file : files) {
        found.files[split].push_back(cache_.snapshot(repository_, commit) / file);
      }
    }
    return found;
  }

  [[nodiscard]] std::optional<FetchedDataset> whole(const std::string& commit,
                                                    const Chosen& chosen) const {
    for (const auto& [split, files] : chosen) {
      for (const auto& file : files) {
        if (!cache_.has(repository_, commit, file)) return {};
      }
    }
    return result(commit, chosen);
  }

  [[nodiscard]] std::filesystem::path list_of(const std::string& commit) const {
    return lists_ / repository_.folder() / (commit + ".json");
  }

  void note(const Listing& listing) const {
    std::error_code error;
    const auto file = list_of(listing.commit);
    if (std::filesystem::exists(file, error)) return;
    std::filesystem::create_directories(file.parent_path(), error);
    try {
      write_file_atomically(file, json::Writer{}.value(listing.files).text());
    } catch (const Error& problem) {
      // Harmless: the next start asks the hub again.
      if (options_.warn) options_.warn(problem.what());
    }
  }

  [[nodiscard]] std::optional<std::vector<std::string>> noted_files(
      const std::string& commit) const {
    std::error_code error;
    if (!std::filesystem::exists(list_of(commit), error)) return {};
    const auto document = json::Document::load(list_of(commit));
    std::vector<std::string> files;
    for (const auto& item : document.root().items()) files.emplace_back(item.string());
    return files;
  }

  const Client& client_;
  const Cache& cache_;
  const DatasetName& name_;
  const Name& repository_;
  const ChooseSplits& choose_;
  std::filesystem::path lists_;
  const FetchOptions& options_;
};

}  // namespace detail

/// Returns the files of the splits that `choose` selects, and fetches those that are not in the
/// cache. If the revision is a commit, or in offline mode, a data set in the cache is used without
/// a request. If the hub cannot be reached, the commit that was fetched last is used with a
/// warning. The directory `lists` stores the names of the files of commits. Throws `InputError` if
/// the data set has no such config or split or cannot be read here; otherwise `NotFound`,
/// `Forbidden`, `Unavailable` or `Error`.
[[nodiscard]] inline FetchedDataset fetch_dataset(const Client& client, const Cache& cache,
                                                  const DatasetName& name,
                                                  const ChooseSplits& choose,
                                                  const std::filesystem::path& lists,
                                                  const FetchOptions& options = {}) {
  const detail::DatasetFetcher fetcher{client, cache, name, choose, lists, options};
  const auto find = [&](const std::string& commit, bool guess) {
    return fetcher.find(commit, guess);
  };
  return detail::from_cache_or_hub(client, cache, name.repository, name.text(), options, find,
                                   [&] { return fetcher.fetch(); });
}

/// Returns the files of the splits that `choose` selects in a local directory with the layout of a
/// data set. Throws `InputError` if the directory has no such config or split or cannot be read
/// here.
[[nodiscard]] inline FetchedDataset dataset_in(const std::filesystem::path& directory,
                                               const std::string& config,
                                               const ChooseSplits& choose) {
  const auto splits = dataset_splits(detail::files_below(directory), detail::card_in(directory),
                                     config, directory.string());
  FetchedDataset found;
  for (const auto& split : choose(splits)) {
    auto& files = found.files[split];
    files.clear();  // `choose` may name a split twice
    for (const auto& file : splits.files(split)) files.push_back(directory / file);
  }
  return found;
}

}  // namespace seqtrain::hub
