#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/visit_examples.hpp>
#include <seqtrain/experiment/few_shot.hpp>
#include <seqtrain/experiment/prepare.hpp>
#include <seqtrain/experiment/teacher.hpp>
#include <seqtrain/weights/sentence_form.hpp>

namespace seqtrain::experiment {

/// Gives the training examples the teacher's logits as targets if there is a teacher. The first
/// process asks it.
inline void learn_from_teacher(const Program& program, const Prepared& run, Examples& examples,
                               const std::stop_token& stop) {
  if (run.flags.teacher.empty()) return;
  const auto bytes = program.processes.once([&] {
    auto rows = examples.train_rows;
    if (rows.empty()) {
      rows.resize(examples.train.set.size());
      std::iota(rows.begin(), rows.end(), std::size_t{0});
    }
    const auto logits = ask_teacher({.storages = program.storages,
                                     .flags = run.flags,
                                     .labels = run.labels,
                                     .rows = rows,
                                     .records = examples.train.total + examples.dev_rows.size(),
                                     .device = program.device,
                                     .precision = run.model.precision(),
                                     .stop = stop});
    return std::string{reinterpret_cast<const char*>(logits.data()), sizeof(float) * logits.size()};
  });
  std::vector<float> logits(bytes.size() / sizeof(float));
  std::memcpy(logits.data(), bytes.data(), bytes.size());
  const auto unlabelled = std::ranges::count(examples.train.set.arrays().labels, -1);
  const std::string alone = " training examples have no label and learn from the teacher alone";
  if (unlabelled == std::ssize(examples.train.set.arrays().labels)) {
    program.log.warning("All" + alone + "; --label-field names another field");
  } else if (unlabelled > 0) {
    program.log.info(std::to_string(unlabelled) + alone);
  }
  examples.train.set = with_targets(std::move(examples.train.set), std::move(logits));
}

/// Lets the model of a run with `--few-shot` learn from pairs of the examples. Throws `InputError`
/// if a label has no example or an example has two texts.
inline void learn_from_few(const Program& program, Prepared& run, const data::EncodedSet& set) {
  for (std::size_t id = 0; id < run.labels.size(); ++id) {
    if (std::ranges::count(set.arrays().labels, static_cast<std::int32_t>(id)) > 0) continue;
    throw InputError{"has no example of the label '" + shown(run.labels.names()[id]) + "'",
                     {.object = run.flags.train_file},
                     "--few-shot needs one of each label at least; see --labels"};
  }
  const auto read = train_read_options(run.flags);
  data::visit_examples(run.flags.train_file, read, run.labels, [&](auto place, const auto& each) {
    if (!each.text_pair) return;
    throw InputError{
        "has two texts; --few-shot embeds one text of each example",
        {.object = run.flags.train_file, .line = static_cast<std::int64_t>(place.record)},
        "--text-field names the text to read; or train without --few-shot"};
  });
  few_shot::learn_from(run.model, few_shot::batches_of(set));
  const weights::SentenceForm& form = *run.model.config().sentence;
  program.log.info(std::string{"Few-shot: the embedding of a text is "} +
                   (form.mean_pooling   ? "the mean of its tokens"
                    : form.last_pooling ? "its last token"
                                        : "its first token") +
                   (form.normalizes ? ", normalized to length 1" : ", not normalized"));
}

}  // namespace seqtrain::experiment
