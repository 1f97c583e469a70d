#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/storage/list.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/place.hpp>

namespace seqtrain::languages {

/// The place of the languages: a bucket, or a directory with its layout. A language is a folder
/// with a `train.csv`, or, in a published layout, a folder in `pretrained/` with a data set.
struct Languages {
  std::string bucket = {};  ///< Google's if it is a name, not an address
  std::string local = "examples/data/languages";

  /// The languages of each layout.
  struct Found {
    std::set<std::string> plain, published;
  };

  /// Returns the place as a local path or an address.
  [[nodiscard]] std::string place() const {
    if (bucket.empty()) return local;
    return storage::is_address(bucket) ? bucket : "gs://" + bucket;
  }

  /// Returns the place of a folder in it.
  [[nodiscard]] std::string place_of(const std::string& folder) const {
    if (bucket.empty()) return (std::filesystem::path{local} / folder).string();
    return place() + (bucket.ends_with('/') ? "" : "/") + folder;
  }

  /// Finds the languages, none if there is no such directory. The data sets of a published layout
  /// have the name `dataset`.
  [[nodiscard]] Found find(const std::string& dataset, const storage::Options& storages) const {
    Found found;
    std::error_code none;
    if (bucket.empty() && !std::filesystem::is_directory(local, none)) return found;
    for (const auto& name : storage::list(place(), storages)) {
      const auto folder = std::filesystem::path{name}.parent_path();
      const auto lang = folder.filename().string();
      if (lang.empty()) continue;
      if (name == lang + "/train.csv") found.plain.insert(lang);
      if (name == "pretrained/" + lang + "/" + dataset) found.published.insert(lang);
    }
    return found;
  }

  /// Returns the folder of a language on this machine. If there is no such language, throws
  /// `InputError` that lists the languages.
  [[nodiscard]] std::filesystem::path fetch(const std::string& lang, const Found& found,
                                            const storage::Options& storages) const {
    const bool published = found.published.contains(lang);
    if (!published && !found.plain.contains(lang)) {
      auto known = found.plain;
      known.insert(found.published.begin(), found.published.end());
      throw InputError{
          "no folder with a train.csv, and none in pretrained/ with a data set, for the language "
          "'" +
              lang + "'",
          {.object = place()},
          known.empty() ? "there are no languages" : "there are: " + joined(known)};
    }
    const std::string folder = (published ? "pretrained/" : "") + lang;
    if (bucket.empty()) return place_of(folder);
    return storage::fetch(place_of(folder + "/"), storages);
  }
};

}  // namespace seqtrain::languages
