// error: the family does not name its Config, Encoder and Head
#include <cstdint>

#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/families/bert/bert.hpp>

using namespace seqtrain;

struct Family {
  static constexpr std::string_view model_type = "mine";
  static constexpr std::string_view prefix = "mine";
  static constexpr std::string_view classifier = "MineForSequenceClassification";
  using Config = weights::ModelConfig;
  using Encoder = model::Bert::Encoder;
#ifndef MISTAKE
  using Head = model::Bert::Head;
#endif
  static Config read_config(const weights::ConfigFile& file) {
    return weights::read_config(file);
  }
  static std::int64_t max_length(const Config&) {
    return 512;
  }
};

void use(const weights::WeightsFolder& checkpoint) {
  model::Classifier<Family> classifier{checkpoint};
}
