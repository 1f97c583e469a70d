#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/mapped_file.hpp>

namespace seqtrain::bench {

/// The texts to encode. The texts of pairs are consecutive.
struct Texts {
  std::vector<std::string> singles;
  std::size_t bytes = 0;

  /// Reads JSON lines with `text`, or with the two texts of MultiNLI or of Hugging Face's data
  /// sets.
  static Texts read(const std::string& path) {
    Texts texts;
    const MappedFile file{path};
    std::string_view rest = file.text();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      texts.add(json::Document::parse(rest.substr(0, end), path));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (texts.singles.size() < 2) throw InputError{"too few texts", {.object = path}};
    return texts;
  }

 private:
  void add(const json::Document& line) {
    for (const char* field : {"text", "sentence1", "sentence2", "premise", "hypothesis"}) {
      const auto text = line.root().find(field);
      if (!text) continue;
      singles.emplace_back(text->string());
      bytes += singles.back().size();
    }
  }
};

}  // namespace seqtrain::bench
