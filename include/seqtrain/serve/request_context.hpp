#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/serve/access.hpp>
#include <seqtrain/serve/admission.hpp>
#include <seqtrain/serve/batcher.hpp>
#include <seqtrain/serve/decode_body.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/queue.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/responder.hpp>
#include <seqtrain/serve/servable.hpp>

namespace seqtrain::serve {

/// A request that is being handled and the responder that answers it. Each answer carries the
/// request's id and is counted and logged.
template <Servable P>
struct RequestContext {
  RequestContext(PrometheusMetrics& metrics, const log::Log& log, const HttpRequest& http,
                 Responder to)
      : metrics_{metrics},
        log_{log},
        name_{http.method + " " + printable(http.path())},
        id_{http.id.empty() ? random_token() : http.id},
        responder{std::move(to)} {}

  /// Sends a response that holds no predictions and is not logged.
  void answer(HttpResponse response) {
    leave_place(response);
    add_headers(response);
    responder.send(std::move(response));
  }

  /// Sends the response that refuses a request.
  void refuse(const HttpError& error) { responder.send(refused(error)); }

  /// Returns the response that refuses a request.
  HttpResponse refused(const HttpError& error) {
    HttpResponse response = error_form(error);
    leave_place(response);
    add_headers(response);
    if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    if (response.status == 415) response.headers.emplace_back("Accept-Encoding", body_codings);
    const bool later = response.status == 429 || response.status == 503;
    if (later) response.headers.emplace_back("Retry-After", "1");
    if (!allow.empty()) response.headers.emplace_back("Allow", allow);
    metrics_.failures.add(metric_of(error.type()));
    const auto severity = response.status < 500 ? log::Severity::warning : log::Severity::error;
    log_.write(severity, name_ + " " + std::to_string(response.status) + ": " + error.what(),
               fields(response.status));
    return response;
  }

  /// Returns a response that holds predictions, with the headers that it needs. `work` is the job
  /// that the model did, or null if there was none.
  HttpResponse answered(HttpResponse response, const Job<P>* work) {
    leave_place(response);
    const auto total = Clock::now() - begin_;
    const auto queueing = work != nullptr ? work->queue_time() : Clock::duration{};
    const auto inference = work != nullptr ? work->inference_time() : Clock::duration{};
    metrics_.successes.add(method_of(request));
    metrics_.duration.add(total);
    metrics_.tokenization.add(tokenization);
    metrics_.queueing.add(queueing);
    metrics_.inference.add(inference);
    const std::string pair_or_pairs = pairs == 1 ? " pair of texts" : " pairs of texts";
    const std::string with_pairs = pairs > 0 ? ", " + std::to_string(pairs) + pair_or_pairs : "";
    auto line = fields(200);
    line.insert(line.end(), {{"texts", request.texts.size()},
                             {"tokens", tokens},
                             {"total_seconds", seconds(total)},
                             {"tokenization_seconds", seconds(tokenization)},
                             {"queue_seconds", seconds(queueing)},
                             {"inference_seconds", seconds(inference)}});
    log_.info(name_ + " 200 in " + milliseconds(total) + " ms" + with_pairs, line);
    add_headers(response);
    response.headers.insert(response.headers.end(),
                            {{"x-compute-pairs", std::to_string(pairs)},
                             {"x-compute-type", model->facts.compute_type},
                             {"x-compute-time", milliseconds(total)},
                             {"x-compute-characters", std::to_string(characters)},
                             {"x-compute-tokens", std::to_string(tokens)},
                             {"x-total-time", milliseconds(total)},
                             {"x-tokenization-time", milliseconds(tokenization)},
                             {"x-queue-time", milliseconds(queueing)},
                             {"x-inference-time", milliseconds(inference)}});
    return response;
  }

  /// Returns the label under which a request is counted.
  static std::string_view method_of(const PredictRequest& request) {
    return request.single ? "single" : "batch";
  }

 private:
  void add_headers(HttpResponse& response) const {
    response.headers.emplace_back("X-Request-Id", id_);
    response.headers.insert(response.headers.end(), page_headers.begin(), page_headers.end());
  }

  /// The most bytes of a body that are as good as sent, because the system keeps them for the
  /// client.
  static constexpr std::size_t short_body = 16384;

  /// Frees the place, or leaves it to a response that the client may be slow to read.
  void leave_place(HttpResponse& response) {
    if (response.body.size() > short_body) response.held = place;
    place.reset();
  }

  /// Returns the fields of each line of the log.
  [[nodiscard]] log::Fields fields(int status) const {
    log::Fields fields{{"request_id", id_}, {"status", status}};
    if (model && !model->facts.name.empty()) fields.emplace_back("adapter", model->facts.name);
    return fields;
  }

  static std::string milliseconds(Clock::duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
  }
  static double seconds(Clock::duration time) {
    return std::chrono::duration<double>{time}.count();
  }

  static std::string printable(std::string_view path) {
    std::string text{path.substr(0, 100)};
    for (char& c : text) c = c > ' ' && c < 0x7f ? c : '?';
    return text;
  }

  PrometheusMetrics& metrics_;
  const log::Log& log_;
  std::string name_;  // method and path, for the log
  std::string id_;
  Clock::time_point begin_ = Clock::now();

 public:
  Responder responder;
  ErrorForm error_form = tei_error;
  Access::Headers page_headers = {};  ///< see `Access::headers_for`
  std::string allow = {};             ///< the methods that the path takes, if the method was wrong
  PredictRequest request = {};
  std::size_t pairs = 0;  ///< two texts in one input, which a client may have meant as a batch
  std::size_t characters = 0;
  std::size_t tokens = 0;
  Clock::duration tokenization{};
  std::shared_ptr<Admission::Place> place = {};
  bool by_worker = false;          ///< a worker reads the request, and not the connection's thread
  std::atomic<bool> gone = false;  ///< the client has hung up while a worker read its request
  std::shared_ptr<const Served<P>> model = {};
  std::shared_ptr<Job<P>> job = {};
};

}  // namespace seqtrain::serve
