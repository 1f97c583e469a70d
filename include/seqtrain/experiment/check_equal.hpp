#pragma once

#include <string>

#include <seqtrain/checkpoint/same_run.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/dist/group.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// Throws `InputError` on every rank unless all ranks pass equal pairs, e.g. flags and checksums of
/// the data and the program. The error names the first rank that differs from rank 0, and the
/// differences.
inline void check_equal(dist::Group& group, const train::Pairs& pairs) {
  json::Writer out;
  out.begin_object();
  train::append(out, "pairs", pairs);
  const auto messages = group.all_gather(out.end_object().text());
  const auto parse = [](const std::string& text, const std::string& rank) {
    const auto document = json::Document::parse(text, rank);
    return train::pairs_in(document.root(), "pairs");
  };
  const auto first = parse(messages.front(), "rank 0");
  for (std::size_t rank = 1; rank < messages.size(); ++rank) {
    const std::string name = "rank " + std::to_string(rank);
    std::string differences;
    for (const auto& [key, here] : parse(messages[rank], name)) {
      const std::string there = checkpoint::detail::value_of(first, key);
      const std::string value = here.empty() ? "unset" : here;
      if (value == there) continue;
      differences += (differences.empty() ? "" : ", ") + key + " (" + there + " on rank 0, " +
                     value + " on " + name + ")";
    }
    if (!differences.empty()) {
      throw InputError{"differs from rank 0: " + differences,
                       {.object = name},
                       "start the same program with the same flags and data on every machine"};
    }
  }
}

}  // namespace seqtrain::experiment
