#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace seqtrain::data {

/// One record of a file, as a reader passes it to a visitor. It is valid until the visitor returns.
struct Example {
  std::string_view text = {};
  std::optional<std::string_view> text_pair = {};
  std::optional<std::string_view> label = {};  ///< as it is written: a name, a number, an array
  std::string_view record = {};                ///< the whole record, a part of its `Source`
  std::int64_t row = 0;  ///< the number of its row, from 1, in an `ExampleFile`
};

/// The label that MultiNLI and SNLI write if the annotators did not agree.
constexpr std::string_view no_label = "-";

/// The label id that Hugging Face's data sets write where there is no gold label.
constexpr std::string_view no_label_id = "-1";

}  // namespace seqtrain::data
