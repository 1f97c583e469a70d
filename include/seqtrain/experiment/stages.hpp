#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/weights/safetensors.hpp>

namespace seqtrain::experiment {

/// A job of several fits in sequence. The job's directory holds the result of each finished stage,
/// `<name>.safetensors`, and the checkpoints of the current stage. A killed job that is started
/// again continues its stage and repeats no finished one.
class Stages {
 public:
  /// Opens or creates the job. `settings` determine the job's result. Throws `InputError` if the
  /// directory belongs to a job with other settings.
  Stages(std::filesystem::path directory, train::Pairs settings,
         std::function<void(const train::Notice&)> log = {})
      : directory_{std::move(directory)}, settings_{std::move(settings)}, log_{std::move(log)} {
    with_file_errors([this] { std::filesystem::create_directories(directory_); });
    json::Writer text{2};
    text.begin_object();
    train::append(text, "settings", settings_);
    claim(text.end_object().text() + "\n");
  }

  /// Calls `work(model, sink, checkpoint)`, which trains `model` with that sink and these
  /// checkpoint options. If the stage is finished, loads its result into the model instead.
  template <class M, class Work>
  void run(const std::string& name, M& model, const Work& work) const {
    const auto done = directory_ / (name + ".safetensors");
    if (std::filesystem::exists(done)) {
      const weights::SafetensorsFile file{done};
      model.load_state_dict(file.tensors());
      say("Stage " + name + " is done already: " + done.string());
      return;
    }
    say("Stage " + name);
    const auto checkpoints = directory_ / (name + ".checkpoints");
    train::Pairs settings = settings_;
    settings.emplace_back("stage", name);
    work(model, sink::Directory{checkpoints},
         train::CheckpointOptions{.minutes = 10, .settings = std::move(settings), .log = log_});
    weights::write_safetensors(done, model.state_dict().views());
    std::error_code ignored;  // checkpoints that are left only take space
    std::filesystem::remove_all(checkpoints, ignored);
  }

 private:
  void say(const std::string& text) const {
    if (log_) log_({.text = text});
  }

  void claim(const std::string& settings) const {
    const auto file = directory_ / "settings.json";
    if (!std::filesystem::exists(file)) return write_file_atomically(file, settings);
    if (MappedFile{file}.text() == settings) return;
    throw InputError{"holds a job with other settings or inputs",
                     {.object = directory_.string()},
                     "use those in its settings.json, or another directory"};
  }

  std::filesystem::path directory_;
  train::Pairs settings_;
  std::function<void(const train::Notice&)> log_;
};

}  // namespace seqtrain::experiment
