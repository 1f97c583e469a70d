#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/core/writable.hpp>

namespace seqtrain::train {

/// `runs/<name>_YYYYmmdd_HHMMSS`, where a run goes whose directory nobody named.
inline std::filesystem::path default_run_directory(
    std::string_view name,
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) {
  return std::filesystem::path{"runs"} / (std::string{name} + "_" + dated(now));
}

/// `model_YYYYmmdd_HHMMSS`, the folder of a finished run's results in a sink.
inline std::string dated_model_folder(
    std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) {
  return "model_" + dated(now);
}

struct RunDirectoryOptions {
  std::filesystem::path path = {};
  std::string model_name = "model.pth";  ///< of the state_dict file
  bool overwrite = false;                ///< whether an earlier run's files may be replaced
};

/// The directory that a run leaves its results in:
///
///     model/            the model in Hugging Face's layout
///     model.pth         its state_dict, named as the user likes
///     metrics.json
///     train_log.jsonl
///     checkpoints/      what a killed run goes on from
///
/// Making one checks and creates nothing, so that wrong input is found before anything is written.
class RunDirectory {
 public:
  /// Throws `InputError` where the directory cannot be written, or holds a run and `overwrite` is
  /// not set.
  explicit RunDirectory(RunDirectoryOptions options) : options_{std::move(options)} {
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

  /// The names of what others want of a finished run: the model in both forms and the metrics.
  [[nodiscard]] std::vector<std::string> results() const {
    return {"model", options_.model_name, "metrics.json"};
  }

  /// Creates the directory.
  void create() const {
    with_file_errors([this] { std::filesystem::create_directories(path()); });
  }

  /// Fills `model/` anew: `save` is given an empty directory beside it, which takes its place when
  /// `save` has returned. Until then an older model stays as it is.
  template <class Save>
  void replace_model(const Save& save) const {
    const std::filesystem::path fresh = path() / "model.partial";
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

 private:
  void put_in_place(const std::filesystem::path& fresh) const {
    const std::filesystem::path old = path() / "model.old";
    std::filesystem::remove_all(old);
    if (std::filesystem::exists(model())) std::filesystem::rename(model(), old);
    std::filesystem::rename(fresh, model());
    std::filesystem::remove_all(old);
  }

  void check_model_name() const {
    const std::filesystem::path name = options_.model_name;
    const bool plain =
        name.has_filename() && name == name.filename() && name != "." && name != "..";
    if (!plain) {
      throw InputError{"'" + name.string() + "' is not a file's name",
                       {.object = "run directory", .field = "model_name"}};
    }
    for (const auto& taken : {model(), metrics(), log(), checkpoints()}) {
      if (state_dict() != taken) continue;
      throw InputError{"'" + name.string() + "' has another meaning in a run's directory",
                       {.object = "run directory", .field = "model_name"}};
    }
  }

  void check_free() const {
    for (const auto& file : {model(), state_dict(), metrics(), log()}) {
      if (!std::filesystem::exists(file)) continue;
      throw InputError{
          "holds a run already: " + file.filename().string() + " is there",
          {.object = path().string()},
          "name another directory, pass --overwrite, or --resume auto to go on with it"};
    }
  }

  RunDirectoryOptions options_;
};

}  // namespace seqtrain::train
