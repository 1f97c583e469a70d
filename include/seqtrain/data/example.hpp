#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace seqtrain::data {

/// The value of a field that a reader passes on as it is.
struct KeptValue {
  std::string_view text = {};
  bool is_json =
      false;  ///< true if `text` is a JSON value that is not a string, such as 12 or null
  bool is_cell = false;  ///< true if `text` is a cell of a table whose cells have no types
};

/// One record of a file. A reader passes it to a visitor. It is valid until the visitor returns.
struct Example {
  std::string_view text = {};
  std::optional<std::string_view> text_pair = {};
  /// The label as the file has it: a name, a number or an array.
  std::optional<std::string_view> label = {};
  std::string_view record = {};          ///< the whole record, which is a part of its `Source`
  std::int64_t row = 0;                  ///< the row's number in an `ExampleFile`, counted from 1
  std::span<const KeptValue> kept = {};  ///< the values of `Fields::keep`
};

/// The label that MultiNLI and SNLI use if the annotators did not agree.
constexpr std::string_view no_label = "-";

/// The label id that Hugging Face's data sets use for examples without a gold label.
constexpr std::string_view no_label_id = "-1";

}  // namespace seqtrain::data
