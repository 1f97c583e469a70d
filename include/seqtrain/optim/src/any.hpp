#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ATen/ops/ones.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/optim/any.hpp>
#include <seqtrain/tensor/state_dict.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::optim {

SEQTRAIN_SEPARATE tensor::StateDict Any::state() const {
  tensor::StateDict state = optimizer_->state();
  if (!name_.empty() && !state.views().empty()) {
    state.add(std::string{marker} + name_, at::ones({1}, at::kByte));
  }
  return state;
}

SEQTRAIN_SEPARATE void Any::load_state(Views state, Parameters parameters) {
  std::vector<weights::TensorView> own{state.begin(), state.end()};
  std::erase_if(own, [&](const weights::TensorView& view) {
    if (!view.name.starts_with(marker)) return false;
    check_name(view.name.substr(marker.size()));
    return true;
  });
  optimizer_->load_state(own, parameters);
}

SEQTRAIN_SEPARATE void Any::check_name(const std::string& saved) const {
  if (saved == name_) return;
  const std::string own = name_.empty() ? "one of another type" : name_;
  throw InputError{"the checkpoint's state is of " + saved + ", but this optimizer is " + own,
                   {.object = "optimizer"},
                   "continue with " + saved + ", or begin a new run"};
}

}  // namespace seqtrain::optim
