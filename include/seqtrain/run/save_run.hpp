#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/run/model_card.hpp>
#include <seqtrain/run/model_files.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/weights/safetensors.hpp>
#include <seqtrain/weights/write_config.hpp>
#include <seqtrain/weights/write_torch_file.hpp>

namespace seqtrain::run {

/// Calls the functions in order. If one fails, throws an `Error` that names the parts that were
/// saved and those that were not.
inline void save_parts(const std::vector<std::pair<std::string, std::function<void()>>>& parts) {
  const auto names = [&parts](std::size_t begin, std::size_t end) {
    std::string text = begin == end ? "nothing" : "";
    for (; begin < end; ++begin) text += (text.empty() ? "" : ", ") + parts[begin].first;
    return text;
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    try {
      parts[i].second();
    } catch (const std::exception& error) {
      throw Error{std::string{error.what()} + "; saved: " + names(0, i) +
                  "; not saved: " + names(i, parts.size())};
    }
  }
}

/// Saves a finished run in its directory: the model's files with those that
/// `save_tokenizer(directory)` writes, a model card and the calibration if there is one; the
/// state_dict; the results. Each of the three appears whole or not at all.
inline void save_run(const RunDirectory& run, const ModelFiles& model,
                     const std::function<void(const std::filesystem::path&)>& save_tokenizer,
                     Results results, CardFacts facts = {}) {
  const auto fill = [&](const std::filesystem::path& directory) {
    if (model.save) {
      model.save(directory);
    } else {
      weights::write_safetensors(directory / "model.safetensors", model.state_dict);
    }
    const auto config = directory / "config.json";
    if (results.calibration && std::filesystem::exists(config)) {
      const std::string text{MappedFile{config}.text()};
      write_file_atomically(config, weights::with_calibration(text, results.calibration->chosen));
    }
    save_tokenizer(directory);
    write_file_atomically(directory / "README.md", model_card(results, facts));
  };
  if (!model.labels.empty()) results.labels = model.labels;
  results.peak_memory_mib = peak_memory_mib();
  facts.name = run.path().filename().string();
  run.create();
  save_parts({{run.model().string(), [&] { run.replace_model(fill); }},
              {run.state_dict().string(),
               [&] { weights::write_torch_file(run.state_dict(), model.state_dict); }},
              {run.metrics().string(), [&] { save(results, run.metrics()); }}});
}

}  // namespace seqtrain::run
