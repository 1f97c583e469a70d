#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/forms.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/read_request.hpp>
#include <seqtrain/serve/request.hpp>

/// The contract of TorchServe's text handlers: their requests, answers and errors. A list of texts,
/// or a text as the whole body, is answered by `{"Categories": "pos", "Tensor": [0.1, 0.9]}` for
/// each text.
namespace seqtrain::serve::torch_serve {

/// Returns the response that refuses a request: `{"code", "type", "message"}`.
[[nodiscard]] inline HttpResponse error(const HttpError& error) {
  json::Writer out;
  out.begin_object().member("code", error.status()).member("type", error.type());
  out.member("message", std::string_view{error.what()}).end_object();
  return {.status = error.status(), .body = out.text()};
}

/// Returns the value of a regression, or its values in the order of the targets with semicolons
/// between them.
[[nodiscard]] inline std::string joined_values(const predict::Prediction& prediction,
                                               const predict::Task& task) {
  std::string text;
  for (std::size_t k = 0; k < std::max<std::size_t>(1, task.labels.size()); ++k) {
    json::Writer number;
    text += (k == 0 ? "" : ";") + number.value(prediction.logits[k]).text();
  }
  return text;
}

/// Writes the answer for one text.
inline void write_answer(json::Writer& out, const PredictInput&,
                         const predict::Prediction& prediction, const predict::Task& task) {
  const bool regression = task.problem_type == ProblemType::regression;
  out.begin_object().key("Categories");
  out.value(regression ? joined_values(prediction, task)
                       : serve::detail::joined_labels(prediction.labels, task));
  out.key("Tensor").begin_array();
  for (const double score : prediction.scores) out.value(score);
  out.end_array().end_object();
}

/// Reads a list of texts.
[[nodiscard]] inline PredictRequest read_list(const json::Value& root, const TextLimits& limits) {
  PredictRequest request;
  const auto items = root.items();
  serve::detail::check_count(items.size(), limits.texts);
  const PredictInput like{.write = write_answer, .truncation = Truncation::right};
  for (const auto& item : items) request.texts.emplace_back(like).text = item.string();
  return request;
}

/// Reads a body that is one text, as `curl -T file` sends it, or a JSON string if the request says
/// that it is JSON. Returns nothing if the body is another JSON value: it begins with `{` or `[`.
[[nodiscard]] inline std::optional<PredictRequest> read_text(std::string_view body,
                                                             std::string_view content_type = {}) {
  const auto begin = body.find_first_not_of(" \t\r\n");
  if (begin == body.npos) throw HttpError{400, error_type::empty, "the body cannot be empty"};
  if (body[begin] == '{' || body[begin] == '[') return {};
  const bool is_json = forms::ContentType{content_type}.is("application/json");
  auto text = is_json ? read_json(body, [](const auto& root) { return std::string{root.string()}; })
                      : std::string{body};
  serve::detail::check_not_empty(text, "body");
  return PredictRequest{
      .single = true,
      .texts = {{.text = std::move(text), .write = write_answer, .truncation = Truncation::right}}};
}

/// Reads a request, whose body may also be a form, or have the form of another contract.
[[nodiscard]] inline PredictRequest read(const Call& call) {
  const HttpRequest& http = call.http;
  const auto field = forms::field_of(http.content_type, http.body);
  const std::string& body = field ? *field : http.body;
  auto text = read_text(body, field ? "" : http.content_type);
  PredictRequest request =
      text ? *std::move(text) : read_by_form(body, call.forms.predict, call.limits());
  if (call.model) request.model = *call.model;
  return request;
}

/// Returns the model's name, given what follows `/predictions/`. A version may follow the name.
[[nodiscard]] inline std::optional<std::string_view> name_in(std::string_view rest) {
  if (rest.empty()) return {};
  return rest.substr(0, rest.find('/'));
}

/// Returns the contract. The path that Vertex AI chooses, if it is one of TorchServe's, names no
/// model.
[[nodiscard]] inline Contract contract(const ServiceOptions& options) {
  const std::string predictions = "/predictions/";
  std::vector<Route> routes;
  for (const char* method : {"POST", "PUT"}) {
    if (options.predict_route.starts_with(predictions)) {
      routes.push_back({.method = method, .path = options.predict_route, .read = read});
    }
    routes.push_back({.method = method, .path = predictions, .model_in = name_in, .read = read});
  }
  return {.routes = routes, .forms = {.predict = {{.read = read_list}}}, .error = error};
}

}  // namespace seqtrain::serve::torch_serve
