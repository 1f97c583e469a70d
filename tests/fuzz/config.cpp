#include <string>
#include <vector>

#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/write_config.hpp>

#include "fuzz.hpp"

/// Checks that an accepted config can be written for other labels and read again.
void seqtrain::fuzz::run(Input input) {
  accepts([&] {
    const auto config = weights::parse_config(input.text());
    const std::vector<std::string> labels{"no", "yes"};
    const auto again = weights::parse_config(weights::classifier_config(input.text(), labels));
    require(again.labels == labels);
    require(again.hidden_size == config.hidden_size);
    require(again.layer_norm_eps == config.layer_norm_eps);
  });
}
