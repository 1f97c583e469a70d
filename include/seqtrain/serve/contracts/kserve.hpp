#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/serve/http_message.hpp>

/// Version 1 of KServe's protocol, whose predictions have the form of Vertex AI. Version 2 is the
/// Open Inference Protocol.
namespace seqtrain::serve::kserve {

/// A path: `/v1/models`, `/v1/models/MODEL` or `/v1/models/MODEL:predict`.
struct Path {
  std::optional<std::string_view> model = {};
  bool predicts = false;
};

/// Returns the parts of a path, or nothing if it is not one of the protocol's.
[[nodiscard]] inline std::optional<Path> path_of(std::string_view path) {
  constexpr std::string_view models = "/v1/models", purpose = ":predict";
  if (path == models) return Path{};
  if (!path.starts_with(models) || path[models.size()] != '/') return {};
  path.remove_prefix(models.size() + 1);
  const bool predicts = path.ends_with(purpose);
  if (predicts) path.remove_suffix(purpose.size());
  if (path.empty() || path.find_first_of("/:") != path.npos) return {};
  return Path{.model = path, .predicts = predicts};
}

/// Returns the list of the models' names.
[[nodiscard]] inline HttpResponse list(std::span<const std::string> models) {
  json::Writer out;
  out.begin_object().key("models").begin_array();
  for (const std::string& name : models) out.value(name);
  return {.body = out.end_array().end_object().text()};
}

/// Returns whether a model is ready.
[[nodiscard]] inline HttpResponse describe(std::string_view model, bool ready) {
  json::Writer out;
  out.begin_object().member("name", model).member("ready", ready).end_object();
  return {.status = ready ? 200 : 503, .body = out.text()};
}

}  // namespace seqtrain::serve::kserve
