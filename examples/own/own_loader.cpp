// A loader of your own: every second batch is one of a second file, until a file is used up.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

std::vector<std::size_t> lengths_of(const data::EncodedSet& set) {
  std::vector<std::size_t> lengths;
  for (std::size_t row = 0; row < set.size(); ++row) lengths.push_back(set.length(row));
  return lengths;
}

/// Returns the batches of two plans in turns. The rows of the second one follow those of the first.
data::BatchPlan in_turns(data::BatchPlan first, const data::BatchPlan& second) {
  const auto groups = static_cast<std::uint32_t>(first.order.size());
  const auto rows = static_cast<std::uint32_t>(first.rows.size());
  for (const std::uint32_t row : second.rows) first.rows.push_back(rows + row);
  for (std::size_t i = 1; i < second.offsets.size(); ++i) {
    first.offsets.push_back(rows + second.offsets[i]);
  }
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < first.order.size() || i < second.order.size(); ++i) {
    if (i < first.order.size()) order.push_back(first.order[i]);
    if (i < second.order.size()) order.push_back(groups + second.order[i]);
  }
  first.order = std::move(order);
  return first;
}

data::BucketLoader mixture(experiment::Run& run, const std::string& file) {
  auto options = run.loader_options();
  data::EncodedSet set = run.take_train_set();
  const data::EncodedSet other = run.encode(file);
  options.plan_of = [first = lengths_of(set), second = lengths_of(other), of = options.plan,
                     seed = options.seed](std::uint64_t epoch) {
    return in_turns(data::make_plan(first, of, seed, epoch),
                    data::make_plan(second, of, seed, epoch));
  };
  set.append(other);
  return data::BucketLoader{std::move(set), std::move(options)};
}

int main(int argc, char** argv) {
  std::string file = "examples/data/nli/dev.jsonl";
  const experiment::ProgramOptions options{
      .name = "own_loader", .add_flags = [&](auto& flags) {
        flags
            .role(cli::leaves_results_alone)  // a run resumes with another path to equal contents
            .add("second-file", file, "the file that every second batch is taken from");
      }};
  return experiment::run(argc, argv, options, [&](experiment::Run& run) {
    auto model = run.model();
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), mixture(run, file), run.sink()});
  });
}
