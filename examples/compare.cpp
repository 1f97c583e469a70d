// Compares finished runs: flags, figures, McNemar's test, curves, and examples that one run gets
// right and another wrong.
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/read_text.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/page/compared_runs.hpp>
#include <seqtrain/storage/open.hpp>

using namespace seqtrain;

/// Returns a function that reads a file of a run, which is empty if there is none.
std::function<std::string(std::string_view)> reader_of(const std::string& place) {
  const storage::Options storages{log::log_on_stderr()};
  if (storage::is_local(place, storages)) {
    return [place](std::string_view name) {
      const auto file = std::filesystem::path{place} / name;
      std::error_code none;
      return std::filesystem::exists(file, none) ? read_text(file) : std::string{};
    };
  }
  const auto store = std::make_shared<sink::Any>(storage::open(place, storages));
  return [store](std::string_view name) {
    const auto stored = store->get(name);
    return stored ? stored->bytes : std::string{};
  };
}

/// Reads a run from its directory, or from the folder of its results in another storage.
page::compare::ComparedRun load(const std::string& place) {
  const auto text = reader_of(place);
  const page::compare::RunFiles files{.name = place,
                                      .metrics = text("metrics.json"),
                                      .predictions = text("predictions.jsonl"),
                                      .log = text("train_log.jsonl")};
  if (files.metrics.empty()) {
    throw InputError{
        "holds no metrics.json", {.object = place}, "name the place of a finished run"};
  }
  return page::compare::read_run(files);
}

int main(int argc, char** argv) {
  return cli::run([&] {
    std::string page;
    cli::Flags flags{"compare", "compares finished runs, RUN RUN… [--html FILE]"};
    flags.add("html", page, "also write the comparison as a page into this file");
    // An argument that is neither a flag nor a flag's value names a run.
    std::vector<std::string> places;
    std::vector<const char*> others{argv[0]};
    for (int i = 1; i < argc; ++i) {
      const bool is_value = std::string_view{others.back()} == "--html";
      if (is_value || std::string_view{argv[i]}.starts_with("-")) {
        others.push_back(argv[i]);
      } else {
        places.emplace_back(argv[i]);
      }
    }
    if (!flags.parse(static_cast<int>(others.size()), others.data())) return;
    if (places.size() < 2) throw InputError{"needs two runs to compare", {}, "name their places"};
    std::vector<page::compare::ComparedRun> runs;
    for (const auto& place : places) runs.push_back(load(place));
    page::compare::add_texts(runs);
    std::cout << page::compare::comparison_text(runs) << std::flush;
    if (!page.empty()) write_file_atomically(page, page::compare::comparison_page(runs));
  });
}
