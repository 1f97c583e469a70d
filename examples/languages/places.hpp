#pragma once

#include <filesystem>
#include <set>
#include <string>

#include <seqtrain/cli/local_input.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/joined.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/report/log.hpp>

/// Where the languages are: a bucket, or a directory that is laid out like one.
struct Languages {
  std::string bucket = {};
  std::filesystem::path local = "examples/data/languages";

  /// The folder of a language on this machine. Throws `InputError` that lists the languages where
  /// there is none.
  [[nodiscard]] std::filesystem::path fetch(const std::string& lang,
                                            const seqtrain::report::Log& log) const {
    const auto known = all(log);
    if (!known.contains(lang)) {
      throw seqtrain::InputError{
          "no folder with a train.csv for the language '" + lang + "'",
          {.object = bucket.empty() ? local.string() : "gs://" + bucket},
          known.empty() ? "there are no languages" : "there are: " + seqtrain::joined(known)};
    }
    if (bucket.empty()) return local / lang;
    return seqtrain::cli::local_input("gs://" + bucket + "/" + lang + "/", log);
  }

  /// Where models go: a place that `cli::open_job_dir` opens.
  [[nodiscard]] std::string models(const std::string& folder) const {
    return bucket.empty() ? (local / folder).string() : "gs://" + bucket + "/" + folder;
  }

 private:
  /// The names of the folders that have a train.csv.
  [[nodiscard]] std::set<std::string> all(const seqtrain::report::Log& log) const {
    constexpr std::string_view file = "/train.csv";
    std::set<std::string> names;
    if (bucket.empty()) {
      std::error_code none;
      for (const auto& entry : std::filesystem::directory_iterator{local, none}) {
        if (std::filesystem::exists(entry.path() / file.substr(1))) {
          names.insert(entry.path().filename().string());
        }
      }
      return names;
    }
    const auto uri = seqtrain::gcs::Uri::parse("gs://" + bucket);
    const auto client = seqtrain::gcs::open_client({.log = log.warnings()});
    for (const auto& object : client.list(uri)) {
      const auto& name = object.uri.name;
      if (name.ends_with(file) && name.find('/') == name.size() - file.size()) {
        names.insert(name.substr(0, name.size() - file.size()));
      }
    }
    return names;
  }
};
