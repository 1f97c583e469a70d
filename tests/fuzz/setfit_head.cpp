#include <cmath>
#include <cstdint>

#include <seqtrain/weights/setfit_head.hpp>

#include "fuzz.hpp"

/// A head that is accepted has a row of finite numbers for each label.
void seqtrain::fuzz::run(Input input) {
  accepts([&] {
    const weights::SetfitHead head{input.bytes(), "fuzz", {.labels = {"a", "b"}}};
    const auto tensors = head.tensors();
    const auto labels = static_cast<std::int64_t>(head.labels().size());
    require(tensors[0].shape[0] == labels && tensors[1].shape[0] == labels);
    for (const auto& tensor : tensors) {
      for (const float number : to_floats(tensor)) require(std::isfinite(number));
    }
  });
}
