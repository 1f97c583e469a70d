// Trains a text classifier for a language whose files are in a bucket, and puts the model there.
// See docs/languages.md. languages/framework.hpp chooses the framework.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/flags/data.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/dist/world.hpp>
#include <seqtrain/experiment/job_dir.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/sink/publish.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/place.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/tensor/threads.hpp>

#include "languages/framework.hpp"
#include "languages/places.hpp"
#include "languages/stages.hpp"

using namespace seqtrain;

namespace {

/// The values of the flags. Those of a job that depend on the layout are 0 or empty if they are not
/// given.
struct LanguagesFlags {
  Job job;
  Languages languages = {};
  Published published = {};
  std::string model_dir = {};
  std::string work = {};
  std::string precision = "fp32";
  std::string device = "cpu";
  bool deterministic = false;

  explicit LanguagesFlags(const log::Log& log) : job{.log = log} {
    job.lang.clear();
    job.epochs = job.batch_size = job.max_length = 0;
  }
};

void add_flags(LanguagesFlags& given, cli::Flags& flags) {
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
Languages::Found choose_language(LanguagesFlags& given, const cli::Flags& flags) {
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
void set_defaults(LanguagesFlags& given) {
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
void check_job(const Job& job) {
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
void use_machine(LanguagesFlags& given) {
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

/// Writes each label's scores as a binary classifier, the accuracy, and the macro averages.
void save_performance(const std::filesystem::path& file,
                      const metrics::ClassificationReport& report, const data::Labels& labels) {
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
void save_description(const std::filesystem::path& file, const Job& job) {
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
void publish_job(const Job& job, sink::Any& place, const std::string& where) {
  std::vector<std::string> files{job.model_file().filename().string(),
                                 job.published ? job.published->score_file : "performance.json",
                                 "description.json", "vocabulary.txt", "subwords.model"};
  std::erase_if(files, [&](const auto& file) { return !std::filesystem::exists(job.work / file); });
  const std::string fresh =
      job.published ? "" : job.lang + "_" + dated(std::chrono::system_clock::now());
  const auto folder = sink::publish_once(place, job.work, files, fresh);
  job.log.info("The model is in " + sink::key_below(where, folder));
}

/// Puts the files that a job of a published layout trains on into a directory of its own. The files
/// of an earlier start are replaced only if that start had equal settings and inputs.
void gather_published(Job& job, const std::filesystem::path& folder) {
  const auto own = job.work / "published";
  const auto data = own / "data", fresh = own / "data.new";
  if (std::filesystem::exists(data) && !std::filesystem::exists(own / "settings.json")) {
    throw InputError{"does not belong to a job: settings.json is missing",
                     {.object = own.string()},
                     "use another --work-dir"};
  }
  std::filesystem::remove_all(fresh);
  job.published->gather(folder, fresh, job.lang == "en");
  job.labels = job.published->split(folder, fresh, job.log);
  job.data = fresh;
  const Stages claim{own, job.settings()};
  std::filesystem::remove_all(data);
  std::filesystem::rename(fresh, data);
  job.data = data;
}

/// Fetches the language's files and finds its labels. Returns the place for the model, if it has
/// one.
std::optional<sink::Any> prepare_job(Job& job, const LanguagesFlags& given,
                                     const Languages::Found& found) {
  const auto folder = given.languages.fetch(job.lang, found, {job.log});
  std::optional<sink::Any> place;
  if (!given.model_dir.empty()) {
    place = experiment::open_job_dir(given.languages.place_of(given.model_dir), {job.log});
  }
  if (job.published) {
    job.published->pretrained = storage::fetch(job.published->pretrained, {job.log});
    gather_published(job, folder);
  } else {
    job.data = folder;
    job.labels = data::choose_labels({}, {}, job.data / "train.csv", {.columns = job.columns});
  }
  return place;
}

/// Logs the figures on the test part, and saves them or, in a published layout, a description of
/// the model.
void save_report(const Job& job, const metrics::ClassificationReport& report) {
  job.log.info(report::tables(report, job.labels.names()));
  if (job.published) return save_description(job.work / "description.json", job);
  save_performance(job.work / "performance.json", report, job.labels);
}

/// Calls `use`, which reads a language's files. An error whose remedy is a flag of `seqtrain train`
/// gets one of this program.
template <class Use>
void with_own_remedies(const Use& use) {
  try {
    use();
  } catch (const InputError& error) {
    const char* const columns =
        "name the columns text and label in the header, or without one by --columns";
    const char* const labels = "train.csv needs texts of each of the language's labels";
    const char* const one = "here a text has one label";
    const std::string text = error.what();
    for (const auto& [flag, own] : {std::pair{"--label-field", columns},
                                    {"--text-field", columns},
                                    {"--labels ", labels},
                                    {"--problem-type", one}}) {
      const auto place = text.find(flag);
      if (place == text.npos) continue;
      throw InputError{text.substr(0, text.rfind("; ", place)), {}, own};
    }
    throw;
  }
}

void run_job(const LanguagesFlags& given, const Languages::Found& found) {
  Job job = given.job;
  std::optional<FileLock> held;
  if (job.published) held.emplace(lock_directory(job.work));  // before files are gathered there
  auto place = prepare_job(job, given, found);
  if (!held) held.emplace(lock_directory(job.work));
  const cli::StopSignals signals{{.log = job.log.warnings()}};
  job.stop = signals.token();
  save_report(job, Framework::train(job));
  if (!place) return job.log.info("The model is in " + job.work.string());
  publish_job(job, *place, given.languages.place_of(given.model_dir));
}

}  // namespace

int languages_main(int argc, char** argv) {
  return cli::run([&](log::Log& log) {
    LanguagesFlags given{log};
    cli::Flags flags{"languages", "trains a text classifier for a language from a bucket", log};
    add_flags(given, flags);
    if (!flags.parse(argc, argv)) return;
    if (const int size = dist::World::from_environment().size; size > 1) {
      throw InputError{"trains on one machine, in one process; there are " + std::to_string(size),
                       {.object = "languages"}};
    }
    const auto found = choose_language(given, flags);
    const bool theirs = given.job.published.has_value();
    cli::require_columns(given.job.columns);
    cli::require(!theirs || given.job.columns.empty(), "columns", "is not for a published layout");
    set_defaults(given);
    check_job(given.job);
    use_machine(given);
    with_own_remedies([&] { run_job(given, found); });
  });
}
