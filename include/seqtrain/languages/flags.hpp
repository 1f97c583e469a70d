#pragma once

#include <cstdint>
#include <string>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/languages/job.hpp>
#include <seqtrain/languages/places.hpp>
#include <seqtrain/languages/published.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::languages {

/// The values of the flags. Those of a job that depend on the layout are 0 or empty if they are not
/// given.
struct JobFlags {
  Job job;
  Languages languages = {};
  Published published = {};
  std::string model_dir = {};
  std::string work = {};
  std::string precision = "fp32";
  std::string device = "cpu";
  std::int64_t folds = 0;
  bool deterministic = false;

  explicit JobFlags(const log::Log& log) : job{.log = log} {
    job.lang.clear();
    job.epochs = job.batch_size = job.max_length = 0;
  }
};

/// Adds the flags of the program to its help.
inline void add_flags(JobFlags& given, cli::Flags& flags) {
  Job& job = given.job;
  flags.add("lang", job.lang, "folder of the language (default: en; fr in a published layout)")
      .add("epochs", job.epochs, "passes over the texts (default: 10; 8 in a published layout)")
      .add("bucket-name", given.languages.bucket,
           "bucket with a folder for each language: a name of Google's, or an address")
      .add("model-dir", given.model_dir,
           "folder of the bucket for models (default: models; none in a published layout)")
      .add("local", given.languages.local, "directory to use instead of a bucket")
      .add("work-dir", given.work, "directory of the job (default: runs/languages_<lang>)")
      .add("language-model-epochs", job.language_model_epochs,
           "passes of the language model (0: leave that stage out; -1: as --epochs)")
      .add("vocabulary", job.vocabulary, "size of ULMFiT's vocabulary")
      .add("batch-size", job.batch_size, "texts in a batch (default: 32; 16 in a published layout)")
      .add("max-length", job.max_length,
           "words of a text that the classifier reads (default: 512; 1440 in a published layout)")
      .add("columns", job.columns, cli::columns_help)
      .add("folds", given.folds,
           "cross-validate: train a model for each of so many parts of train.csv on the others, "
           "and tell how good they are and which labels are probably wrong (0: train one model)")
      .add("embedding", job.embedding, "size of ULMFiT's embeddings")
      .add("hidden", job.hidden, "size of ULMFiT's layers")
      .add("threads", job.threads, "threads to compute with")
      .add("device", given.device, cli::device_help)
      .add("precision", given.precision,
           "precision of matrix products: fp32, bf16, fp16 (of BERT on a GPU), or " +
               cli::auto_precision)
      .add_switch("deterministic", given.deterministic, cli::deterministic_help)
      .add("seed", job.seed, "seed of the order, the dropout and new weights");
  given.published.add_flags(flags);
  flags.add_for_training();
}

/// Finds the languages and chooses one. Gives the job the flags of a published layout if the
/// language has that layout, and otherwise throws `InputError` if such a flag is given.
inline Languages::Found choose_language(JobFlags& given, const cli::Flags& flags) {
  Job& job = given.job;
  storage::demand_local(given.languages.local, "--local", "name a bucket by --bucket-name");
  given.published.validate();
  const std::string& dataset = given.published.dataset_file;
  auto found = given.languages.find(dataset, {job.log});
  if (job.lang.empty()) job.lang = found.published.empty() ? "en" : "fr";
  if (found.published.contains(job.lang)) {
    job.published = given.published;
  } else if (const auto flag = given.published.first_given(flags)) {
    throw InputError{"is only for a published layout, and " + dataset + " of the language " +
                         job.lang + " was not found",
                     {.object = "--" + *flag}};
  }
  return found;
}

/// Sets the values that are not given to the defaults of the job's layout.
inline void set_defaults(JobFlags& given) {
  Job& job = given.job;
  const bool theirs = job.published.has_value();
  const auto by_layout = [theirs](std::int64_t& value, std::int64_t other, std::int64_t own) {
    if (value == 0) value = theirs ? other : own;
  };
  by_layout(job.epochs, 8, 10);
  by_layout(job.batch_size, 16, 32);
  by_layout(job.max_length, 1440, 512);
  if (given.model_dir.empty() && !theirs) given.model_dir = "models";
  job.work = given.work.empty() ? "runs/languages_" + job.lang : given.work;
}

/// Throws an `InputError` that names the flag if a value is out of range.
inline void check_job(const Job& job) {
  storage::demand_local(job.work.string(), "--work-dir", "see --model-dir");
  cli::require(job.lang.find('/') == std::string::npos, "lang", "must be the name of a folder");
  cli::require(job.epochs >= 1, "epochs", "must be at least 1");
  cli::require(job.language_model_epochs >= -1, "language-model-epochs", "must be at least -1");
  cli::require(job.vocabulary >= 10, "vocabulary", "must be at least 10");
  cli::require(job.batch_size >= 1, "batch-size", "must be at least 1");
  cli::require(job.max_length >= 3, "max-length", "must be at least 3");
  cli::require_threads(job.threads);
}

/// Chooses the device, the precision and the number of threads.
inline void use_machine(JobFlags& given) {
  Job& job = given.job;
  job.device = tensor::select_device(given.device);
  job.precision = model::precision_named(given.precision);
  cli::require(job.precision != model::Precision::int8, "precision",
               "must be fp32, bf16, fp16 or auto");
  if (given.deterministic) tensor::use_deterministic_operators(job.device);
  tensor::keep_freed_memory();
  tensor::set_threads(static_cast<int>(job.threads));
  job.log.lines(tensor::describe(job.device));
}

}  // namespace seqtrain::languages
