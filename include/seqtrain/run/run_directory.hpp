#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/sink/publish.hpp>

namespace seqtrain::run {

/// Returns a run's default directory, `runs/<name>_YYYYmmdd_HHMMSS`.
inline std::filesystem::path default_run_directory(
    std::string_view name,
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) {
  return std::filesystem::path{"runs"} / (std::string{name} + "_" + dated(now));
}

/// Returns `model_YYYYmmdd_HHMMSS`, the folder of a finished run's results in a sink.
inline std::string dated_model_folder(
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) {
  return "model_" + dated(now);
}

/// Options of `RunDirectory`.
struct RunDirectoryOptions {
  std::filesystem::path path = {};
  std::string model_name = "model.pth";  ///< file name of the state_dict
  bool overwrite = false;                ///< whether an earlier run's files may be replaced
};

/// The directory of a run's results:
///
///     model/            the model in Hugging Face's layout, with a model card
///     model.pth         its state_dict, under a name that the user may choose
///     metrics.json
///     predictions.jsonl what the model says about each example of the dev and the test file
///     report.html       a page of pictures
///     train_log.jsonl
///     checkpoints/      what a killed run continues from
///     .lock             held while a program writes here
///
/// The constructor checks the directory and creates nothing, so that wrong input is found before
/// anything is written.
class RunDirectory {
 public:
  /// Throws `InputError` if the directory cannot be written, or holds a run and `overwrite` is not
  /// set.
  explicit RunDirectory(RunDirectoryOptions options) : options_{std::move(options)} {
    if (!path().has_filename()) options_.path = path().parent_path();  // runs/mine/
    check_model_name();
    check_writable(path());
    if (!options_.overwrite) check_free();
  }

  [[nodiscard]] const std::filesystem::path& path() const { return options_.path; }
  [[nodiscard]] std::filesystem::path model() const { return path() / "model"; }
  [[nodiscard]] std::filesystem::path state_dict() const { return path() / options_.model_name; }
  [[nodiscard]] std::filesystem::path metrics() const { return path() / "metrics.json"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return path() / "checkpoints"; }
  [[nodiscard]] std::filesystem::path log() const { return path() / "train_log.jsonl"; }

  [[nodiscard]] std::filesystem::path predictions() const { return path() / "predictions.jsonl"; }
  [[nodiscard]] std::filesystem::path report() const { return path() / "report.html"; }

  /// Returns the names of a finished run's results: the model in both forms, the metrics, and the
  /// predictions, the page and the log if they exist.
  [[nodiscard]] std::vector<std::string> results() const {
    std::vector<std::string> names{"model", options_.model_name, "metrics.json"};
    for (const auto& file : {predictions(), report(), log()}) {
      if (std::filesystem::exists(file)) names.push_back(file.filename().string());
    }
    return names;
  }

  /// Creates the directory and locks it against other programs until the lock is destroyed. Throws
  /// `InputError` if another program has locked it, or if a run without `overwrite` finds that one
  /// has finished there meanwhile.
  [[nodiscard]] FileLock lock() const {
    auto held = lock_directory(path());
    if (!options_.overwrite) check_free();
    return held;
  }

  /// Creates the directory. If it exists, repairs what a killed run left there: puts the old model
  /// back if no new one took its place, and removes incomplete files. The log of a killed run
  /// stays, so that a resumed run can continue it.
  void create() const {
    with_file_errors([this] {
      std::filesystem::create_directories(path());
      if (!std::filesystem::exists(model()) && std::filesystem::is_directory(old_model())) {
        std::filesystem::rename(old_model(), model());
      }
      remove_leftovers();
    });
  }

  /// Removes the checkpoints of earlier runs and the record of their publications. Keeps locks,
  /// folders without checkpoints, which are not of a run, and run.json, by which another program
  /// notices that it is replaced.
  void remove_checkpoints() const {
    with_file_errors([this] {
      std::filesystem::remove(path() / sink::Published::file_name);
      std::error_code none;
      std::vector<std::filesystem::path> folders;
      for (const auto& entry : std::filesystem::directory_iterator{checkpoints(), none}) {
        if (entry.is_directory() && holds_checkpoints(entry.path()))
          folders.push_back(entry.path());
      }
      for (const auto& folder : folders) std::filesystem::remove_all(folder);
    });
  }

