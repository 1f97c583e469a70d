#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/version.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

/// The Open Inference Protocol, version 2, of KServe and Triton: its paths, bodies and errors, with
/// the extension for binary tensors.
namespace seqtrain::serve::open_inference {

/// Returns the model's name, given what follows `/v2/models/`, or nothing if another purpose
/// follows the name. The purpose is empty for metadata. Models have no versions.
[[nodiscard]] inline std::optional<std::string_view> name_before(std::string_view purpose,
                                                                 std::string_view rest) {
  const auto end = std::min(rest.find('/'), rest.size());
  if (rest.substr(std::min(end + 1, rest.size())) != purpose) return {};
  return rest.substr(0, end);
}

/// Returns the response that refuses a request: `{"error"}`, with a status of the protocol.
[[nodiscard]] inline HttpResponse error(const HttpError& error) {
  const int status = error.status();
  json::Writer out;
  out.begin_object().member("error", std::string_view{error.what()}).end_object();
  return {.status = status == 422 ? 400 : status == 424 ? 500 : status, .body = out.text()};
}

namespace detail {

struct Output {
  std::string_view name, datatype;
  bool binary = false;  // its data come after the JSON object
};

inline std::vector<Output> outputs_of(const predict::Task& task, bool binary) {
  const std::vector<Output> outputs{
      {"label", "BYTES", binary}, {"score", "FP32", binary}, {"scores", "FP32", binary}};
  if (predict::has_several_values(task)) return {outputs.back()};  // no value is the score
  return {outputs.begin() + (task.problem_type == ProblemType::regression), outputs.end()};
}

/// Returns the length of an array, which may be huge, without a copy of its items.
inline std::size_t length(const json::Value& array) {
  simdjson::dom::array items;
  if (array.element().get(items) != simdjson::SUCCESS) throw array.error("expected an array");
  return items.size();
}

/// Reads texts, each after its length in 4 bytes. Takes their bytes from the front of `bytes`.
inline std::vector<std::string> read_binary(const json::Value& size, std::size_t count,
                                            std::string_view& bytes) {
  const auto given = static_cast<std::uint64_t>(size.integer());  // huge if it is negative
  if (given > bytes.size()) throw size.error("is more than the bytes after the JSON object");
  auto data = bytes.substr(0, given);
  bytes.remove_prefix(given);
  std::vector<std::string> texts;
  while (!data.empty()) {
    if (texts.size() == count) throw size.error("has more elements than the shape says");
    std::uint32_t length = 0;
    std::memcpy(&length, data.data(), std::min(data.size(), sizeof length));
    if (data.size() < sizeof length + length) throw size.error("ends inside an element");
    texts.emplace_back(data.substr(sizeof length, length));
    if (!text::is_valid_utf8(texts.back())) throw size.error("has an element that is not UTF-8");
    data.remove_prefix(sizeof length + length);
  }
  return texts;
}

/// Reads an input of the shape [N] or [N, 1]: binary, `["a", "b"]`, or `[["a"], ["b"]]` if [N, 1].
inline std::vector<std::string> read_input(const json::Value& input, std::string_view& binary,
                                           const TextLimits& limits) {
  const auto datatype = input.at("datatype");
  if (datatype.string() != "BYTES") throw datatype.error("expected BYTES");
  const auto shape = input.at("shape");
  const auto sizes = length(shape) <= 2 ? shape.items() : std::vector<json::Value>{};
  const bool column = sizes.size() == 2;
  if (sizes.empty() || sizes[0].integer() < 0 || (column && sizes[1].integer() != 1)) {
    throw shape.error("expected [N] or [N, 1]");
  }
  const auto count = static_cast<std::size_t>(sizes[0].integer());
  serve::detail::check_count(count, limits.texts);
  const auto parameters = input.find("parameters");
  const auto size = parameters ? parameters->find("binary_data_size") : std::nullopt;
  const auto data = size ? input.find("data") : input.at("data");
  if (size && data) throw size->error("is given beside data");
  auto texts = size ? read_binary(*size, count, binary) : std::vector<std::string>{};
  if ((data ? length(*data) : texts.size()) != count) throw shape.error("does not fit the data");
  for (const auto& item : data ? data->items() : std::vector<json::Value>{}) {
    const bool nested = column && item.is_array();
    if (nested && length(item) != 1) throw item.error("expected one text");
    texts.emplace_back(nested ? item.items()[0].string() : item.string());
  }
  return texts;
}

/// Reads the texts of a request: one input of any name, or the inputs `text` and `text_pair`.
inline std::vector<PredictInput> read_inputs(const json::Value& inputs, std::string_view binary,
                                             const TextLimits& limits) {
  const std::size_t count = length(inputs);
  std::map<std::string_view, std::vector<std::string>> tensors;
  for (const auto& input : count <= 2 ? inputs.items() : std::vector<json::Value>{}) {
    tensors.emplace(input.at("name").string(), read_input(input, binary, limits));
  }
  const bool pairs = tensors.contains("text_pair");
  if (count == 0 || tensors.size() != count || pairs != (count == 2) ||
      (pairs && !tensors.contains("text"))) {
    throw inputs.error("expected one input, or two with the names text and text_pair");
  }
  if (!binary.empty()) throw inputs.error("do not take all bytes after the JSON object");
  auto& first = tensors.begin()->second;
  auto& second = tensors.rbegin()->second;
  if (first.size() != second.size()) throw inputs.error("have different shapes");
  std::vector<PredictInput> texts(first.size(), PredictInput{.truncation = Truncation::right});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (count == 2) texts[i].pair = std::move(second[i]);
    texts[i].text = std::move(first[i]);
  }
  return texts;
}

/// Returns the outputs that a request asks for, or all.
inline std::vector<Output> read_outputs(const json::Value& root, const predict::Task& task) {
  const auto parameters = root.find("parameters");
  const bool binary = parameters && serve::detail::flag(*parameters, "binary_data_output", false);
  const auto outputs = outputs_of(task, binary);
  const auto named = root.find("outputs");
  if (!named || length(*named) == 0) return outputs;
  std::vector<Output> wanted;
  if (length(*named) > outputs.size()) throw named->error("are more than the model has");
  for (const auto& item : named->items()) {
    const auto name = item.at("name");
    const auto found = std::ranges::find(outputs, name.string(), &Output::name);
    if (found == outputs.end()) throw name.error("the model has no such output");
    if (std::ranges::count(wanted, found->name, &Output::name)) throw name.error("is named twice");
    wanted.push_back(*found);
    const auto own = item.find("parameters");
    if (own) wanted.back().binary = serve::detail::flag(*own, "binary_data", binary);
    if (own && own->find("classification")) throw own->error("classification is not supported");
  }
  return wanted;
}

/// Begins the description of a tensor. `rows` is -1 if the number of texts is not known.
inline void begin_tensor(json::Writer& out, const Output& tensor, std::ptrdiff_t rows,
                         const predict::Task& task) {
  out.begin_object().member("name", tensor.name).member("datatype", tensor.datatype);
  out.key("shape").begin_array().value(rows);
  if (tensor.name == "scores") out.value(std::max<std::size_t>(task.labels.size(), 1));
  out.end_array();
}

/// Writes an output, with its data in the JSON object or at the end of `binary`.
inline void write_output(json::Writer& out, std::string& binary, const Output& output,
                         const predict::Task& task,
                         std::span<const predict::Prediction> predictions) {
  std::vector<std::string> names;
  std::vector<float> numbers;
  for (const predict::Prediction& each : predictions) {
    const auto& scores = each.scores;
    if (output.name == "label") names.push_back(serve::detail::joined_labels(each.labels, task));
    if (output.name == "score") numbers.push_back(static_cast<float>(std::ranges::max(scores)));
    if (output.name == "scores") numbers.insert(numbers.end(), scores.begin(), scores.end());
  }
  begin_tensor(out, output, std::ssize(predictions), task);
  if (output.binary) {
    const std::size_t begin = binary.size();
    binary.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
    for (const std::string& name : names) {
      const auto size = static_cast<std::uint32_t>(name.size());
      binary.append(reinterpret_cast<const char*>(&size), sizeof size).append(name);
    }
    const std::size_t size = binary.size() - begin;
    out.key("parameters").begin_object().member("binary_data_size", size).end_object();
  } else {
    out.key("data").begin_array();
    for (const std::string& name : names) out.value(name);
    for (const float number : numbers) out.value(number);
    out.end_array();
  }
  out.end_object();
}

}  // namespace detail

