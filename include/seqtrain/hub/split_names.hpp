#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/hub/dataset_card.hpp>
#include <seqtrain/hub/glob.hpp>

/// Finds splits by the names of files and folders, as the Python package datasets does if a card
/// names no files.
namespace seqtrain::hub {

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

}  // namespace seqtrain::hub
