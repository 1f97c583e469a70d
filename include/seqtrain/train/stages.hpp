#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/train/checkpoints.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/weights/safetensors.hpp>

namespace seqtrain::train {

/// A job of several fits, one behind the other. What a stage has come to is kept, as
/// `<name>.safetensors` in the job's directory, and so are the checkpoints of the stage that is
/// under way: a job that was ended goes on where it was, and a stage that is done is not done
/// again.
class Stages {
 public:
  /// `settings` are all that the mathematics of the job follow from. Throws `InputError` where the
  /// directory belongs to a job with others.
  Stages(std::filesystem::path directory, Pairs settings,
         std::function<void(std::string_view)> log = {})
      : directory_{std::move(directory)}, settings_{std::move(settings)}, log_{std::move(log)} {
    with_file_errors([this] { std::filesystem::create_directories(directory_); });
    json::Writer text{2};
    text.begin_object();
    append(text, "settings", settings_);
    claim(text.end_object().text() + "\n");
  }

  /// Calls `work(model, checkpoints)`, which trains `model` as `Checkpoints` with these options
  /// help it to; or, where that has been done, gives the model the state it had then.
  template <class M, class Work>
  void run(const std::string& name, M& model, const Work& work) const {
    const auto done = directory_ / (name + ".safetensors");
    if (std::filesystem::exists(done)) {
      const weights::SafetensorsFile file{done};
      model.load_state_dict(file.tensors());
      if (log_) log_("Stage " + name + " is done already: " + done.string());
      return;
    }
    if (log_) log_("Stage " + name);
    const auto checkpoints = directory_ / (name + ".checkpoints");
    Pairs settings = settings_;
    settings.emplace_back("stage", name);
    work(model, CheckpointOptions{.directory = checkpoints,
                                  .resume = true,
                                  .run = {.settings = std::move(settings)},
                                  .log = log_});
    weights::write_safetensors(done, model.state_dict().views());
    std::error_code ignored;  // what is left of them costs room only
    std::filesystem::remove_all(checkpoints, ignored);
  }

 private:
  void claim(const std::string& settings) const {
    const auto file = directory_ / "settings.json";
    if (!std::filesystem::exists(file)) return write_file_atomically(file, settings);
    if (MappedFile{file}.text() == settings) return;
    throw InputError{"holds a job with other settings or inputs",
                     {.object = directory_.string()},
                     "use the same ones, see settings.json there, or another directory"};
  }

  std::filesystem::path directory_;
  Pairs settings_;
  std::function<void(std::string_view)> log_;
};

}  // namespace seqtrain::train
