#pragma once

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/experiment/teacher.hpp>
#include <seqtrain/experiment/teacher_answers.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/storage/find_model.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::experiment {

namespace detail {

/// Calls `visit(record, example)` for the examples to learn from.
template <class Visit>
void visit_rows(const TeacherQuestion& question, const Visit& visit) {
  const cli::TrainFlags& flags = question.flags;
  data::visit_examples(
      flags.train_file, train_read_options(flags), question.labels,
      [&](const data::ExamplePlace& place, const data::Example& example) {
        visit(static_cast<std::int64_t>(place.record), example);
      },
      question.rows);
}

/// Returns the file for the answers of this teacher to these texts. Its name is made of what
/// determines them.
inline std::filesystem::path place_of_answers(const TeacherQuestion& question,
                                              const storage::FoundModel& teacher) {
  Fingerprint print;
  visit_rows(question, [&](std::int64_t, const data::Example& example) {
    print.add(example.text);
    print.add(example.text_pair ? "\n1" : "\n0");
    print.add(example.text_pair.value_or(""));
  });
  print.add(fingerprint_of_teacher(teacher.directory));
  if (!teacher.base.empty()) print.add(fingerprint_of_model(teacher.base));
  print.add(name(question.precision));
  print.add(question.device.str());
  std::string name = print.text();
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return cache_directory() / "teachers" / (name + ".jsonl");
}

/// Lets the teacher answer the texts, and writes the answers as `predict` does. Returns their
/// logits.
inline std::vector<float> write_answers(const TeacherQuestion& question,
                                        const storage::FoundModel& found,
                                        const std::filesystem::path& file) {
  const model::AnyPredictor teacher{
      found.directory,
      {.device = question.device, .precision = question.precision, .base = found.base}};
  const std::string& place = question.flags.teacher;
  if (teacher.problem_type() != ProblemType::single_label) {
    throw InputError{"is a teacher for " + std::string{name(teacher.problem_type())},
                     {.object = place},
                     "take one that gives each text one label"};
  }
  (void)ids_of_labels(teacher.labels(), question.labels, place);
  question.storages.log.info("The teacher " + place + " answers " +
                             std::to_string(question.rows.size()) + " training texts");
  std::filesystem::create_directories(file.parent_path());
  AtomicFile out{file};
  predict::AnswerQueue window{teacher};
  log::Bar<> bar{{.enabled = question.storages.log.on_terminal()}};
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t done = 0;
  AnswerReader reader{question.labels, place};
  std::vector<float> logits;
  const auto answer = [&] {
    if (question.stop.stop_requested()) throw train::Stopped{"stopped while the teacher answered"};
    const std::string text = window.answer();
    try {
      const auto some = reader.read(text);
      logits.insert(logits.end(), some.begin(), some.end());
    } catch (const InputError&) {
      throw InputError{"answers with numbers that are not finite",
                       {.object = place},
                       "look at its weights, or take another teacher"};
    }
    out.write(text);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    bar.draw({.name = "teacher",
              .done = done,
              .total = static_cast<std::int64_t>(question.rows.size()),
              .seconds = time.count()});
  };
  visit_rows(question, [&](std::int64_t record, const data::Example& example) {
    try {
      window.add(teacher.encode(example.text, example.text_pair));
    } catch (const InputError& error) {
      throw InputError{error.what(), {.object = question.flags.train_file, .line = record}};
    }
    ++done;
    if (window.full()) answer();
  });
  answer();
  out.commit();
  return logits;
}

/// Returns the logits of the answers in a file that the user names.
inline std::vector<float> logits_in(const std::string& file, const TeacherQuestion& question) {
  const std::size_t labels = question.labels.size();
  const auto all = AnswerReader{question.labels, file}.read(MappedFile{file}.text());
  if (all.size() / labels != question.records) {
    throw InputError{"has " + std::to_string(all.size() / labels) + " answers, but " +
                         question.flags.train_file + " has " + std::to_string(question.records) +
                         " records",
                     {.object = file},
                     "predict the training file again"};
  }
  std::vector<float> logits;
  for (const std::size_t row : question.rows) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * labels);
    logits.insert(logits.end(), first, first + static_cast<std::ptrdiff_t>(labels));
  }
  return logits;
}

/// Returns the logits of the answers in a file that `write_answers` has written.
inline std::vector<float> read_answers(const TeacherQuestion& question,
                                       const std::filesystem::path& file) {
  try {
    auto logits = AnswerReader{question.labels, file.string()}.read(MappedFile{file}.text());
    if (logits.size() == question.rows.size() * question.labels.size()) return logits;
  } catch (const InputError&) {  // told below
  }
  throw InputError{"is damaged", {.object = file.string()}, "remove it"};
}

}  // namespace detail

SEQTRAIN_SEPARATE std::vector<float> ask_teacher(const TeacherQuestion& question) {
  const std::string& teacher = question.flags.teacher;
  if (teacher.ends_with(".jsonl")) return detail::logits_in(teacher, question);
  const auto found = storage::find_model(teacher, question.storages);
  const auto file = detail::place_of_answers(question, found);
  std::error_code none;
  auto logits = std::filesystem::exists(file, none) ? detail::read_answers(question, file)
                                                    : detail::write_answers(question, found, file);
  question.storages.log.info("The teacher's answers are in " + file.string());
  return logits;
}

}  // namespace seqtrain::experiment
