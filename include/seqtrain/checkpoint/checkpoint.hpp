#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/checkpoint/state_file.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/sink/manifest.hpp>
#include <seqtrain/train/checkpointer.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/tensor_view.hpp>

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
  check_format(document.root());
  state_ = state_in(document.root());
  run_ = run_in(document.root());
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
  put_text(Checkpoint::state_file, to_json(fit.state, run));
  const std::string text = manifest.to_json();
  store.put(folder + "/" + std::string{sink::Manifest::file_name}, std::as_bytes(std::span{text}));
}

/// Writes a checkpoint as one of the run `run` in the same way.
template <class Directory>
void write_checkpoint(Directory& store, const std::string& folder, const Checkpoint& checkpoint,
                      const RunDescription& run) {
  const std::function<void(const train::VisitTensors&)> tensors =
      [&](const train::VisitTensors& visit) {
        for (const char* owner : {"model", "optimizer", "best_model"}) {
          if (checkpoint.has(owner)) visit(owner, checkpoint.tensors(owner));
        }
      };
  write_checkpoint(store, folder, train::FitView{checkpoint.state(), tensors}, run);
}

}  // namespace seqtrain::checkpoint
