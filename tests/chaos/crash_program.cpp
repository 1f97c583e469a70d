// A training program that needs no torch and takes milliseconds, for crash_points.py:
//
//     crash_program DIRECTORY [--background]
//
// It trains, saves and publishes as the programs in examples/ do: checkpoints in
// DIRECTORY/checkpoints, results in DIRECTORY/run, a copy of the results in DIRECTORY/job. Started
// again it resumes. Checkpoints are written between two steps, so that all calls of the system come
// in one order, or with --background by another thread as usual. Stdout may be a socket: then the
// program prints without `write`, and faults of that call hit files only.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include <seqtrain/checkpoint/checkpoints.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/background.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/report/json_lines.hpp>
#include <seqtrain/run/model_files.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/run/save_run.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/train/selection.hpp>
#include <seqtrain/trainer.hpp>
#include <seqtrain/weights/safetensors.hpp>

#include "support/fakes.hpp"

namespace {

using namespace seqtrain;
namespace fs = std::filesystem;

/// Writes to a socket without the system call `write`; to other files with it.
class Output : public std::streambuf {
 public:
  explicit Output(int number) : number_{number} {}

 private:
  int_type overflow(int_type value) override {
    const char character = traits_type::to_char_type(value);
    return xsputn(&character, 1) == 1 ? value : traits_type::eof();
  }

  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const auto bytes = static_cast<std::size_t>(size);
    const auto sent = ::send(number_, text, bytes, 0);
    return sent >= 0 ? sent : ::write(number_, text, bytes);
  }

  int number_;
};

/// A model with so many numbers that their file is written in several calls. Each number learns a
/// factor of its own.
class WideModel {
 public:
  using batch_type = tests::FakeBatch;
  using loss_type = tests::FakeLoss;
  using parameter_type = tests::FakeParameter;
  using output_type = metrics::Logits;

  struct Config {
    std::vector<std::string> labels = {"negative", "positive"};
  };

  /// Refers to the model's numbers.
  struct State {
    std::array<weights::TensorView, 1> tensors;
    [[nodiscard]] std::span<const weights::TensorView> views() const { return tensors; }
  };

  WideModel() {
    for (std::size_t i = 0; i < size; ++i) parameters_.push_back({&values_[i], &gradients_[i]});
  }

  tests::FakeLoss accumulate(const tests::FakeBatch& batch, double weight) {
    const double share = 1 / static_cast<double>(batch.rows);
    double loss = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double wanted = 1 + static_cast<double>(i) / size;
      for (const double x : batch.x) {
        const double error = (values_[i] - wanted) * x;
        loss += error * error * share / size;
        gradients_[i] += weight * 2 * error * x * share;
      }
    }
    return {loss};
  }

  [[nodiscard]] metrics::Logits logits(const tests::FakeBatch& batch) const {
    metrics::Logits result(batch.rows, 2);
    for (Eigen::Index row = 0; row < batch.rows; ++row) {
      const double x = batch.x[static_cast<std::size_t>(row)];
      result.row(row) << 0.0F, static_cast<float>(values_.front() * x);
    }
    return result;
  }

  [[nodiscard]] std::span<const tests::FakeParameter> parameters() const { return parameters_; }
  [[nodiscard]] static Config config() { return {}; }

  [[nodiscard]] State state_dict() const {
    return {{weights::TensorView{.name = "w",
                                 .dtype = weights::DType::f64,
                                 .shape = {static_cast<std::int64_t>(size)},
                                 .bytes = std::as_bytes(std::span{values_})}}};
  }
  void load_state_dict(std::span<const weights::TensorView> tensors) {
    const auto bytes = tensors.front().bytes;
    const auto numbers = std::as_writable_bytes(std::span{values_});
    if (bytes.size() != numbers.size()) throw InputError{"has another size", {.object = "w"}};
    std::ranges::copy(bytes, numbers.begin());
  }

  void save_pretrained(const fs::path& directory) const {
    write_file_atomically(directory / "config.json", "{}\n");
    weights::write_safetensors(directory / "model.safetensors", state_dict().views());
  }

 private:
  static constexpr std::size_t size = 40'000;

  std::vector<double> values_ = std::vector<double>(size);
  std::vector<double> gradients_ = std::vector<double>(size);
  std::vector<tests::FakeParameter> parameters_;
};

