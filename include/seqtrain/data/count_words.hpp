#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include <seqtrain/core/ordered_workers.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/data/reader.hpp>
#include <seqtrain/data/record_file.hpp>
#include <seqtrain/text/loading/word_list.hpp>

namespace seqtrain::data {

/// Adds the words of a file's texts to `counts`, on several threads, in the file's order. Throws
/// `InputError` with file and line at the first wrong record.
inline void count_words(const std::filesystem::path& path, const ReadOptions& options,
                        std::size_t workers, text::WordCounts& counts) {
  RecordFile{path, options}.each_text([&](const Reader& reader) {
    const auto parts = reader.parts(detail::part_bytes(reader.bytes(), workers));
    const auto count = [&](std::size_t index, std::size_t, text::WordCounts& part) {
      part.clear();
      reader.read(parts[index], [&part](const Example& example) {
        part.add(example.text);
        if (example.text_pair) part.add(*example.text_pair);
      });
    };
    OrderedWorkers<text::WordCounts> threads{0, parts.size(), workers,
                                             std::vector<text::WordCounts>(workers + 1), count};
    for (const text::WordCounts& part : threads) counts.merge(part);
  });
}

}  // namespace seqtrain::data
