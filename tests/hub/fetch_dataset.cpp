// Prints the splits and rows of a data set that is named as by flags of the programs, for tests in
// other languages.
#include <iostream>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data/visit_examples.hpp>
#ifdef WITH_PARQUET
#include <seqtrain/parquet/split.hpp>
#endif

#include <seqtrain/experiment/fetch_inputs.hpp>

using namespace seqtrain;

namespace {

void write_rows(json::Writer& writer, const cli::TrainFlags& flags, const std::string& place) {
  const auto options = flags.read_options();
  const auto problem = problem_type_named(flags.problem_type).value_or(ProblemType::single_label);
  auto of_problem = options;
  of_problem.problem_type = problem;
  const auto labels = data::choose_labels({}, {}, flags.train_file, of_problem);
  writer.begin_array();
  data::visit_examples(place, options, labels, [&](const auto&, const data::Example& example) {
    writer.begin_array().value(example.text).value(example.text_pair.value_or(""));
    writer.value(example.label.value_or("")).end_array();
  });
  writer.end_array();
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run([&] {
    cli::TrainFlags flags;
#ifdef WITH_PARQUET
    flags.open = seqtrain::parquet::open;
#endif
    cli::Flags parser{"fetch_dataset", "prints the splits and rows of a data set"};
    if (!flags.parse(parser, argc, argv)) return;
    experiment::use_dataset(flags, log::log_on_stderr());
    json::Writer writer;
    writer.begin_object().member("dataset", flags.dataset);
    for (const auto& [split, place] :
         {std::pair{flags.train_split, flags.train_file}, {flags.dev_split, flags.dev_file}}) {
      if (split.empty()) continue;
      writer.key(split).begin_object().key("files").begin_array();
      for (const auto& file : data::files_at(place, flags.read_options())) {
        writer.value(file.string());
      }
      writer.end_array().key("rows");
      write_rows(writer, flags, place);
      writer.end_object();
    }
    std::cout << writer.end_object().text() << '\n';
  });
}
