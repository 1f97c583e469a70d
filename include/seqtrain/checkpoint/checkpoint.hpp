#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/metrics/figures.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/train/keeper.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/state.hpp>
#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_copies.hpp>

namespace seqtrain::checkpoint {

/// A copy of a fit's state and tensors. A background task writes it while training continues.
/// Assigning to it again reuses the memory.
struct Snapshot {
  train::State state = {};
  std::map<std::string, weights::TensorCopies, std::less<>> tensors = {};  ///< copies, by owner

  void assign(const train::FitView& fit) {
    fit.tensors([this](std::string_view owner, std::span<const weights::TensorView> views) {
      tensors[std::string{owner}].assign(views);
    });
    state = fit.state;  // last: asking for the tensors may add to skipped_steps
  }

  /// Calls `use` with a view of the copy.
  template <class Use>
  void view(const Use& use) const {
    const std::function<void(const train::VisitTensors&)> visit_all =
        [this](const train::VisitTensors& visit) {
          for (const auto& [owner, copies] : tensors) visit(owner, copies.views());
        };
    use(train::FitView{state, visit_all});
  }
};

/// The run that a checkpoint belongs to.
struct RunDescription {
  std::string id = {};                 ///< empty in a checkpoint of seqtrain 0.1
  std::vector<Ancestor> lineage = {};  ///< runs that this one continues, the oldest first
  std::int64_t steps = 0;              ///< optimizer steps planned; 0 if not known
  train::Pairs settings = {};          ///< flags that determine the result
  train::Pairs fit = {};               ///< options of `fit` that determine the result
  train::Pairs versions = {};          ///< versions of the program and its libraries, for people
};

/// A checkpoint in memory, read and checked. Its files are
///
///     model.safetensors       the parameters
///     optimizer.safetensors   the optimizer's state
///     best_model.safetensors  the parameters of the best epoch so far, with a `BestModel`
///     trainer_state.json      position, dev figures so far, run, settings, versions
///     manifest.json           the run, and sizes and checksums of the others; written last
class Checkpoint {
 public:
  static constexpr std::string_view state_file = "trainer_state.json";
  static constexpr std::int64_t format = 2;
  static constexpr std::int64_t format_0_1 = 1;

  /// Returns the bytes of a checkpoint's file, or nothing if there is no such file.
  using Read = std::function<std::optional<SharedBytes>(const std::string& name)>;

  /// Reads and checks a whole checkpoint. Throws `InputError` if a file is missing or does not
  /// match its checksum. `where` names the checkpoint in errors.
  Checkpoint(std::string where, const Read& read);

  /// Reads and checks a checkpoint in a directory. Throws `InputError` if a file is missing or does
  /// not match its checksum.
  explicit Checkpoint(const std::filesystem::path& directory)
      : Checkpoint{directory.string(),
                   [&](const std::string& name) { return Files{}.read(directory / name); }} {}

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const train::State& state() const { return state_; }
  [[nodiscard]] const RunDescription& run() const { return run_; }

  /// Tells whether the checkpoint has tensors of an owner: "model", "optimizer" or "best_model".
  [[nodiscard]] bool has(std::string_view owner) const { return files_.contains(owner); }

  /// Returns the tensors of an owner, which live as long as the checkpoint. Throws `InputError` if
  /// the checkpoint has none.
  [[nodiscard]] std::span<const weights::TensorView> tensors(std::string_view owner) const {
    const auto found = files_.find(owner);
    if (found != files_.end()) return found->second.tensors;
    // seqtrain 0.1 left out the file of an optimizer that had no state yet.
    if (run_.id.empty() && state_.position.step == 0) return {};
    throw InputError{"has no " + std::string{owner} + ".safetensors", {.object = where_}};
  }

 private:
  struct TensorFile {
    SharedBytes bytes;
    std::vector<weights::TensorView> tensors;
  };

