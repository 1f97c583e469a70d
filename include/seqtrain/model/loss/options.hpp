#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::model {

/// The options of `Distillation`.
struct TeacherOptions {
  double temperature = 2;  ///< divisor of both models' logits
  double share = 0.5;      ///< weight of the teacher's scores; the label has the rest
};

/// The loss of a problem type. Without options it is the one of transformers.
struct LossOptions {
  /// A weight for each label: of its examples, or, in multi-label classification, of those that
  /// have it. All are 1 if the list is empty.
  std::vector<double> class_weights = {};
  double label_smoothing = 0;                  ///< share of a target that is spread over all labels
  double focal_gamma = 0;                      ///< above 0: focal loss with this exponent
  std::optional<double> huber_delta = {};      ///< regression: Huber's loss with this limit
  std::optional<TeacherOptions> teacher = {};  ///< if targets are the logits of a teacher

  /// Throws `InputError` if a number is out of range or does not go with the problem type.
  void validate(ProblemType type) const {
    const Demand demand{"loss"};
    const auto is_amount = [](double number) { return number >= 0 && std::isfinite(number); };
    demand(label_smoothing >= 0 && label_smoothing <= 1, "label_smoothing",
           "must be at least 0 and at most 1");
    demand(is_amount(focal_gamma), "focal_gamma", "must be a number, not negative");
    demand(is_amount(huber_delta.value_or(1)) && huber_delta != 0, "huber_delta",
           "must be a number above 0");
    const std::string other = "does not go with " + std::string{name(type)};
    demand(class_weights.empty() || has_labels(type), "class_weights", other);
    demand(label_smoothing == 0 || type == ProblemType::single_label, "label_smoothing", other);
    demand(focal_gamma == 0 || has_labels(type), "focal_gamma", other);
    demand(!huber_delta || type == ProblemType::regression, "huber_delta", other);
    demand(!teacher || type == ProblemType::single_label, "teacher", other);
    const auto [temperature, share] = teacher.value_or(TeacherOptions{});
    demand(is_amount(temperature) && temperature > 0, "temperature", "must be a number above 0");
    demand(share >= 0 && share <= 1, "share", "must be at least 0 and at most 1");
  }
};

}  // namespace seqtrain::model
