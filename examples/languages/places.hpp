#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/storage/local_input.hpp>

/// The place of the languages: a bucket, or a directory with its layout. A language is a folder
/// with a `train.csv`, or, in a published layout, a folder in `pretrained/` with a data set.
struct Languages {
  std::string bucket = {};
  std::filesystem::path local = "examples/data/languages";

  /// The languages of each layout.
  struct Found {
    std::set<std::string> plain, published;
  };

  /// Finds the languages. The data sets of a published layout have the name `dataset`.
  [[nodiscard]] Found find(const std::string& dataset, const seqtrain::log::Log& log) const {
    return {.plain = folders_with("", "train.csv", log),
            .published = folders_with("pretrained/", dataset, log)};
  }

  /// Returns the folder of a language on this machine. If there is no such language, throws
  /// `InputError` that lists the languages.
  [[nodiscard]] std::filesystem::path fetch(const std::string& lang, const Found& found,
                                            const seqtrain::log::Log& log) const {
    const bool published = found.published.contains(lang);
    if (!published && !found.plain.contains(lang)) {
      auto known = found.plain;
      known.insert(found.published.begin(), found.published.end());
      throw seqtrain::InputError{
          "no folder with a train.csv, and none in pretrained/ with a data set, for the language "
          "'" +
              lang + "'",
          {.object = bucket.empty() ? local.string() : "gs://" + bucket},
          known.empty() ? "there are no languages" : "there are: " + seqtrain::joined(known)};
    }
    const std::string folder = (published ? "pretrained/" : "") + lang;
    if (bucket.empty()) return local / folder;
    return seqtrain::storage::local_input("gs://" + bucket + "/" + folder + "/", log);
  }

  /// Returns the place for models, which `open_job_dir` opens.
  [[nodiscard]] std::string models(const std::string& folder) const {
    return bucket.empty() ? (local / folder).string() : "gs://" + bucket + "/" + folder;
  }

 private:
  /// Returns the names of the folders below `parent` that contain a file of that name.
  [[nodiscard]] std::set<std::string> folders_with(const std::string& parent,
                                                   const std::string& file,
                                                   const seqtrain::log::Log& log) const {
    std::set<std::string> names;
    if (bucket.empty()) {
      std::error_code none;
      for (const auto& entry : std::filesystem::directory_iterator{local / parent, none}) {
        if (std::filesystem::exists(entry.path() / file)) {
          names.insert(entry.path().filename().string());
        }
      }
      return names;
    }
    const auto place = seqtrain::gcs::Uri::parse("gs://" + bucket);
    const auto client = seqtrain::gcs::open_client({.log = log.warnings()});
    for (const auto& object : client.list(place)) {
      const auto path = std::filesystem::path{object.uri.name};
      const auto folder = path.parent_path().filename().string();
      if (!folder.empty() && path == parent + folder + "/" + file) names.insert(folder);
    }
    return names;
  }
};
