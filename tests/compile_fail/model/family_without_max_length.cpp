// error: the family has no static max_length(const Config&) that returns an std::int64_t
#include <cstdint>

#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/families/bert/bert.hpp>

using namespace seqtrain;

struct Family : model::Bert {
  static constexpr std::string_view model_type = "mine";
#ifdef MISTAKE
  static std::int64_t max_length() {
    return 512;
  }
#endif
};

void use(const weights::WeightsFolder& checkpoint) {
  model::Classifier<Family> classifier{checkpoint};
}
