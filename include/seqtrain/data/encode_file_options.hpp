#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/read_options.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::data {

/// Progress of encoding a file.
struct EncodeProgress {
  std::size_t bytes = 0;        ///< bytes that have been encoded
  std::size_t total_bytes = 0;  ///< size of the file in bytes
  std::size_t examples = 0;
};

/// How the two texts of an example are encoded: as one row, or as a row for each.
enum class Texts {
  together,  ///< a row has both texts
  apart      ///< rows 2 i and 2 i + 1 have the texts of example i, which must have two
};

/// Options of `encode_file`.
struct EncodeFileOptions {
  ReadOptions read = {};  ///< reading options; the problem type is taken from the labels
  text::EncodeOptions encode = {};
  Texts texts = Texts::together;
  /// The fraction of the examples to keep, from the first on. The number is rounded.
  double fraction = 1;
  std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
  /// The file that receives the encoded set. Other processes can open it with `open_encoded_file`.
  /// It takes almost no memory. If empty, the set is kept in memory.
  std::filesystem::path file = {};
  /// Called repeatedly on the caller's thread.
  std::function<void(const EncodeProgress&)> progress = {};

  void validate() const {
    const Demand demand{"data"};
    demand(fraction > 0 && fraction <= 1, "fraction", "must be above 0 and at most 1");
    demand(workers >= 1 && workers <= 1024, "workers", "must be 1 to 1024");
    demand(encode.max_length >= 1, "max_length", "must be at least 1");
  }
};

namespace detail {

/// Applies `fraction` to a number of examples. Throws `InputError` if nothing remains. `unlabelled`
/// records were left out before.
inline std::size_t kept_of(std::size_t total, const std::string& name, double fraction,
                           std::size_t unlabelled = 0) {
  const auto kept = static_cast<std::size_t>(std::nearbyint(static_cast<double>(total) * fraction));
  if (kept > 0) return kept;
  if (total == 0 && unlabelled > 0) {
    throw InputError{"holds no example with a label",
                     {.object = name},
                     "name the field of the label with --label-field"};
  }
  throw InputError{total == 0 ? "holds no example" : "the fraction leaves no example",
                   {.object = name}};
}

}  // namespace detail

}  // namespace seqtrain::data