  std::string where_;
  train::State state_;
  RunDescription run_;
  std::map<std::string, TensorFile, std::less<>> files_;
};

namespace detail {

inline constexpr std::string_view tensor_suffix = ".safetensors";

inline std::string file_of(std::string_view owner) {
  return std::string{owner} + std::string{tensor_suffix};
}

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
  metrics::append(out, report.figures);
  out.end_object();
}

/// Returns the value, or NaN if it is absent or not a number.
inline double number_in(const std::optional<json::Value>& value) {
  return value && value->is_number() ? value->number() : std::numeric_limits<double>::quiet_NaN();
}

inline std::int64_t count_in(const json::Value& object, std::string_view name) {
  const auto value = object.at(name);
  if (value.integer() < 0) throw value.error("negative");
  return value.integer();
}

/// Reads confusion counts: a row for each label, with a column for each label or with the four
/// columns of a binary classifier.
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

/// Reads a report, without the metrics that a user added.
inline metrics::ClassificationReport figures_in(const json::Value& value) {
  const auto name_of_type = value.find("problem_type");
  if (name_of_type && name_of_type->string() == name(ProblemType::language_modeling)) {
    return {.problem_type = ProblemType::language_modeling,
            .examples = count_in(value, "examples"),
            .loss = number_in(value.find("loss"))};
  }
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

inline train::State state_in(const json::Value& root) {
  train::State state{.position = {.epoch = count_in(root, "epoch"),
                                  .batch = count_in(root, "batch"),
                                  .step = count_in(root, "step")},
                     .skipped_steps = count_in(root, "skipped_steps")};
  for (const auto& report : root.at("dev").items()) state.dev.push_back(report_in(report));
  return state;
}

inline train::Pairs pairs_in(const json::Value& root, std::string_view name) {
  train::Pairs pairs;
  if (const auto object = root.find(name)) {
    for (const auto& [key, value] : object->members()) pairs.emplace_back(key, value.string());
  }
  return pairs;
}

inline RunDescription run_in(const json::Value& root) {
  RunDescription run{.settings = pairs_in(root, "settings"),
                     .fit = pairs_in(root, "fit"),
                     .versions = pairs_in(root, "versions")};
  if (root.at("format").integer() == Checkpoint::format_0_1) return run;
  run.id = root.at("run").string();
  run.steps = count_in(root, "steps");
  for (const auto& item : root.at("lineage").items()) {
    run.lineage.push_back({.run = std::string{item.at("run").string()},
                           .step = count_in(item, "step"),
                           .steps = count_in(item, "steps")});
  }
  return run;
}

inline std::string to_json(const train::State& state, const RunDescription& run) {
  json::Writer out{2};
  out.begin_object().member("format", Checkpoint::format);
  out.member("run", std::string_view{run.id}).key("lineage").begin_array();
  for (const auto& ancestor : run.lineage) {
    out.begin_object().member("run", std::string_view{ancestor.run});
    out.member("step", ancestor.step).member("steps", ancestor.steps).end_object();
  }
  out.end_array()
      .member("epoch", state.position.epoch)
      .member("batch", state.position.batch)
      .member("step", state.position.step)
      .member("steps", run.steps)
      .member("skipped_steps", state.skipped_steps);
  out.key("dev").begin_array();
  for (const auto& report : state.dev) append(out, report);
  out.end_array();
  train::append(out, "settings", run.settings);
  train::append(out, "fit", run.fit);
  train::append(out, "versions", run.versions);
  return out.end_object().text() + "\n";
}

}  // namespace detail

inline Checkpoint::Checkpoint(std::string where, const Read& read) : where_{std::move(where)} {
  const auto bytes_of = [&](const std::string& name) {
    auto bytes = read(name);
    if (!bytes) throw InputError{"is missing", {.object = where_ + "/" + name}};
    return *std::move(bytes);
  };
  const std::string manifest_file{sink::Manifest::file_name};
  const auto manifest =
      sink::Manifest::parse(bytes_of(manifest_file).text(), where_ + "/" + manifest_file);
  for (const auto& entry : manifest.entries()) {
    const std::string file = where_ + "/" + entry.name;
    auto bytes = bytes_of(entry.name);
    sink::Manifest::check(entry, bytes.bytes, file);
    if (!entry.name.ends_with(detail::tensor_suffix)) continue;
    auto tensors = weights::parse_safetensors(bytes.bytes, file);
    files_.try_emplace(entry.name.substr(0, entry.name.size() - detail::tensor_suffix.size()),
                       TensorFile{std::move(bytes), std::move(tensors)});
  }
  const std::string state{state_file};
  const auto document = json::Document::parse(bytes_of(state).text(), where_ + "/" + state);
  const auto root = document.root();
  if (const auto version = root.at("format");
      version.integer() != format && version.integer() != format_0_1) {
    throw version.error("this program reads formats 1 and 2");
  }
  state_ = detail::state_in(root);
  run_ = detail::run_in(root);
}

/// Writes a fit as a checkpoint into the folder `folder` of a store, the manifest last. The
/// checkpoint is durable on return. Throws `Error`.
template <class Directory>
void write_checkpoint(Directory& store, const std::string& folder, const train::FitView& fit,
                      const RunDescription& run) {
  sink::Manifest manifest;
  manifest.run = run.id;
  const auto put = [&](const std::string& name,
                       std::span<const std::span<const std::byte>> pieces) {
    sink::Manifest::Entry entry{.name = name};
    Crc32c checksum;
    for (const auto piece : pieces) {
      entry.size += piece.size();
      checksum.update(piece);
    }
    entry.crc32c = checksum.value();
    store.put_pieces(folder + "/" + name, pieces);
    manifest.add(std::move(entry));
  };
  const auto put_text = [&](std::string_view name, const std::string& text) {
    const auto bytes = std::as_bytes(std::span{text});
    put(std::string{name}, {&bytes, 1});
  };
  fit.tensors([&](std::string_view owner, std::span<const weights::TensorView> tensors) {
    const std::string name = detail::file_of(owner);
    auto pieces = weights::safetensors_pieces(tensors, folder + "/" + name);
    pieces.data.insert(pieces.data.begin(), std::as_bytes(std::span{pieces.head}));
    put(name, pieces.data);
  });
  put_text(Checkpoint::state_file, detail::to_json(fit.state, run));
  const std::string text = manifest.to_json();
  store.put(folder + "/" + std::string{sink::Manifest::file_name}, std::as_bytes(std::span{text}));
}

/// Writes a copy of a fit in the same way.
template <class Directory>
void write_checkpoint(Directory& store, const std::string& folder, const Snapshot& snapshot,
                      const RunDescription& run) {
  snapshot.view([&](const train::FitView& fit) { write_checkpoint(store, folder, fit, run); });
}

}  // namespace seqtrain::checkpoint
