// Fine-tunes a classifier on film reviews, or only its head. See docs/flags.md.
#include <seqtrain/cli/run.hpp>

#include "fine_tune.hpp"
#include "open_file.hpp"

using namespace seqtrain;

int imdb_main(int argc, char** argv) {
  return cli::run([&](log::Log& log) {
    cli::TrainFlags flags;
    flags.train_file = "aclImdb/train";
    flags.dev_file = "aclImdb/test";
    flags.max_length = 512;
    flags.learning_rate = 2e-5;
    flags.open = open_file;
    cli::Flags parser{"imdb", "fine-tunes a classifier on film reviews", log};
    if (flags.parse(parser, argc, argv)) fine_tune(log, "imdb", flags, parser);
  });
}
