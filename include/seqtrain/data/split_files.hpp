#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/data/text_folder.hpp>

namespace seqtrain::data {

namespace detail {

/// Tells whether a name matches a pattern, in which each * matches any text.
[[nodiscard]] constexpr bool fits(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (;; name.remove_prefix(1)) {
    if (fits(name, pattern)) return true;
    if (name.empty()) return false;
  }
}

/// Adds the files that match the pattern, in the order of their names.
inline void add_fitting(const std::filesystem::path& pattern,
                        std::vector<std::filesystem::path>& files) {
  const auto directory = pattern.has_parent_path() ? pattern.parent_path() : ".";
  const std::string wanted = pattern.filename().string();
  const auto entries = sorted_entries(
      directory, [&](const auto& entry) { return fits(entry.path().filename().string(), wanted); });
  for (const auto& entry : entries) files.push_back(entry.path());
}

/// Returns "train" for train-00000-of-00002.parquet: the name of the split of which a file is a
/// part. Returns an empty string for other names.
[[nodiscard]] constexpr std::string_view split_of_part(std::string_view name) {
  constexpr std::string_view form = "-00000-of-00000.parquet";
  if (name.size() <= form.size()) return {};
  const std::string_view end = name.substr(name.size() - form.size());
  const auto fits_form = [](char c, char like) {
    return like == '0' ? c >= '0' && c <= '9' : c == like;
  };
  if (!std::ranges::equal(end, form, fits_form)) return {};
  return name.substr(0, name.size() - form.size());
}

/// Removes names of files that are earlier in the list, also in another form such as ./name.
inline void keep_each_once(std::vector<std::filesystem::path>& files) {
  std::set<std::filesystem::path> seen;
  std::erase_if(files, [&](const auto& file) {
    return !seen.insert(std::filesystem::absolute(file).lexically_normal()).second;
  });
}

/// Throws `InputError` if a file is a pipe: it can be read only once, but a run reads its files
/// several times.
inline void refuse_pipe(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_fifo(file, error)) return;
  throw InputError{"is a pipe, which can be read only once",
                   {.object = file.string()},
                   "write its contents to a file and name that"};
}

/// Throws `InputError` if the files are parts of several splits.
inline void demand_one_split(const std::vector<std::filesystem::path>& files,
                             const std::filesystem::path& directory) {
  for (const auto& file : files) {
    const std::string first = files.front().filename().string();
    const std::string name = file.filename().string();
    if (split_of_part(name) == split_of_part(first)) continue;
    throw InputError{"holds several splits: " + first + " and " + name,
                     {.object = directory.string()},
                     "name the files of one, such as " + (directory / "train-*.parquet").string()};
  }
}

}  // namespace detail

/// Returns the files of a split: one file; all `*.parquet` of a directory; or several names with
/// commas between them, in which a * in a file's name matches any text. A file that is named twice
/// counts once. Returns none if a directory has no such file. Throws `InputError` if no file
/// matches a pattern, if a file is a pipe, or if a directory holds parts of several splits.
[[nodiscard]] inline std::vector<std::filesystem::path> split_files(
    const std::filesystem::path& place) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  if (std::filesystem::is_directory(place, error)) {
    detail::add_fitting(place / "*.parquet", files);
    detail::demand_one_split(files, place);
    return files;
  }
  detail::refuse_pipe(place);
  if (std::filesystem::exists(place, error)) return {place};
  const std::string names = place.string();
  for (const std::filesystem::path name : split_at_commas(names)) {
    if (name.empty()) throw InputError{"has an empty name between commas", {.object = names}};
    const std::size_t before = files.size();
    if (name.filename().string().find('*') == std::string::npos) {
      detail::refuse_pipe(name);
      files.push_back(name);
    } else {
      detail::add_fitting(name, files);
    }
    if (files.size() == before) throw InputError{"no file matches", {.object = name.string()}};
  }
  detail::keep_each_once(files);
  return files;
}

/// Returns the size in bytes of all files. A file whose size is unknown does not count.
[[nodiscard]] inline std::size_t bytes_of(const std::vector<std::filesystem::path>& files) {
  std::size_t sum = 0;
  for (const auto& file : files) {
    std::error_code none;
    const auto size = std::filesystem::file_size(file, none);
    if (!none) sum += static_cast<std::size_t>(size);
  }
  return sum;
}

}  // namespace seqtrain::data
