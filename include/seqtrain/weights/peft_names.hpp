#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seqtrain::weights {

/// Words of a linear layer's name that are others in transformers' class than in a family's files.
/// PEFT's adapters have those of the class. A linear layer that is several ones in the class has a
/// name there for each of equal parts of its outputs.
struct PeftName {
  std::string_view in_files;
  std::array<std::string_view, 3> in_class;  ///< empty beyond the parts that there are
};

/// Returns the names of a linear layer in PEFT's adapters, one for each part.
[[nodiscard]] inline std::vector<std::string> peft_names(const std::string& layer,
                                                         std::span<const PeftName> names) {
  std::vector<std::string> result{layer};
  for (const auto& [in_files, in_class] : names) {
    const std::string words = std::string{"."}.append(in_files) + ".";
    std::vector<std::string> renamed;
    for (const std::string& name : result) {
      const auto dot = (name + ".").find(words);
      for (const std::string_view part : in_class) {
        if (part.empty() || dot == name.npos) continue;
        renamed.emplace_back(name).replace(dot + 1, in_files.size(), part);
      }
      if (dot == name.npos) renamed.push_back(name);
    }
    result = std::move(renamed);
  }
  return result;
}

}  // namespace seqtrain::weights
