#pragma once

#include <string>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::tests {

/// The words of `--long-texts`.
inline const std::vector<std::pair<std::string, text::LongTexts>> ways_of_long_texts{
    {"truncate", text::LongTexts::truncate},
    {"tail", text::LongTexts::tail},
    {"head-tail", text::LongTexts::head_tail},
    {"windows", text::LongTexts::windows}};

}  // namespace seqtrain::tests