/// Reads the body of a request to `…/infer`. Throws an `HttpError` that names the wrong field.
[[nodiscard]] inline PredictRequest read(const HttpRequest& http, const std::string& model,
                                         const predict::Task& task, const TextLimits& limits = {}) {
  const std::string_view body = http.body, header = http.inference_header;
  const auto size = header.empty() ? std::optional{body.size()} : parse_number<std::size_t>(header);
  if (!size || *size > body.size()) {
    throw wrong_field("Inference-Header-Content-Length is not a size within the body");
  }
  return read_json(body.substr(0, *size), [&](const json::Value& root) {
    json::Writer begin;
    begin.begin_object().member("model_name", model);
    if (const auto id = root.find("id")) begin.member("id", id->string());
    auto texts = detail::read_inputs(root.at("inputs"), body.substr(*size), limits);
    const auto write = [begin, outputs = detail::read_outputs(root, task)](
                           const PredictRequest&, const predict::Task& of,
                           const auto& predictions) {
      json::Writer out{begin};
      std::string binary;
      out.key("outputs").begin_array();
      for (const auto& output : outputs) detail::write_output(out, binary, output, of, predictions);
      HttpResponse response{.body = out.end_array().end_object().text()};
      if (std::ranges::none_of(outputs, &detail::Output::binary)) return response;
      const std::string length = std::to_string(response.body.size());
      response.headers.emplace_back("Inference-Header-Content-Length", length);
      response.content_type = "application/octet-stream";
      response.body += binary;
      return response;
    };
    return PredictRequest{
        .texts = std::move(texts), .model = model, .strict_model = true, .write = write};
  });
}

