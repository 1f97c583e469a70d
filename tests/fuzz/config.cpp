#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/weights/model_config.hpp>
#include <seqtrain/weights/write_config.hpp>

#include "fuzz.hpp"

/// What is accepted can be written for other labels and read again.
void seqtrain::fuzz::run(Input input) {
  accepts([&] {
    const auto read = [](std::string_view text) {
      return weights::read_config(weights::ConfigFile::parse(text));
    };
    const auto config = read(input.text());
    const std::vector<std::string> labels{"no", "yes"};
    const auto again = read(weights::classifier_config(input.text(), "Classifier", labels));
    require(again.labels == labels);
    require(again.hidden_size == config.hidden_size);
    require(again.layer_norm_eps == config.layer_norm_eps);
  });
}
