#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/made_optimizer_case.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::tests {

/// Returns a number of a golden case, or `usual` if the case does not have it.
inline double number_in(const json::Value& golden, const char* name, double usual) {
  const auto found = golden.find(name);
  return found ? found->number() : usual;
}

/// Runs the optimizer that `make` makes for each case of this name in rules.json, and expects the
/// values of the reference. Returns the number of cases.
template <class Make>
std::size_t expect_reference_values(const std::string& name, const Make& make) {
  const auto document = json::Document::load(golden() / "rules.json");
  const auto steps = static_cast<std::int64_t>(document.root().at("steps").number());
  std::size_t cases = 0;
  for (const auto& golden : document.root().at("cases").items()) {
    if (golden.at("name").string() != name) continue;
    ++cases;
    auto optimizer = make(golden);
    const OptimizerCase made;
    const double most = number_in(golden, "max_norm", std::numeric_limits<double>::infinity());
    for (std::int64_t step = 0; step < steps; ++step) {
      made.set_gradients(step);
      EXPECT_EQ(optimizer.step(made.parameters, {.max_grad_norm = most}).problem(), "");
    }
    for (const auto& parameter : made.parameters) {
      const auto expected = golden.at("values").at(parameter.name).items();
      EXPECT_EQ(static_cast<std::int64_t>(expected.size()), parameter.value.numel());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double number = expected[i].number(), near = 5e-6 * std::max(1.0, std::abs(number));
        EXPECT_NEAR(parameter.value.const_data_ptr<float>()[i], number, near)
            << name << " " << cases << " " << parameter.name << " " << i;
      }
    }
  }
  return cases;
}

}  // namespace seqtrain::tests