/// Reads a request to the model that the path names.
[[nodiscard]] inline PredictRequest read(const Call& call) {
  const std::string model{*call.model};
  return read(call.http, model, call.server.task_of(model, true), call.limits());
}

/// Returns the answer to a question about the state `live` or `ready`.
[[nodiscard]] inline HttpResponse describe_state(std::string_view state, bool well) {
  json::Writer out;
  return {.status = well ? 200 : 503,
          .body = out.begin_object().member(state, well).end_object().text()};
}

/// Returns whether the server or, if the path names one, a model is ready.
[[nodiscard]] inline HttpResponse describe_ready(const Call& call) {
  const bool ready = call.server.is_ready();
  const bool own = !call.model || *call.model == call.server.options().model_name;
  if (ready && !own) static_cast<void>(call.server.task_of(call.model, true));  // throws for none
  return describe_state("ready", ready);
}

/// Returns the metadata of the server.
[[nodiscard]] inline HttpResponse describe_server(const Call&) {
  json::Writer out;
  out.begin_object().member("name", "seqtrain").member("version", version);
  out.key("extensions").begin_array().value("binary_tensor_data").end_array();
  return {.body = out.end_object().text()};
}

/// Returns the metadata of a model, which has this task.
[[nodiscard]] inline HttpResponse describe_model(std::string_view model,
                                                 const predict::Task& task) {
  json::Writer out;
  out.begin_object();
  out.member("name", model).member("platform", "seqtrain").key("inputs").begin_array();
  detail::begin_tensor(out, {"text", "BYTES"}, -1, task);
  out.end_object().end_array().key("outputs").begin_array();
  for (const auto& output : detail::outputs_of(task, false)) {
    detail::begin_tensor(out, output, -1, task);
    out.end_object();
  }
  return {.body = out.end_array().end_object().text()};
}

/// Returns the metadata of the model that the path names.
[[nodiscard]] inline HttpResponse describe_model(const Call& call) {
  if (!call.server.is_ready()) throw unhealthy("the model is not ready");
  const auto task = call.server.task_of(call.model, true);
  check_classifies(task);
  return describe_model(*call.model, task);
}

/// Returns the contract.
[[nodiscard]] inline Contract contract() {
  const std::string models = "/v2/models/";
  const auto before = [](std::string_view purpose) {
    return [purpose](std::string_view rest) { return name_before(purpose, rest); };
  };
  const auto live = [](const Call&) { return describe_state("live", true); };
  const auto describe = [](const Call& call) { return describe_model(call); };
  const auto infer = [](const Call& call) { return read(call); };
  return {
      .routes = {{.path = "/v2", .answer = describe_server},
                 {.path = "/v2/health/live", .open = true, .answer = live},
                 {.path = "/v2/health/ready", .open = true, .answer = describe_ready},
                 {.path = models, .model_in = before("ready"), .answer = describe_ready},
                 {.path = models, .model_in = before(""), .answer = describe},
                 {.method = "POST", .path = models, .model_in = before("infer"), .read = infer}},
      .error = error,
      .error_prefix = "/v2"};
}

}  // namespace seqtrain::serve::open_inference
