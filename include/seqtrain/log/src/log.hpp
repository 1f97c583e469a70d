#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::log {

SEQTRAIN_SEPARATE void Log::lines(std::string_view text) const {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    info(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

SEQTRAIN_SEPARATE void Log::write(Severity severity, std::string_view text,
                                  const Fields& fields) const {
  if (text.empty()) return;
  const std::lock_guard lock{state_->mutex};
  const auto& options = state_->options;
  std::string of_rank;
  if (options.rank > 0) {
    if (severity != Severity::error) return;
    text = of_rank = "rank " + std::to_string(options.rank) + ": " + std::string{text};
  }
  std::ostream* out = options.out;
  if (options.format != LogFormat::json && severity == Severity::error) {
    out->flush();
    out = options.errors;
  }
  *out << line_of(severity, text, fields) << std::flush;
}

SEQTRAIN_SEPARATE std::string Log::line(Severity severity, std::string_view text,
                                        const Fields& fields) const {
  const std::lock_guard lock{state_->mutex};
  return line_of(severity, text, fields);
}

SEQTRAIN_SEPARATE std::string Log::line_of(Severity severity, std::string_view text,
                                           const Fields& fields) const {
  return state_->options.format == LogFormat::json ? json_line(severity, text, fields)
                                                   : text_line(severity, text);
}

SEQTRAIN_SEPARATE std::string Log::text_line(Severity severity, std::string_view text) const {
  std::string line;
  const bool error = severity == Severity::error;
  if (error) line += "error: ";
  if (!error && state_->options.terminal) line += clear_line;
  line += text;
  if (line.back() != '\n') line += '\n';
  return line;
}

SEQTRAIN_SEPARATE std::string Log::json_line(Severity severity, std::string_view text,
                                             const Fields& fields) {
  const auto first = text.find_first_not_of('\n');
  if (first != std::string_view::npos) {
    text = text.substr(first, text.find_last_not_of('\n') + 1 - first);
  }
  json::Writer line;
  line.begin_object().member("severity", name(severity)).member("message", valid(text));
  line.member("time", iso8601(std::chrono::system_clock::now()));
  for (const Field& field : fields) line.key(field.name).raw(valid(field.json));
  return line.end_object().text() + "\n";
}

SEQTRAIN_SEPARATE std::string Log::valid(std::string_view text) {
  std::string copy{text};
  if (simdjson::validate_utf8(copy.data(), copy.size())) return copy;
  std::ranges::replace_if(
      copy, [](char byte) { return static_cast<unsigned char>(byte) > 0x7f; }, '?');
  return copy;
}

}  // namespace seqtrain::log