/// Runs each task at once, on the thread that starts it.
struct AtOnce {
  template <class Task>
  void start(const Task& task) {
    task();
  }
  [[nodiscard]] static bool busy() { return false; }
  void wait() {}
  static bool pause(std::chrono::milliseconds) { return false; }
  void hurry() {}
  void stop() {}
};

/// Prints each step, and the step that the checkpointer says is saved. Waits until a checkpoint
/// that is being written is complete, so that the next step has one too.
struct Progress {
  log::Log log;
  std::function<std::string()> unfinished;

  void on(const train::FitBegin& event) { report("begin", event.position.step); }
  void on(const train::StepEnd& event) { report("step", event.step); }
  void on(const train::FitEnd& event) { report("end", event.step); }

 private:
  void report(const char* name, std::int64_t step) const {
    using namespace std::chrono_literals;
    std::string text = unfinished();
    for (int i = 0; i < 100 && text.starts_with("checkpoint-"); ++i) {
      std::this_thread::sleep_for(1ms);
      text = unfinished();
    }
    log.info(std::string{name} + " " + std::to_string(step) + ": " + text);
  }
};

template <class Worker>
void train_in(const fs::path& directory, const log::Log& log) {
  const run::RunDirectory run{{.path = directory / "run", .overwrite = true}};
  const train::CheckpointOptions options{
      .every = 1, .keep = 2, .settings = {{"seed", "1"}}, .log = report::notices_to(log)};
  checkpoint::BasicCheckpoints<sink::Directory, sink::Any, Worker> checkpointer{
      sink::Directory{directory / "checkpoints"}, nullptr, options};
  checkpointer.lock();  // before `create` removes files of a killed run
  run.create();
  report::JsonLines records{run.log(), {.every = 1, .warn = log.warnings()}};
  tests::FakeLoader loader{{1, -2, 0.5, 3, -1, 2}, 2};
  Trainer trainer{WideModel{}, tests::FakeSgd{0.01}, loader, sink::Directory{directory / "job"}};
  const auto fitted =
      trainer.fit({.epochs = 2, .metric_for_best_model = "loss"}, loader, train::BestModel{},
                  Progress{log, [&] { return checkpointer.unfinished(); }}, records, checkpointer);
  const auto save_tokenizer = [](const fs::path& directory) {
    fs::copy_file(fs::path{SEQTRAIN_TESTS_DIR} / "chaos/crash_points.py",
                  directory / "crash_points.py", fs::copy_options::overwrite_existing);
  };
  run::with_files_of(trainer.model(), [&](const run::ModelFiles& files) {
    run::save_run(run, files, save_tokenizer, {.dev = fitted.dev.back()});
  });
  trainer.publish(run.path(), run.results(), "model");
  if (!checkpointer.problem().empty()) throw Error{checkpointer.problem()};
  log.info("The model is in " + run.path().string());
}

}  // namespace

int main(int argc, char** argv) {
  Output to_stdout{1};
  Output to_stderr{2};
  std::streambuf* const before[] = {std::cout.rdbuf(&to_stdout), std::cerr.rdbuf(&to_stderr)};
  const std::span words{argv, static_cast<std::size_t>(argc)};
  const int code = cli::run([&](log::Log& log) {
    if (words.size() < 2) throw InputError{"which directory?", {.object = "crash_program"}};
    const bool background = words.size() > 2 && std::string_view{words[2]} == "--background";
    background ? train_in<Background>(words[1], log) : train_in<AtOnce>(words[1], log);
  });
  std::cout.rdbuf(before[0]);
  std::cerr.rdbuf(before[1]);
  return code;
}
