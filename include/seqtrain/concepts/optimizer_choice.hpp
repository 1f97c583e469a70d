#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>

namespace seqtrain::optim {

/// The choice of an optimizer, and the options that optimizers share. `make` makes it.
struct Choice {
  /// The optimizers by the names of `optimizer_names`.
  enum class Type { adam, adamw, adamw_8bit, lion, adafactor, sgd, muon };

  Type type = Type::adam;
  double lr = 1e-3;
  double beta1 = 0.9;    ///< for Adam, AdamW, Lion, and for what is no hidden matrix in Muon
  double beta2 = 0.999;  ///< as `beta1`
  double eps = 1e-8;     ///< for Adam and AdamW, and for what is no hidden matrix in Muon
  std::optional<double> momentum = {};  ///< for SGD (default: 0) and Muon (default: 0.95)
  double weight_decay = 0;
  double layerwise_lr_decay = 1;       ///< see `layerwise`
  std::optional<double> head_lr = {};  ///< the rate of what comes after the layers; none: `lr`

  /// Tells whether the optimizer takes `momentum`.
  [[nodiscard]] bool has_momentum() const { return type == Type::sgd || type == Type::muon; }

  void validate() const {
    const Demand demand{"optimizer"};
    const auto is_decay = [](double rate) { return rate >= 0 && rate < 1; };
    const auto is_amount = [](double value) { return value >= 0 && std::isfinite(value); };
    demand(is_amount(lr), "lr", "must be a number, not negative");
    demand(is_decay(beta1), "beta1", "must be at least 0 and below 1");
    demand(is_decay(beta2), "beta2", "must be at least 0 and below 1");
    demand(is_amount(eps), "eps", "must be a number, not negative");
    demand(!momentum || has_momentum(), "momentum", "is for sgd and muon");
    demand(!momentum || is_decay(*momentum), "momentum", "must be at least 0 and below 1");
    demand(is_amount(weight_decay), "weight_decay", "must be a number, not negative");
    demand(layerwise_lr_decay > 0 && layerwise_lr_decay <= 1, "layerwise_lr_decay",
           "must be above 0 and at most 1");
    demand(!head_lr || is_amount(*head_lr), "head_lr", "must be a number, not negative");
    demand(!head_lr || lr > 0, "head_lr", "needs an lr above 0");
  }
};

/// The names of the optimizers that `make` makes, in the order of `Choice::Type`.
inline constexpr std::array<std::pair<std::string_view, Choice::Type>, 7> optimizer_names{
    {{"adam", Choice::Type::adam},
     {"adamw", Choice::Type::adamw},
     {"adamw-8bit", Choice::Type::adamw_8bit},
     {"lion", Choice::Type::lion},
     {"adafactor", Choice::Type::adafactor},
     {"sgd", Choice::Type::sgd},
     {"muon", Choice::Type::muon}}};

/// Returns the name of an optimizer.
constexpr std::string_view name(Choice::Type type) {
  return optimizer_names[static_cast<std::size_t>(type)].first;
}

/// Returns the optimizer with this name. Throws `InputError` that lists the names if there is none.
[[nodiscard]] inline Choice::Type optimizer_named(std::string_view name) {
  for (const auto& [known, type] : optimizer_names) {
    if (known == name) return type;
  }
  std::array<std::string_view, optimizer_names.size()> names;
  std::ranges::transform(optimizer_names, names.begin(),
                         [](const auto& each) { return each.first; });
  throw InputError{"is no optimizer", {.object = std::string{name}}, "use one of " + joined(names)};
}

}  // namespace seqtrain::optim
