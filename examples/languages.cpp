// Trains a text classifier for a language, whose files lie in a bucket, and leaves the model there:
// docs/languages.md tells how to call it. What it trains is chosen in languages/framework.hpp.
#include <chrono>
#include <filesystem>
#include <string>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/job_dir.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/dist/world.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/sink/publish_once.hpp>
#include <seqtrain/tensor/freed_memory.hpp>
#include <seqtrain/tensor/machine.hpp>
#include <seqtrain/tensor/threads.hpp>
#include <seqtrain/train/figures.hpp>

#include "languages/framework.hpp"
#include "languages/places.hpp"

using namespace seqtrain;

/// Each label as a binary classifier; of the whole, accuracy and the mean over the labels.
void save_performance(const std::filesystem::path& file,
                      const metrics::ClassificationReport& report, const data::Labels& labels) {
  json::Writer out{2};
  out.begin_object().member("accuracy", report.accuracy).member("examples", report.examples);
  out.key("labels").begin_object();
  for (std::size_t i = 0; i < report.labels.size(); ++i) {
    out.key(labels.name(i));
    train::append(out, report.labels[i]);
  }
  out.end_object().key("macro_average");
  train::append(out, report.macro_average());
  write_file_atomically(file, out.end_object().text() + "\n");
}

void run(Job job, const Languages& languages, const std::string& model_dir) {
  const report::Log& log = job.log;
  job.data = languages.fetch(job.lang, log);
  job.labels = data::choose_labels({}, {}, job.data / "train.csv", {});
  auto models = cli::open_job_dir(languages.models(model_dir), log);
  const cli::StopSignals signals{{.log = log.warnings()}};
  job.stop = signals.token();
  const auto report = Framework::train(job);
  log.info(report::tables(report, job.labels.names()));
  save_performance(job.work / "performance.json", report, job.labels);
  const std::string fresh = job.lang + "_" + dated(std::chrono::system_clock::now());
  std::vector<std::string> files{"model.pth", "performance.json"};
  for (const char* file : {"vocabulary.txt", "subwords.model"}) {
    if (std::filesystem::exists(job.work / file)) files.emplace_back(file);
  }
  const auto folder = sink::publish_once(models, job.work, files, fresh);
  log.info("The model is in " + languages.models(model_dir) + "/" + folder);
}

int main(int argc, char** argv) {
  return cli::run([&](report::Log& log) {
    Job job{.log = log};
    Languages languages;
    std::string model_dir = "models", local = languages.local.string(), work;
    cli::Flags flags{"languages", "trains a text classifier for a language from a bucket", log};
    flags.add("lang", job.lang, "folder of the language")
        .add("epochs", job.epochs, "times that the texts are gone through")
        .add("bucket-name", languages.bucket, "bucket with a folder for each language")
        .add("model-dir", model_dir, "folder there that models go to")
        .add("local", local, "directory that takes a bucket's place where none is named")
        .add("work-dir", work, "where the job is kept (default: runs/languages_<lang>)")
        .add("language-model-epochs", job.language_model_epochs,
             "the same for the language model; 0: none, -1: --epochs")
        .add("vocabulary", job.vocabulary, "most words that ULMFiT's model knows")
        .add("batch-size", job.batch_size, "texts in a batch")
        .add("max-length", job.max_length, "words of a text that the classifier reads")
        .add("embedding", job.embedding, "size of ULMFiT's embeddings")
        .add("hidden", job.hidden, "size of ULMFiT's layers")
        .add("threads", job.threads, "threads that compute")
        .add("seed", job.seed, "of the order, the dropout and what is new");
    if (!flags.parse(argc, argv)) return;
    if (const int size = dist::World::from_environment().size; size > 1) {
      throw InputError{"trains on one machine, in one process; there are " + std::to_string(size),
                       {.object = "languages"}};
    }
    cli::require(!job.lang.empty() && job.lang.find('/') == std::string::npos, "lang",
                 "must be the name of a folder");
    cli::require(!model_dir.empty(), "model-dir", "names no folder");
    cli::require(job.epochs >= 1, "epochs", "must be at least 1");
    cli::require(job.language_model_epochs >= -1, "language-model-epochs", "must be at least -1");
    cli::require(job.vocabulary >= 10, "vocabulary", "must be at least 10");
    cli::require(job.batch_size >= 1, "batch-size", "must be at least 1");
    cli::require(job.max_length >= 3, "max-length", "must be at least 3");
    languages.local = local;
    job.work = work.empty() ? "runs/languages_" + job.lang : work;
    tensor::keep_freed_memory();
    tensor::set_threads(static_cast<int>(job.threads));
    log.lines(tensor::describe(c10::Device{c10::kCPU}));
    run(job, languages, model_dir);
  });
}
