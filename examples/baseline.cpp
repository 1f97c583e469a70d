// Trains the linear model on TF-IDF with which training programs compare theirs, and saves it as a
// model that `predict` and `serve` read. See docs/baseline.md.
#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/experiment/train_baseline.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/parquet/open_on_demand.hpp>

using namespace seqtrain;

int baseline_main(int argc, char** argv) {
  return cli::run([&](log::Log& log) {
    cli::TrainFlags flags;
    flags.open = parquet::open_on_demand;
    flags.train_file = flags.dev_file = "";
    cli::Flags parser{"baseline", "trains a linear model on TF-IDF in seconds", log};
    if (flags.parse_for_baseline(parser, argc, argv)) {
      experiment::train_baseline(flags, parser, log);
    }
  });
}
