#include <algorithm>
#include <string>
#include <vector>

#include <seqtrain/hub/dataset_splits.hpp>

#include "fuzz.hpp"

/// Reads splits from a card, and from names of files, one a line. Every file of a split must exist,
/// and must be there once.
void seqtrain::fuzz::run(Input input) {
  const std::string text{input.text()};
  std::vector<std::string> files{"README.md", "data/train-00000-of-00001.parquet", "a/dev.csv"};
  for (std::size_t begin = 0; begin < text.size() && files.size() < 20;) {
    const auto end = std::min(text.find('\n', begin), text.size());
    files.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const std::string& card : {text, "---\nconfigs:\n" + text + "\n---\n"}) {
    accepts([&] {
      for (const auto& split : hub::dataset_splits(files, card, "", "set").splits) {
        auto names = split.files;
        std::ranges::sort(names);
        require(std::ranges::adjacent_find(names) == names.end());
        for (const auto& name : names) require(std::ranges::count(files, name) > 0);
      }
    });
  }
}
