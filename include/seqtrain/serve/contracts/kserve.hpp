#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/read_request.hpp>
#include <seqtrain/serve/request.hpp>

/// Version 1 of KServe's protocol, whose predictions have the form of Vertex AI. Version 2 is the
/// Open Inference Protocol. The errors are those of text-embeddings-inference.
namespace seqtrain::serve::kserve {

/// Returns the name of a model, given what follows `/v1/models/`, or nothing if that is no name.
[[nodiscard]] inline std::optional<std::string_view> name_in(std::string_view rest) {
  if (rest.empty() || rest.find_first_of("/:") != rest.npos) return {};
  return rest;
}

/// Returns the name of a model that `:predict` follows, or nothing.
[[nodiscard]] inline std::optional<std::string_view> name_before_predict(std::string_view rest) {
  constexpr std::string_view purpose = ":predict";
  if (!rest.ends_with(purpose)) return {};
  rest.remove_suffix(purpose.size());
  return name_in(rest);
}

/// Returns the list of the models' names.
[[nodiscard]] inline HttpResponse list(const Call& call) {
  json::Writer out;
  out.begin_object().key("models").begin_array();
  out.value(call.server.options().model_name);
  if (call.server.is_ready()) {
    for (const std::string& name : call.server.adapters()) out.value(name);
  }
  return {.body = out.end_array().end_object().text()};
}

/// Returns whether a model is ready.
[[nodiscard]] inline HttpResponse describe(const Call& call) {
  const bool ready = call.server.is_ready();
  if (ready) static_cast<void>(call.server.task_of(call.model, false));  // throws for another name
  json::Writer out;
  out.begin_object().member("name", *call.model).member("ready", ready).end_object();
  return {.status = ready ? 200 : 503, .body = out.text()};
}

/// Reads a request to the model that the path names.
[[nodiscard]] inline PredictRequest read(const Call& call) {
  PredictRequest request = read_request(call);
  request.model = *call.model;
  return request;
}

/// Returns the contract.
[[nodiscard]] inline Contract contract() {
  const std::string models = "/v1/models";
  return {
      .routes = {
          {.path = models, .answer = list},
          {.path = models + "/", .model_in = name_in, .answer = describe},
          {.method = "POST", .path = models + "/", .model_in = name_before_predict, .read = read}}};
}

}  // namespace seqtrain::serve::kserve