  /// Removes the checkpoints of the run with this id.
  void remove_checkpoints_of(const std::string& id) const {
    with_file_errors([&] { std::filesystem::remove_all(checkpoints() / id); });
  }

  /// Replaces `model/`. `save` fills an empty directory, which takes the place of `model/` when
  /// `save` has returned. Until then an older model stays as it is.
  template <class Save>
  void replace_model(const Save& save) const {
    const std::filesystem::path fresh = partial_model();
    with_file_errors([&] {
      std::filesystem::remove_all(fresh);
      std::filesystem::create_directories(fresh);
      try {
        save(std::as_const(fresh));
      } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(fresh, ignored);
        throw;
      }
      put_in_place(fresh);
    });
  }

  /// Returns a folder for a model that is being saved, which the next run removes.
  [[nodiscard]] std::filesystem::path partial_model() const { return path() / "model.partial"; }

 private:
  [[nodiscard]] std::filesystem::path old_model() const { return path() / "model.old"; }

  /// Tells whether a folder is one of a run with checkpoints.
  static bool holds_checkpoints(const std::filesystem::path& folder) {
    return std::ranges::any_of(std::filesystem::directory_iterator{folder}, [](const auto& entry) {
      return std::filesystem::exists(entry.path() / sink::Manifest::file_name);
    });
  }

  /// Puts the new model in place. A crash leaves the old model or the new one complete: as
  /// `model/`, or the old one as `model.old/`, which `create` puts back.
  void put_in_place(const std::filesystem::path& fresh) const {
    sync_tree(fresh);
    if (std::filesystem::exists(model())) {
      std::filesystem::remove_all(old_model());
      std::filesystem::rename(model(), old_model());
    }
    std::filesystem::rename(fresh, model());
    if (const int problem = sync_directory(path()); problem != 0) {
      throw std::filesystem::filesystem_error{"fsync", path(), {problem, std::generic_category()}};
    }
    std::filesystem::remove_all(old_model());
  }

  void remove_leftovers() const {
    std::vector<std::filesystem::path> leftovers;
    for (const auto& entry : std::filesystem::directory_iterator{path()}) {
      const bool is_file = std::filesystem::is_regular_file(entry.symlink_status());
      if (is_file && is_leftover(entry.path().filename().string()))
        leftovers.push_back(entry.path());
    }
    for (const auto& file : leftovers) std::filesystem::remove(file);
    if (std::filesystem::is_directory(std::filesystem::symlink_status(partial_model()))) {
      std::filesystem::remove_all(partial_model());
    }
  }

  /// Tells whether a name is that of a partial file of this run.
  [[nodiscard]] bool is_leftover(const std::string& name) const {
    const std::string log_name = log().filename().string();
    const std::string partial_log = log_name + ".partial";
    if (name == partial_log) return false;
    const auto is_of = [&name](const std::string& target) { return name == target + ".partial"; };
    return is_of(options_.model_name) || is_of(metrics().filename().string()) || is_of(log_name) ||
           is_of(partial_log) || is_of(predictions().filename().string()) ||
           is_of(report().filename().string());
  }

  void check_model_name() const {
    const std::filesystem::path name = options_.model_name;
    const bool plain =
        name.has_filename() && name == name.filename() && name != "." && name != "..";
    if (!plain) {
      throw InputError{"'" + name.string() + "' is not a file name",
                       {.object = "run directory", .field = "model_name"}};
    }
    bool is_taken = name.extension() == ".partial";
    for (const auto& taken :
         {model(), old_model(), metrics(), predictions(), report(), log(), checkpoints()}) {
      is_taken = is_taken || state_dict() == taken;
    }
    if (is_taken) {
      throw InputError{"'" + name.string() + "' is reserved in a run's directory",
                       {.object = "run directory", .field = "model_name"}};
    }
  }

  void check_free() const {
    for (const auto& file : {model(), old_model(), state_dict(), metrics(), log()}) {
      if (!std::filesystem::exists(file)) continue;
      throw InputError{"already holds a run: " + file.filename().string() + " is there",
                       {.object = path().string()},
                       "name another directory, or pass --overwrite to replace it or --resume auto "
                       "to continue it"};
    }
  }

  RunDirectoryOptions options_;
};

}  // namespace seqtrain::run
