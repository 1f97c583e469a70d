#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/hub/dataset_card.hpp>
#include <seqtrain/hub/glob.hpp>

/// Finds splits by the names of files and folders, as the Python package datasets does if a card
/// names no files.
namespace seqtrain::hub {

/// A split of a data set and its files, in the order of their rows.
struct DatasetSplit {
  std::string name;
  std::vector<std::string> files;  ///< relative paths
};

/// The splits of one of a data set's configs.
struct DatasetSplits {
  std::string dataset;  ///< name of the data set, for errors
  std::vector<DatasetSplit> splits;

  /// Tells whether the data set has a split.
  [[nodiscard]] bool has(std::string_view split) const {
    return std::ranges::count(splits, split, &DatasetSplit::name) > 0;
  }
  /// Returns the names with commas between them.
  [[nodiscard]] std::string listed() const {
    std::vector<std::string_view> names;
    for (const auto& split : splits) names.emplace_back(split.name);
    return joined(names);
  }
  /// Returns the files of a split. Throws `InputError` that lists the splits if there is no split
  /// of that name, or if the split has no file.
  [[nodiscard]] const std::vector<std::string>& files(std::string_view split) const {
    const auto found = std::ranges::find(splits, split, &DatasetSplit::name);
    const Where where{.object = dataset};
    if (found == splits.end()) {
      throw InputError{"has no split '" + std::string{split} + "'", where,
                       "there are: " + listed()};
    }
    if (found->files.empty()) {
      throw InputError{"has no file of the split '" + std::string{split} + "'", where,
                       "the files that its README.md names are missing or have another format"};
    }
    return found->files;
  }
};

namespace detail {

struct SplitWords {
  std::string_view split;
  std::array<std::string_view, 4> words;  ///< unused elements at the end are empty
};

constexpr std::array<SplitWords, 3> split_words{
    {{"train", {"train", "training", "", ""}},
     {"validation", {"validation", "valid", "dev", "val"}},
     {"test", {"test", "testing", "eval", "evaluation"}}}};

/// Returns the patterns of a split's files, by words in the name of a folder or of a file.
inline std::vector<std::string> patterns_with(const SplitWords& words, bool in_folder) {
  const std::string separator = "[-._ 0-9]";
  const std::string below = in_folder ? "/**" : "";
  std::vector<std::string> patterns;
  for (const std::string_view word_of : words.words) {
    const std::string word{word_of};
    if (word.empty()) continue;
    for (const std::string& begin : {"**/" + word, "**/*" + separator + word}) {
      if (in_folder) patterns.push_back(begin + below);
      patterns.push_back(begin + separator + "*" + below);
    }
  }
  return patterns;
}

inline bool any_fits(const std::vector<std::string>& files, std::string_view pattern) {
  const Glob glob{pattern};
  return std::ranges::any_of(files, [&](const auto& file) { return glob.fits(file); });
}

/// Returns the splits of files such as data/train-00000-of-00002.parquet.
inline std::vector<SplitPatterns> splits_of_shards(const std::vector<std::string>& files) {
  const std::string digits = "[0-9][0-9][0-9][0-9][0-9]";
  const std::string number = "-" + digits + "-of-" + digits, end = number + "*.*";
  const std::string pattern = "data/*" + end;
  const Glob shards{pattern}, numbers{number};
  std::vector<std::string> names;
  for (const auto& file : files) {
    if (!shards.fits(file)) continue;
    auto at = file.rfind("-of-") - 6;
    while (!numbers.fits(std::string_view{file}.substr(at, 15))) at = file.rfind('-', at - 1);
    constexpr std::size_t folder = 5;  // length of "data/"
    names.push_back(file.substr(folder, at - folder));
  }
  const auto place = [](const std::string& name) {
    const auto known = std::ranges::find(split_words, name, &SplitWords::split);
    return std::pair{known - split_words.begin(), name};
  };
  std::ranges::sort(names, {}, place);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<SplitPatterns> splits;
  for (const auto& name : names) splits.push_back({name, {"data/" + name + end}});
  return splits;
}

/// The endings of the names of files in a format.
struct DataFormat {
  std::array<std::string_view, 3> endings;  ///< unused elements at the end are empty
};

/// The formats that are read. If two formats have equally many files, the earlier one is taken.
constexpr std::array<DataFormat, 3> data_formats{
    {{{".parquet", "", ""}}, {{".jsonl", ".json", ".ndjson"}}, {{".csv", ".tsv", ""}}}};

inline bool is_of(std::string_view file, const DataFormat& format) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (file.ends_with(suffix)) file.remove_suffix(suffix.size());
  }
  return std::ranges::any_of(format.endings, [&](std::string_view ending) {
    return !ending.empty() && file.ends_with(ending);
  });
}

inline bool is_data(std::string_view path) {
  constexpr std::array<std::string_view, 5> about{"README.md", "config.json", "dataset_info.json",
                                                  "dataset_infos.json", "dataset_dict.json"};
  return std::ranges::count(about, path.substr(path.rfind('/') + 1)) == 0;  // npos + 1 is 0
}

/// Returns the files that fit one of the patterns, pattern by pattern and each file once. `files`
/// must be sorted.
inline std::vector<std::string> fitting(const std::vector<std::string>& files,
                                        const std::vector<std::string>& patterns,
                                        const std::string& folder) {
  std::vector<std::string> chosen;
  std::set<std::string_view> seen;
  const auto take = [&](const std::string& file) {
    if (seen.insert(file).second) chosen.push_back(file);
  };
  for (const auto& pattern : patterns) {
    const auto whole = folder + pattern;
    const auto named = std::ranges::lower_bound(files, whole);
    if (named != files.end() && *named == whole) take(*named);
    if (!Glob::is_pattern(whole)) continue;
    const Glob glob{whole};
    for (const auto& file : files) {
      if (is_data(file) && glob.fits(file)) take(file);
    }
  }
  return chosen;
}

