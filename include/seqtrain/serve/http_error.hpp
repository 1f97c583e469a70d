#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/serve/http_message.hpp>

namespace seqtrain::serve {

/// The names of the error types of text-embeddings-inference.
namespace error_type {
inline constexpr std::string_view validation = "Validation";  ///< the request is wrong
inline constexpr std::string_view tokenizer = "Tokenizer";    ///< a text cannot be encoded
inline constexpr std::string_view backend = "Backend";        ///< the model failed
inline constexpr std::string_view overloaded = "Overloaded";  ///< there is no room for the request
inline constexpr std::string_view unhealthy = "Unhealthy";    ///< there is no model yet
inline constexpr std::string_view empty = "Empty";            ///< a text that must not be empty is
}  // namespace error_type

/// Returns the name of an error type in the metrics.
[[nodiscard]] inline std::string metric_of(std::string_view type) {
  std::string name{type};
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

/// A request that is not answered with a prediction: the HTTP status, the kind of error, and a
/// sentence for the client. The sentence never quotes a text of the request.
class HttpError : public InputError {
 public:
  HttpError(int status, std::string_view type, const std::string& problem)
      : InputError{problem}, status_{status}, type_{type} {}

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] std::string_view type() const { return type_; }

 private:
  int status_;
  std::string_view type_;
};

/// Returns the error, with status 429, of a request for which there is no room.
[[nodiscard]] inline HttpError overloaded(const std::string& problem) {
  return {429, error_type::overloaded, problem};
}
/// Returns the error, with status 503, of a request for which there is no model yet.
[[nodiscard]] inline HttpError unhealthy(const std::string& problem) {
  return {503, error_type::unhealthy, problem};
}
/// Returns the error, with status 424, of a request that the model cannot answer.
[[nodiscard]] inline HttpError backend(const std::string& problem) {
  return {424, error_type::backend, problem};
}
/// Returns the error, with status 422, of a request in which a field is wrong.
[[nodiscard]] inline HttpError wrong_field(const std::string& problem) {
  return {422, error_type::validation, problem};
}
/// Returns the error, with status 413, of a request that is larger than a limit.
[[nodiscard]] inline HttpError too_large(const std::string& problem) {
  return {413, error_type::validation, problem};
}

/// Returns the error of a request whose handling has failed with an exception.
[[nodiscard]] inline HttpError failure(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return {503, error_type::overloaded, "the server has no memory for the request"};
  }
  return {500, error_type::backend, error.what()};
}

/// Returns the response that refuses a request. Each contract has such a function.
using ErrorForm = HttpResponse (*)(const HttpError& error);

/// Returns the error of text-embeddings-inference and Vertex AI: `{"error", "error_type"}`.
[[nodiscard]] inline HttpResponse tei_error(const HttpError& error) {
  json::Writer out;
  out.begin_object().member("error", std::string_view{error.what()});
  out.member("error_type", error.type()).end_object();
  return {.status = error.status(), .body = out.text()};
}

}  // namespace seqtrain::serve
