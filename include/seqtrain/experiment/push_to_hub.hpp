#pragma once

#include <exception>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/flag_text.hpp>
#include <seqtrain/cli/flags/output.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/hub/account.hpp>
#include <seqtrain/hub/open.hpp>
#include <seqtrain/hub/push.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::experiment {

/// Pushes the model of a finished run to the repository that `--push-to-hub` names. Does nothing if
/// the flag is not given.
class PushToHub {
 public:
  /// Asks the hub for the account of the token, so that a wrong name or token is found before
  /// training. Throws `InputError` if the push cannot succeed, or `Error` if the hub cannot be
  /// reached.
  PushToHub(const cli::OutputFlags& flags, log::Log log)
      : log_{std::move(log)}, is_private_{flags.hub_private_repo} {
    if (flags.push_to_hub.empty()) return;
    name_ = hub::Name::parse(flags.push_to_hub);
    cli::require(
        cli::CloudJob::from_environment().trial.empty(), "push-to-hub",
        "does not go with trials of hyperparameters, which would all push to " + name_->id);
    check_may_push(hub::open_client(log_.warnings()), *name_);
  }

  /// Pushes the files of a model's folder. Throws `Stopped` if `stop` requests it, or an `Error`
  /// that says how to push the files later.
  void push(const std::filesystem::path& model, const std::stop_token& stop) const {
    if (!name_) return;
    try {
      if (stop.stop_requested()) throw train::Stopped{"stopped before the push"};
      const auto client = hub::open_upload_client(log_.warnings(), stop);
      const auto commit = hub::push_folder(
          client, *name_, model,
          {.is_private = is_private_, .tell = [this](std::string_view line) { log_.info(line); }});
      const auto page = client.settings().url("/" + name_->id);
      log_.info("The model is at " + page.origin() + page.target + ", commit " + commit);
    } catch (const std::exception& error) {
      if (stop.stop_requested()) throw train::Stopped{"stopped before the model was pushed"};
      throw Error{std::string{"the model here could not be pushed: "} + error.what(),
                  {.object = model.string()},
                  "push it later by: hf upload " + name_->id + " " +
                      cli::shell_word(model.string()) + " ."};
    }
  }

 private:
  log::Log log_;
  bool is_private_;
  std::optional<hub::Name> name_;
};

}  // namespace seqtrain::experiment
