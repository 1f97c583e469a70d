// Labels texts with a fine-tuned model: one JSON object a line in, one a line out, in order.
#include <iterator>
#include <vector>

#include <seqtrain/cli/local_input.hpp>
#include <seqtrain/cli/predict_flags.hpp>
#include <seqtrain/cli/run.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/data.hpp>
#include <seqtrain/metrics.hpp>
#include <seqtrain/model.hpp>
#include <seqtrain/tensor.hpp>
#include <seqtrain/text.hpp>

using namespace seqtrain;

/// The label ids' probabilities: softmax of a row of logits, or each one's sigmoid.
std::vector<double> scores(const auto& logits, ProblemType type) {
  const auto row = logits.template cast<double>().array().eval();
  if (type == ProblemType::multi_label) {
    const auto each = (1 / (1 + (-row).exp())).eval();
    return {each.begin(), each.end()};
  }
  const auto exponents = (row - row.maxCoeff()).exp().eval();
  const auto probabilities = (exponents / exponents.sum()).eval();
  return {probabilities.begin(), probabilities.end()};
}

/// `{"label": "neutral", "scores": {"entailment": 0.1, …}, "logits": [-1.2, …]}`; `{"labels":
/// ["sport", "money"], …}` where there may be several; `{"value": 3.5}` of regression.
std::string to_line(const auto& logits, const std::vector<std::string>& labels, ProblemType type) {
  json::Writer out;
  out.begin_object();
  if (type == ProblemType::regression) return out.member("value", logits[0]).end_object().text();
  if (type == ProblemType::multi_label) {
    out.key("labels").begin_array();
    for (std::size_t i = 0; const float logit : logits) {
      if (const auto& label = labels[i++]; logit > 0) out.value(std::string_view{label});
    }
    out.end_array();
  } else {
    const auto best = static_cast<std::size_t>(metrics::argmax(logits));
    out.member("label", std::string_view{labels[best]});
  }
  out.key("scores").begin_object();
  for (std::size_t i = 0; const double score : scores(logits, type)) out.member(labels[i++], score);
  out.end_object().key("logits").begin_array();
  for (const float logit : logits) out.value(logit);
  return out.end_array().end_object().text();
}

void predict(const cli::PredictFlags& flags) {
  const auto device = tensor::use_machine(flags.device, flags.threads);
  const auto tokenizer = text::load_tokenizer(flags.model);
  auto model = model::load_classifier(flags.model,
                                      {.tokenizer_size = tokenizer.vocab_size(), .device = device});
  model::check_trained(model.load_report());

  const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
  auto encoded = data::encode_text({.text = text, .name = "stdin"}, tokenizer,
                                   data::Labels{model.config().labels, model.problem_type()},
                                   flags.encode_options(model.max_length()));
  std::vector<std::string> lines(encoded.set.size());
  data::BucketLoader loader{std::move(encoded.set), flags.batches()};
  for (const data::Batch& batch : loader.epoch(0)) {
    const auto logits = model.logits(batch);
    for (Eigen::Index row = 0; row < logits.rows(); ++row) {
      const auto place = static_cast<std::size_t>(batch.row_ids[static_cast<std::size_t>(row)]);
      lines[place] = to_line(logits.row(row), model.config().labels, model.problem_type());
    }
  }
  for (const std::string& line : lines) std::cout << line << '\n';
}

int main(int argc, char** argv) {
  return cli::run([&] {
    cli::PredictFlags flags;
    if (!flags.parse(argc, argv)) return;
    flags.model = cli::local_input(flags.model, report::log_on_stderr()).string();
    predict(flags);
  });
}
