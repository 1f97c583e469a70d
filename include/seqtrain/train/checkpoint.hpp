#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/train/figures.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/state.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_copies.hpp>

namespace seqtrain::train {

/// A fit at one moment, in memory of its own: what a checkpoint is written from while training
/// goes on. Filled again, the memory is used again.
struct Snapshot {
  State state = {};
  std::map<std::string, weights::TensorCopies, std::less<>> tensors = {};  ///< by owner
};

/// What a checkpoint says of the run it belongs to.
struct RunIdentity {
  Pairs settings = {};  ///< all that the mathematics follow from: a resumed run must have the same
  Pairs versions = {};  ///< of the program and its libraries, for people
};

/// A checkpoint that has been read: a directory with
///
///     model.safetensors       the parameters
///     optimizer.safetensors   the optimizer's state
///     best_model.safetensors  the parameters of the best epoch so far, where they are kept
///     trainer_state.json      position, figures so far, settings, versions
///     manifest.json           sizes and checksums of the others; written last
class Checkpoint {
 public:
  static constexpr std::string_view state_file = "trainer_state.json";
  static constexpr std::int64_t format = 1;

  /// Checks all of it. Throws `InputError` where something is missing or not as it was written.
  explicit Checkpoint(const std::filesystem::path& directory);

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const Pairs& settings() const { return settings_; }

  /// The tensors of an owner, mapped. Throws `InputError` where the checkpoint has none.
  [[nodiscard]] std::span<const weights::TensorView> tensors(std::string_view owner) const {
    const auto found = files_.find(owner);
    if (found != files_.end()) return found->second.tensors();
    throw InputError{"has no " + std::string{owner} + ".safetensors",
                     {.object = directory_.string()}};
  }
  [[nodiscard]] bool has(std::string_view owner) const { return files_.contains(owner); }

 private:
  std::filesystem::path directory_;
  State state_;
  Pairs settings_;
  std::map<std::string, weights::SafetensorsFile, std::less<>> files_;
};

namespace detail {

inline constexpr std::string_view tensor_suffix = ".safetensors";

inline void append(json::Writer& out, const metrics::ClassificationReport& report) {
  out.begin_object().member("loss", report.loss).member("labels", report.confusion.rows());
  if (report.problem_type != ProblemType::single_label) {
    out.member("problem_type", name(report.problem_type))
        .member("examples", report.examples)
        .member("accuracy", report.accuracy);
  }
  out.key("confusion").begin_array();
  for (Eigen::Index row = 0; row < report.confusion.rows(); ++row) {
    for (const std::int64_t count : report.confusion.row(row)) out.value(count);
  }
  out.end_array();
  train::append(out, report.figures);
  out.end_object();
}

/// NaN where there is none, or null.
inline double number_in(const std::optional<json::Value>& value) {
  return value && value->is_number() ? value->number() : std::numeric_limits<double>::quiet_NaN();
}

inline std::int64_t count_in(const json::Value& object, std::string_view name) {
  const auto value = object.at(name);
  if (value.integer() < 0) throw value.error("negative");
  return value.integer();
}

/// Rows of counts for each label: as many columns as labels, or the four of binary classifiers.
inline metrics::Confusion confusion_in(const json::Value& report, ProblemType type) {
  const auto labels = report.at("labels").integer();
  const auto counts = report.at("confusion").items();
  const auto size = static_cast<std::int64_t>(counts.size());
  const auto columns = type == ProblemType::multi_label ? metrics::label_counts : labels;
  if (labels < 0 || labels > size || labels * columns != size) {
    throw report.error("the confusion counts do not fit the number of labels");
  }
  metrics::Confusion confusion(labels, columns);
  for (std::int64_t i = 0; i < size; ++i) {
    confusion(i / columns, i % columns) = counts[static_cast<std::size_t>(i)].integer();
  }
  return confusion;
}

inline metrics::ClassificationReport figures_in(const json::Value& value) {
  const auto type = weights::problem_type_in(value).value_or(ProblemType::single_label);
  const double loss = number_in(value.find("loss"));
  const auto confusion = confusion_in(value, type);
  if (type == ProblemType::single_label) return metrics::make_report(confusion, loss);
  if (type == ProblemType::multi_label) {
    return metrics::make_multi_label_report(confusion, number_in(value.find("accuracy")), loss);
  }
  return {.problem_type = type, .examples = count_in(value, "examples"), .loss = loss};
}

inline metrics::ClassificationReport report_in(const json::Value& value) {
  auto report = figures_in(value);
  if (const auto figures = value.find("metrics")) {
    for (const auto& [name, figure] : figures->members()) {
      report.figures.push_back({std::string{name}, number_in(figure)});
    }
  }
  return report;
}

inline State state_in(const json::Value& root) {
  State state{.position = {.epoch = count_in(root, "epoch"),
                           .batch = count_in(root, "batch"),
                           .step = count_in(root, "step")},
              .skipped_steps = count_in(root, "skipped_steps")};
  for (const auto& report : root.at("dev").items()) state.dev.push_back(report_in(report));
  return state;
}

inline std::string to_json(const State& state, const RunIdentity& run) {
  json::Writer out{2};
  out.begin_object().member("format", Checkpoint::format);
  out.member("epoch", state.position.epoch)
      .member("batch", state.position.batch)
      .member("step", state.position.step)
      .member("skipped_steps", state.skipped_steps);
  out.key("dev").begin_array();
  for (const auto& report : state.dev) append(out, report);
  out.end_array();
  train::append(out, "settings", run.settings);
  train::append(out, "versions", run.versions);
  return out.end_object().text() + "\n";
}

}  // namespace detail

inline Checkpoint::Checkpoint(const std::filesystem::path& directory) : directory_{directory} {
  const auto manifest = sink::Manifest::load(directory / sink::Manifest::file_name);
  manifest.check(directory);
  const auto document = json::Document::load(directory / state_file);
  const auto root = document.root();
  if (const auto version = root.at("format"); version.integer() != format) {
    throw version.error("this program reads format " + std::to_string(format));
  }
  state_ = detail::state_in(root);
  for (const auto& [name, value] : root.at("settings").members()) {
    settings_.emplace_back(name, value.string());
  }
  for (const auto& entry : manifest.entries()) {
    if (!entry.name.ends_with(detail::tensor_suffix)) continue;
    files_.try_emplace(entry.name.substr(0, entry.name.size() - detail::tensor_suffix.size()),
                       directory / entry.name);
  }
}

/// Writes a checkpoint into `directory`, which must be there and empty: the manifest last, all of
/// it on the disk when this returns. Throws `Error`.
inline void write_checkpoint(const std::filesystem::path& directory, const Snapshot& snapshot,
                             const RunIdentity& run) {
  sink::Manifest manifest;
  for (const auto& [owner, tensors] : snapshot.tensors) {
    if (tensors.empty()) continue;
    const std::string name = owner + std::string{detail::tensor_suffix};
    weights::write_safetensors(directory / name, tensors.views());
    manifest.add(directory, name);
  }
  const std::string name{Checkpoint::state_file};
  write_file_atomically(directory / name, detail::to_json(snapshot.state, run));
  manifest.add(directory, name);
  write_file_atomically(directory / sink::Manifest::file_name, manifest.to_json());
}

}  // namespace seqtrain::train