/// Finds the format that most files have and drops the files of other formats. Throws `InputError`
/// if no file can be read.
inline void keep_one_format(DatasetSplits& found) {
  const auto count = [&](const DataFormat& format) {
    std::ptrdiff_t sum = 0;
    for (const auto& split : found.splits) {
      sum += std::ranges::count_if(split.files, [&](auto& file) { return is_of(file, format); });
    }
    return sum;
  };
  const auto format = std::ranges::max_element(data_formats, {}, count);
  if (count(*format) == 0) {
    std::vector<std::string_view> some;
    for (const auto& split : found.splits) {
      for (const auto& file : split.files) {
        if (some.size() < 10) some.emplace_back(file);
      }
    }
    throw InputError{some.empty() ? "has no data files"
                                  : "has no file in a supported format, only: " + joined(some),
                     {.object = found.dataset},
                     "supported are .parquet, .jsonl, .csv and .tsv, the last three also with .gz "
                     "or .zst"};
  }
  for (auto& split : found.splits) {
    std::erase_if(split.files, [&](const auto& file) { return !is_of(file, *format); });
  }
}

/// Returns the config of that name, or the default one if the name is empty. Throws `InputError`
/// that lists the configs.
inline const DatasetConfig& choose_config(const std::vector<DatasetConfig>& configs,
                                          const std::string& wanted, const std::string& dataset) {
  constexpr std::size_t most = 40;
  std::vector<std::string_view> names;
  for (const auto& config : configs) {
    if (names.size() < most) names.emplace_back(config.name);
  }
  if (configs.size() > most) names.emplace_back("…");
  const auto advice =
      "there are: " + joined(names) + "; name one as " + dataset + ":" + configs.front().name;
  const auto chosen = std::ranges::find_if(configs, [&](const auto& config) {
    if (!wanted.empty()) return config.name == wanted;
    return configs.size() == 1 || config.is_default || config.name == "default";
  });
  if (chosen != configs.end()) return *chosen;
  if (wanted.empty()) throw InputError{"has several configs", {.object = dataset}, advice};
  throw InputError{"has no config '" + wanted + "'", {.object = dataset}, advice};
}

/// Returns the folder of a config if the card names no configs: the folder with the config's name,
/// or "" for the default config. Throws `InputError` if the folder has no files.
inline std::string folder_of_config(const std::vector<std::string>& files,
                                    const std::string& config, const std::string& dataset) {
  if (config.empty() || config == "default") return {};
  const auto folder = config + "/";
  const auto inside = [&](const auto& file) { return file.starts_with(folder); };
  if (std::ranges::any_of(files, inside)) return folder;
  throw InputError{"has no config '" + config + "'",
                   {.object = dataset},
                   "its README.md names none; leave out the ':" + config + "'"};
}

}  // namespace detail

/// Returns the splits that the names of files tell. The first rule that finds a file applies: names
/// such as data/train-00000-of-00002.parquet; words such as train, dev and test in the names of
/// folders; such words in the names of files; else all files are the split train. The caller leaves
/// out the README.md and other files about the data.
[[nodiscard]] inline std::vector<SplitPatterns> splits_by_names(
    const std::vector<std::string>& files) {
  auto splits = detail::splits_of_shards(files);
  for (const bool in_folder : {true, false}) {
    if (!splits.empty()) return splits;
    for (const auto& words : detail::split_words) {
      auto patterns = detail::patterns_with(words, in_folder);
      const auto has_files = [&](const auto& pattern) { return detail::any_fits(files, pattern); };
      if (std::ranges::any_of(patterns, has_files)) {
        splits.push_back({std::string{words.split}, std::move(patterns)});
      }
    }
  }
  if (splits.empty() && detail::any_fits(files, "**")) splits.push_back({"train", {"**"}});
  return splits;
}

/// Returns the splits of a data set's config. An empty name stands for the default config. If the
/// card, its README.md, names files, it decides; otherwise the names of the files do. `files` are
/// relative paths. Throws `InputError` if there is no config of that name, if the card has a
/// setting that is not supported, or if there is no file that can be read.
[[nodiscard]] inline DatasetSplits dataset_splits(std::vector<std::string> files,
                                                  std::string_view card, const std::string& config,
                                                  const std::string& dataset) {
  std::ranges::sort(files);
  const auto configs = configs_in_card(card, dataset + ": README.md");
  auto chosen = configs.empty()
                    ? DatasetConfig{.folder = detail::folder_of_config(files, config, dataset)}
                    : detail::choose_config(configs, config, dataset);
  DatasetSplits result{.dataset = dataset + (chosen.name.empty() ? "" : ":" + chosen.name),
                       .splits = {}};
  if (!chosen.not_read.empty()) {
    throw InputError{"its README.md sets '" + chosen.not_read + "', which is not supported here",
                     {.object = result.dataset},
                     "download the data and name its files instead"};
  }
  if (!chosen.folder.empty() && !chosen.folder.ends_with('/')) chosen.folder += '/';
  if (chosen.splits.empty()) {
    std::vector<std::string> inside;
    for (const auto& file : files) {
      if (!file.starts_with(chosen.folder)) continue;
      const auto name = file.substr(chosen.folder.size());
      if (detail::is_data(name)) inside.push_back(name);
    }
    chosen.splits = splits_by_names(inside);
  }
  for (const auto& [split, patterns] : chosen.splits) {
    result.splits.push_back({split, detail::fitting(files, patterns, chosen.folder)});
  }
  detail::keep_one_format(result);
  return result;
}

}  // namespace seqtrain::hub
