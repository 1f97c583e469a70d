#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <seqtrain/core/error.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/scheme.hpp>

namespace seqtrain::storage {

/// Returns the names of the files in a directory and in its folders, at most two folders deep.
inline Names names_below(const std::filesystem::path& directory) {
  Names names;
  std::error_code error;
  using Entries = std::filesystem::recursive_directory_iterator;
  constexpr auto follow = std::filesystem::directory_options::follow_directory_symlink;
  for (Entries entry{directory, follow, error}; !error && entry != Entries{};
       entry.increment(error)) {
    if (entry.depth() >= 2) entry.disable_recursion_pending();
    if (entry->is_regular_file(error)) {
      names.insert(entry->path().lexically_relative(directory).generic_string());
    }
  }
  if (error) {
    throw InputError{"cannot be read: " + error.message(), {.object = directory.string()}};
  }
  return names;
}

/// Returns the names of the files at a place of inputs: those of `names_below` in a directory, all
/// files in another storage. Throws `InputError` if the place cannot be read.
[[nodiscard]] inline Names list(const std::string& place, const Options& options) {
  const Scheme* const scheme = find_scheme(place, options, Use::inputs);
  return scheme ? scheme->list(place, options.log) : names_below(std::filesystem::path{place});
}

}  // namespace seqtrain::storage
