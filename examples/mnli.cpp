// Fine-tunes a classifier of texts or of pairs of texts. See docs/flags.md.
#include <string_view>
#include <utility>

#include <seqtrain/data/loader.hpp>
#include <seqtrain/dist/replicated.hpp>
#include <seqtrain/experiment.hpp>
#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/optim/averaged.hpp>
#include <seqtrain/parquet/open_on_demand.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/trainer.hpp>

using namespace seqtrain;

int mnli_main(int argc, char** argv) {
  cli::TrainFlags defaults;
  defaults.open = parquet::open_on_demand;
  if (argc > 0 && std::string_view{argv[0]} == "seqtrain train") {
    defaults.train_file = defaults.dev_file = "";  // for texts of one's own, not the bundled pairs
  }
  const experiment::ProgramOptions options{
      .name = "mnli",
      .purpose = "fine-tunes a classifier of texts or of pairs of texts",
      .defaults = std::move(defaults)};
  return experiment::run(argc, argv, options, [](experiment::Run& run) {
    // RoBERTa, BERT or another encoder with a head, copied to every process.
    dist::Replicated<model::AnyClassifier> model = run.model();
    // Adam with weight decay or another rule, and the averages of the parameters for --ema-decay.
    optim::Averaged<optim::Any> optimizer = run.optimizer(model);
    // Batches of texts of similar lengths, padded to the longest.
    data::BucketLoader batches = run.batches();
    // A bucket of Google Cloud Storage, a directory or nothing.
    sink::Any sink = run.sink();
    run.fit(Trainer{std::move(model), std::move(optimizer), std::move(batches), std::move(sink)});
  });
}
