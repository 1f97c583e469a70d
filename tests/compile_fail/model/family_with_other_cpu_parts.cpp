// error: the Encoder's cpu_parts<T>() must be const and return an
// std::optional<cpu::EncoderParts<T>>
#include <cstdint>

#include <seqtrain/model/families.hpp>

using namespace seqtrain;

struct Encoder {
  Encoder(const model::Scope&, const weights::ModelConfig&) {}
  at::Tensor operator()(const tensor::Batch& batch, model::Dropout&) const {
    return batch.input_ids;
  }
  template <class T>
#ifdef MISTAKE
  model::cpu::EncoderParts<T> cpu_parts() const;
#else
  std::optional<model::cpu::EncoderParts<T>> cpu_parts() const;
#endif
};

struct Family : model::Bert {
  using Encoder = ::Encoder;
};

model::ArchitectureList<Family> families;
