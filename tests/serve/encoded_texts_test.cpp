#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/encoded_texts.hpp>

#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

using tests::ServedModel;

std::vector<std::string> strings_of(const EncodedTexts& texts) {
  std::vector<std::string> strings;
  for (const auto& part : texts.parts) {
    strings.emplace_back(part.input_ids.begin() + 1, part.input_ids.end());
  }
  return strings;
}

/// Returns the parts of a text, each without its first id, and the number of its ids.
std::pair<std::vector<std::string>, std::size_t> parts_of(const PredictInput& text,
                                                          std::size_t max_windows = 3) {
  EncodedTexts out;
  const std::size_t ids = add_text(ServedModel{{.window = 5}}, text, max_windows, out);
  return {strings_of(out), ids};
}

using Parts = std::pair<std::vector<std::string>, std::size_t>;

TEST(EncodedTexts, CutALongTextIntoWindows) {
  EXPECT_EQ(parts_of({.text = "abcd"}), (Parts{{"abcd"}, 5}));
  EXPECT_EQ(parts_of({.text = "abcdefghij"}), (Parts{{"abcd", "efgh", "ij"}, 11}));
  EXPECT_EQ(parts_of({.text = "q", .pair = "abcdef"}), (Parts{{"q\2ab", "q\2cd", "q\2ef"}, 9}));
}

TEST(EncodedTexts, KeepThePlacesOfWindowsAmongWholeTexts) {
  const ServedModel model{{.window = 5}};
  EncodedTexts out;
  for (const char* text : {"a", "abcdef", "b", "abcdefghi"}) {
    add_text(model, {.text = text}, 3, out);
  }
  EXPECT_EQ(strings_of(out),
            (std::vector<std::string>{"a", "abcd", "ef", "b", "abcd", "efgh", "i"}));
  ASSERT_EQ(out.cuts.size(), 2u);
  EXPECT_EQ(out.cuts[0].first, 1u);
  EXPECT_EQ(out.cuts[1].first, 4u);
  ASSERT_EQ(out.cuts[1].windows.size(), 3u);
  EXPECT_EQ(out.cuts[1].windows[2].begin, 8u);
  EXPECT_EQ(out.cuts[1].windows[2].end, 9u);
  EXPECT_EQ(out.cuts[1].windows[2].count, 3u);
}

TEST(EncodedTexts, RefuseATextOfTooManyWindows) {
  EncodedTexts out;
  try {
    add_text(ServedModel{{.window = 5}}, {.text = "abcdefghijklm"}, 3, out);
    FAIL();
  } catch (const HttpError& refusal) {
    EXPECT_EQ(refusal.status(), 413);
    EXPECT_STREQ(refusal.what(),
                 "`inputs` must have at most 3 windows of 5 tokens. Given: 4 windows; "
                 "\"truncate\": true cuts longer texts, and a larger --max-windows of the server "
                 "admits them");
  }
}

TEST(EncodedTexts, CutATextOfTooManyWindowsIfTheyMay) {
  const PredictInput beginning{.text = "abcdefghijklmno", .truncation = Truncation::right};
  EXPECT_EQ(parts_of(beginning), (Parts{{"abcd", "efgh", "ijkl"}, 13}));
  PredictInput end = beginning;
  end.truncation = Truncation::left;
  EXPECT_EQ(parts_of(end).first.back().back(), 'o');
  EXPECT_EQ(parts_of(end).second, 13u);
  const PredictInput pair{.text = "q", .pair = "abcdefghijklmno", .truncation = Truncation::right};
  EXPECT_EQ(parts_of(pair), (Parts{{"q\2ab", "q\2cd", "q\2ef"}, 9}));
}

TEST(EncodedTexts, AreWholeIfTheModelReadsNoWindows) {
  const ServedModel model{{.max_length = 8}};
  EncodedTexts out;
  EXPECT_EQ(add_text(model, {.text = "abcdefg"}, 1, out), 8u);
  EXPECT_THROW(add_text(model, {.text = "abcdefgh"}, 1, out), HttpError);
  EXPECT_EQ(longest_text(model, 1), 8u);
  EXPECT_EQ(longest_text(ServedModel{{.window = 5}}, 3), 13u);
  EXPECT_EQ(longest_text(ServedModel{{.window = 5}}, std::size_t{1} << 62), 1'000'000u);
}

}  // namespace
}  // namespace seqtrain::serve
