#pragma once

#include <seqtrain/concepts/policies.hpp>

namespace seqtrain::train {

/// Returns the weight of a batch in a mean over several batches: `model.weight_of(batch)` if the
/// model has it, else the number of rows.
template <Model M>
double weight_of(const M& model, const typename M::batch_type& batch) {
  if constexpr (requires { model.weight_of(batch); }) {
    return model.weight_of(batch);
  } else {
    return static_cast<double>(batch.rows);
  }
}

}  // namespace seqtrain::train
