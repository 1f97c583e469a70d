#pragma once

#include <string_view>

namespace seqtrain {

/// The version of this library (semantic versioning).
inline constexpr std::string_view version = "0.1.0";

}  // namespace seqtrain
