#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/languages/job.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/publish.hpp>

namespace seqtrain::languages {

/// Writes each label's scores as a binary classifier, the accuracy, and the macro averages.
inline void save_performance(const std::filesystem::path& file,
                             const metrics::ClassificationReport& report,
                             const data::Labels& labels) {
  json::Writer out{2};
  out.begin_object().member("accuracy", report.accuracy).member("examples", report.examples);
  out.key("labels").begin_object();
  for (std::size_t i = 0; i < report.labels.size(); ++i) {
    out.key(labels.name(i));
    metrics::append(out, report.labels[i]);
  }
  out.end_object().key("macro_average");
  metrics::append(out, report.macro_average());
  write_file_atomically(file, out.end_object().text() + "\n");
}

/// Writes the facts that a program needs to predict with the model.
inline void save_description(const std::filesystem::path& file, const Job& job) {
  json::Writer out{2};
  out.begin_object().member("model", std::string_view{job.published->model_file});
  out.key("labels").begin_array();
  for (const auto& name : job.labels.names()) out.value(std::string_view{name});
  out.end_array().member("problem_type", name(job.labels.problem_type()));
  out.member("max_length", job.max_length).member("backwards", job.published->backwards);
  if (job.labels.problem_type() == ProblemType::multi_label) {
    out.key("seqtrain").begin_object().key("thresholds").begin_array();
    for (std::size_t i = 0; i < job.labels.names().size(); ++i) out.value(job.published->threshold);
    out.end_array().end_object();
  }
  write_file_atomically(file, out.end_object().text() + "\n");
}

/// Publishes the job's files that exist to `place`, which is called `where` in messages. In a
/// published layout they go directly there, else into a dated folder.
inline void publish_job(const Job& job, sink::Any& place, const std::string& where) {
  std::vector<std::string> files{job.model_file().filename().string(),
                                 job.published ? job.published->score_file : "performance.json",
                                 "description.json", "vocabulary.txt", "subwords.model"};
  std::erase_if(files, [&](const auto& file) { return !std::filesystem::exists(job.work / file); });
  const std::string fresh =
      job.published ? "" : job.lang + "_" + dated(std::chrono::system_clock::now());
  const auto folder = sink::publish_once(place, job.work, files, fresh);
  job.log.info("The model is in " + sink::key_below(where, folder));
}

/// Logs the figures on the test part, and saves them or, in a published layout, a description of
/// the model.
inline void save_report(const Job& job, const metrics::ClassificationReport& report) {
  job.log.info(report::tables(report, job.labels.names()));
  if (job.published) return save_description(job.work / "description.json", job);
  save_performance(job.work / "performance.json", report, job.labels);
}

}  // namespace seqtrain::languages
