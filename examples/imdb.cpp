// Fine-tunes a classifier on film reviews, or only its head. See docs/flags.md.
#include <utility>

#include <seqtrain/experiment.hpp>
#include <seqtrain/parquet/open_on_demand.hpp>

using namespace seqtrain;

int imdb_main(int argc, char** argv) {
  cli::TrainFlags defaults;
  defaults.train_file = "aclImdb/train";
  defaults.dev_file = "aclImdb/test";
  defaults.max_length = 512;
  defaults.learning_rate = 2e-5;
  defaults.open = parquet::open_on_demand;
  const experiment::ProgramOptions options{.name = "imdb",
                                           .purpose = "fine-tunes a classifier on film reviews",
                                           .defaults = std::move(defaults)};
  return experiment::run(argc, argv, options, [](experiment::Run& run) { run.fit(run.trainer()); });
}
