#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/storage/scheme.hpp>
#include <seqtrain/storage/schemes.hpp>

namespace seqtrain::storage {

/// The log and the schemes with which places are opened and fetched.
struct Options {
  log::Log log;                      ///< gets retries, and the progress of a model's files
  std::vector<Scheme> schemes = {};  ///< the program's own, which are asked before the known ones
};

/// The use of a place: it takes results; it has files or a model to fetch; its files are listed and
/// copied; files in it are written or removed.
enum class Use { results, inputs, model, source, target };

namespace detail {

inline bool serves(const Scheme& scheme, Use use) {
  if (use == Use::results) return scheme.open != nullptr;
  if (use == Use::source) return scheme.files != nullptr;
  if (use == Use::target) return scheme.files && scheme.open;
  const bool inputs = scheme.list && scheme.fetch;
  return inputs || (use == Use::model && scheme.fetch_model);
}

/// Returns what is wrong with a place in a storage that does not serve this use.
inline const char* problem_of(Use use) {
  switch (use) {
    case Use::results:
      return "is in a storage that takes no results";
    case Use::inputs:
      return "is in a storage without files to fetch";
    case Use::model:
      return "is in a storage without models to fetch";
    case Use::source:
      return "is in a storage whose files cannot be copied";
    case Use::target:
      return "is in a storage whose files cannot be changed";
  }
  return "is in a storage that does not serve this";
}

/// Returns the schemes of the program and the known ones.
inline std::vector<const Scheme*> all_schemes(const Options& options) {
  std::vector<const Scheme*> all;
  for (const auto* const list : {&options.schemes, &known_schemes()}) {
    for (const Scheme& scheme : *list) all.push_back(&scheme);
  }
  return all;
}

}  // namespace detail

/// Returns the forms of the places that serve a use.
[[nodiscard]] inline std::vector<std::string> forms(const Options& options, Use use) {
  const bool directory = use == Use::results || use == Use::model;
  std::vector<std::string> forms{directory ? "a directory" : "a local path"};
  for (const Scheme* const scheme : detail::all_schemes(options)) {
    if (detail::serves(*scheme, use)) forms.push_back(scheme->form);
  }
  return forms;
}

namespace detail {

/// Throws an `InputError` about an address in no storage that serves this use.
[[noreturn]] inline void refuse(const std::string& place, const Options& options, Use use) {
  std::string problem = "is not in a storage that is known here";
  for (const Scheme* const scheme : all_schemes(options)) {
    if (scheme->has(place)) problem = problem_of(use);
  }
  throw InputError{problem, {.object = place}, "name " + joined(forms(options, use), " or ")};
}

}  // namespace detail

/// Returns the scheme of a place, or null if the place is a local path. Throws `InputError` if it
/// is an address in no storage that serves this use; the error lists those that do.
[[nodiscard]] inline const Scheme* find_scheme(const std::string& place, const Options& options,
                                               Use use) {
  for (const Scheme* const scheme : detail::all_schemes(options)) {
    if (detail::serves(*scheme, use) && scheme->has(place)) return scheme;
  }
  if (is_address(place)) detail::refuse(place, options, use);
  return nullptr;
}

/// Tells whether a place for results is a local path. Throws the `InputError` of `find_scheme`.
[[nodiscard]] inline bool is_local(const std::string& place, const Options& options) {
  return find_scheme(place, options, Use::results) == nullptr;
}

/// Tells whether a model is in a storage that is known here, and not at a local path.
[[nodiscard]] inline bool is_elsewhere(const std::string& place, const Options& options) {
  return std::ranges::any_of(detail::all_schemes(options),
                             [&](const Scheme* scheme) { return scheme->has(place); });
}

/// Opens a store for results and checkpoints: a directory, or a place in another storage. Throws
/// `InputError` if there is no such storage or it cannot be used. Retries are logged.
[[nodiscard]] inline sink::Any open(const std::string& place, const Options& options) {
  const Scheme* const scheme = find_scheme(place, options, Use::results);
  return scheme ? scheme->open(place, options.log) : sink::Any{sink::Directory{place}};
}

/// Opens a store as `open` does. Throws `InputError` also if it cannot be written.
[[nodiscard]] inline sink::Any open_writable(const std::string& place, const Options& options) {
  auto store = open(place, options);
  store.check_writable();
  return store;
}

/// Returns a local path for an input: a local or empty path unchanged, any other place as the path
/// of a verified local copy. Throws `InputError` if it does not exist or may not be read. Retries
/// are logged.
[[nodiscard]] inline std::filesystem::path fetch(const std::string& place, const Options& options) {
  const Scheme* const scheme = find_scheme(place, options, Use::inputs);
  return scheme ? scheme->fetch(place, options.log) : std::filesystem::path{place};
}

/// Returns `places`, the files of a split separated by commas, with the path of its local copy in
/// place of each address.
[[nodiscard]] inline std::string fetch_all(const std::string& places, const Options& options) {
  std::string result;
  for (std::size_t begin = 0; begin <= places.size();) {
    auto end = places.find(',', begin);
    while (end < places.size() && !is_address(std::string_view{places}.substr(end + 1))) {
      end = places.find(',', end + 1);  // a comma in a name, or between local files
    }
    end = std::min(end, places.size());
    if (begin > 0) result += ',';
    result += fetch(places.substr(begin, end - begin), options).string();
    begin = end + 1;
  }
  return result;
}

}  // namespace seqtrain::storage
