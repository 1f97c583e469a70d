#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/serve/answer.hpp>
#include <seqtrain/serve/batcher.hpp>
#include <seqtrain/serve/connection.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/metrics.hpp>
#include <seqtrain/serve/models.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/page.hpp>
#include <seqtrain/serve/places.hpp>
#include <seqtrain/serve/predictor.hpp>
#include <seqtrain/serve/refusal.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/routes.hpp>
#include <seqtrain/serve/tei.hpp>

namespace seqtrain::serve {

/// Answers requests with a model's predictions, by three contracts. It knows HTTP's messages and
/// nothing of sockets.
template <Predictor P>
class Service {
 public:
  /// Begins to load the model at once.
  Service(ServiceOptions options, typename Models<P>::Load load, Metrics& metrics, report::Log log)
      : options_{std::move(options)},
        metrics_{metrics},
        log_{std::move(log)},
        places_{options_.max_concurrent_requests, options_.max_texts},
        models_{std::move(load), log_},
        batcher_{{.max_batch_tokens = options_.max_batch_tokens, .max_wait = options_.max_wait},
                 metrics_} {}

  [[nodiscard]] Models<P>& models() { return models_; }

  /// From now on requests are refused with 503. Those that are worked on get their answers.
  void drain() { draining_ = true; }

  /// Answers a request, now or later. To be called by the connection's thread.
  void handle(const HttpRequest& request, const Responder& responder) {
    const auto visit = std::make_shared<Visit>(*this, request, responder);
    try {
      route(request, visit);
    } catch (const Refusal& refusal) {
      visit->refuse(refusal);
    } catch (const std::exception& error) {
      visit->refuse({500, error_type::backend, error.what()});
    }
  }

 private:
  /// A request that is worked on: what is known of it, and the way to answer.
  struct Visit {
    Visit(Service& of, const HttpRequest& http, Responder to)
        : service{of},
          responder{std::move(to)},
          method{http.method},
          path{http.path()},
          id{http.id.empty() ? new_id() : http.id} {}

    void answer(HttpResponse response) {
      response.headers.emplace_back("X-Request-Id", id);
      responder.send(std::move(response));
    }
    void refuse(const Refusal& refusal) { responder.send(refused(refusal)); }

    /// Counts, logs and returns the response.
    HttpResponse refused(const Refusal& refusal) {
      HttpResponse response{.status = refusal.status(), .body = error_body(contract, refusal)};
      response.headers.emplace_back("X-Request-Id", id);
      if (response.status == 429 || response.status == 503) {
        response.headers.emplace_back("Retry-After", "1");
      }
      if (response.status == 405) response.headers.emplace_back("Allow", allow);
      service.metrics_.failures.add(metric_of(refusal.type()));
      service.log_.write(
          response.status < 500 ? report::Severity::warning : report::Severity::error,
          method + " " + path.substr(0, 100) + " " + std::to_string(response.status) + ": " +
              refusal.what(),
          {{"request_id", id}, {"status", response.status}});
      place.reset();
      return response;
    }

    Service& service;
    Responder responder;
    std::string method;
    std::string path;
    std::string id;
    std::string_view allow = {};
    Contract contract = Contract::tei;
    Clock::time_point begin = Clock::now();
    Request request = {};
    std::size_t characters = 0;
    std::size_t tokens = 0;
    Clock::duration tokenization{};
    std::unique_ptr<Places::Place> place = {};
    std::shared_ptr<Job<P>> job = {};
  };
  using VisitPtr = std::shared_ptr<Visit>;

  static std::string new_id() {
    thread_local std::mt19937_64 random{std::random_device{}()};
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random()));
    return digits;
  }

  void route(const HttpRequest& request, const VisitPtr& visit) {
    const Route route = route_of(request, options_);
    if (route == Route::torch_serve || route == Route::ping)
      visit->contract = Contract::torch_serve;
    if (route == Route::none) {
      throw Refusal{404, error_type::validation, "there is nothing at this path"};
    }
    const auto allowed = methods(route);
    if (request.method == "OPTIONS") {
      return visit->answer({.status = 204, .headers = {{"Allow", std::string{allowed}}}});
    }
    if (("," + std::string{allowed}).find(request.method + ",") == std::string::npos) {
      visit->allow = allowed;
      throw Refusal{405, error_type::validation, "this path takes " + std::string{allowed}};
    }
    switch (route) {
      case Route::page:
        return visit->answer(
            {.body = std::string{page_html}, .content_type = "text/html; charset=utf-8"});
      case Route::metrics:
        return visit->answer(
            {.body = metrics_.text(), .content_type = "text/plain; version=0.0.4"});
      case Route::health:
      case Route::ping:
        return health(route, *visit);
      case Route::info:
        return visit->answer({.body = info(*model())});
      case Route::tokenize:
        return tokenize(request, *visit);
      default:
        return predict(request, visit);
    }
  }

  void health(Route route, Visit& visit) {
    const bool well = models_.present() && !draining_;
    HttpResponse response{.status = well ? 200 : 503};
    if (route == Route::ping) {
      response.body = well ? R"({"status":"Healthy"})" : R"({"status":"Unhealthy"})";
    } else if (!well) {
      response.body = error_body(Contract::tei, unhealthy("unhealthy"));
    }
    visit.answer(std::move(response));
  }

  /// Returns the model, or throws a `Refusal` if there is none to be had.
  std::shared_ptr<P> model() const {
    if (draining_) throw unhealthy("the server is about to stop");
    auto present = models_.present();
    if (!present) throw unhealthy("the model is not loaded yet");
    return present;
  }

  static Labels labels_of(const P& predictor, std::size_t count) {
    const std::span<const std::string> names = predictor.labels();
    Labels labels{.names = {names.begin(), names.end()}, .type = predictor.problem_type()};
    if (labels.type == ProblemType::multi_label) {
      for (std::size_t i = 0; i < count; ++i) labels.thresholds.push_back(threshold(predictor, i));
    }
    return labels;
  }

  [[nodiscard]] std::string info(const P& predictor) const {
    const std::span<const std::string> names = predictor.labels();
    const std::size_t count = std::max<std::size_t>(names.size(), 1);
    return info_body(predictor.facts(), labels_of(predictor, count), count, predictor.max_length(),
                     options_);
  }

  void tokenize(const HttpRequest& request, Visit& visit) {
    const auto predictor = model();
    const auto texts = read_tokenize(request.body, options_.max_texts);
    if constexpr (NamesTokens<P>) {
      json::Writer out;
      out.begin_array();
      for (const std::string& text : texts) {
        const auto encoded = encode(*predictor, text, {}, Truncation::none);
        std::vector<int> ids(encoded.input_ids.begin(), encoded.input_ids.end());
        std::vector<Token> tokens;
        for (const int id : ids) tokens.push_back(predictor->token(id));
        write_tokens(out, ids, tokens);
      }
      visit.answer({.body = out.end_array().text()});
    } else {
      throw Refusal{424, error_type::backend, "this model's tokenizer does not name its ids"};
    }
  }

  static typename P::Encoded encode(const P& predictor, const std::string& text,
                                    const std::optional<std::string>& pair, Truncation truncation) {
    try {
      return predictor.encode(text, pair ? std::optional<std::string_view>{*pair} : std::nullopt,
                              truncation);
    } catch (const std::exception& error) {
      throw Refusal{422, error_type::tokenizer, std::string{"Tokenization error: "} + error.what()};
    }
  }

  void predict(const HttpRequest& http, const VisitPtr& visit) {
    const auto predictor = model();
    visit->place = places_.enter();
    if (!visit->place) throw overloaded("Model is overloaded");
    visit->request = read_request(
        http.body, {.client_batch = options_.max_client_batch_size, .texts = options_.max_texts});
    if (visit->contract == Contract::tei) visit->contract = visit->request.contract;
    const auto& texts = visit->request.texts;
    if (!visit->place->add_texts(texts.size())) throw overloaded("Model is overloaded");
    metrics_.requests.add(method_of(visit->request));
    auto encoded = encode_all(*predictor, *visit);
    if (texts.empty()) return visit->answer(finished(*visit));
    // The visit and its job hold each other until the job is done or cancelled.
    visit->job = std::make_shared<Job<P>>(predictor, std::move(encoded), Clock::now(), [visit] {
      visit->responder.post([visit] { return visit->service.finished(*visit); });
    });
    visit->responder.on_hang_up([this, weak = std::weak_ptr{visit}] {
      if (const auto lost = weak.lock()) leave(*lost);
    });
    batcher_.submit(visit->job);
  }

  /// Gives up a request whose client has gone.
  void leave(Visit& visit) {
    visit.place.reset();
    if (const auto job = std::move(visit.job)) batcher_.cancel(*job);
  }

  static std::string_view method_of(const Request& request) {
    return request.single ? "single" : "batch";
  }

  std::vector<typename P::Encoded> encode_all(const P& predictor, Visit& visit) {
    std::vector<typename P::Encoded> encoded;
    const auto begin = Clock::now();
    for (const Text& text : visit.request.texts) {
      encoded.push_back(encode(predictor, text.text, text.pair, text.truncation));
      const std::size_t length = encoded.back().input_ids.size();
      if (length > predictor.max_length()) {
        throw too_large(
            "`inputs` must have less than " + std::to_string(predictor.max_length() + 1) +
            " tokens. Given: " + std::to_string(length) + "; \"truncate\": true cuts longer texts");
      }
      visit.tokens += length;
      visit.characters += text::count_characters(text.text);
      if (text.pair) visit.characters += text::count_characters(*text.pair);
      metrics_.input_length.add(static_cast<double>(length));
    }
    visit.tokenization = Clock::now() - begin;
    return encoded;
  }

  /// Returns the response to a request whose texts the model has seen.
  HttpResponse finished(Visit& visit) {
    const auto job = std::move(visit.job);
    try {
      if (job && job->refusal()) return visit.refused(*job->refusal());
      std::vector<Opinion> opinions;
      Labels labels;
      if (job) {
        const P& predictor = job->predictor();
        labels = labels_of(predictor, job->rows().front().size());
        for (const auto& row : job->rows()) {
          const auto scores = predictor.scores(std::span{row});
          opinions.push_back({.logits = row, .scores = {scores.begin(), scores.end()}});
        }
      }
      HttpResponse response{.body = answer_body(visit.request, labels, opinions)};
      record(visit, job.get(), response);
      visit.place.reset();
      return response;
    } catch (const Refusal& refusal) {
      return visit.refused(refusal);
    } catch (const std::exception& error) {
      return visit.refused({500, error_type::backend, error.what()});
    }
  }

  /// Adds the headers of an answer, counts it and logs it.
  void record(const Visit& visit, const Job<P>* job, HttpResponse& response) {
    const auto total = Clock::now() - visit.begin;
    const auto queueing = job != nullptr ? job->queue_time() : Clock::duration{};
    const auto inference = job != nullptr ? job->inference_time() : Clock::duration{};
    const auto milliseconds = [](Clock::duration time) {
      return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
    };
    response.headers = {{"X-Request-Id", visit.id},
                        {"x-compute-type", "cpu"},
                        {"x-compute-time", milliseconds(total)},
                        {"x-compute-characters", std::to_string(visit.characters)},
                        {"x-compute-tokens", std::to_string(visit.tokens)},
                        {"x-total-time", milliseconds(total)},
                        {"x-tokenization-time", milliseconds(visit.tokenization)},
                        {"x-queue-time", milliseconds(queueing)},
                        {"x-inference-time", milliseconds(inference)}};
    metrics_.successes.add(method_of(visit.request));
    metrics_.duration.add(total);
    metrics_.tokenization.add(visit.tokenization);
    metrics_.queueing.add(queueing);
    metrics_.inference.add(inference);
    const auto seconds = [](Clock::duration time) {
      return std::chrono::duration<double>{time}.count();
    };
    log_.info(
        visit.method + " " + visit.path.substr(0, 100) + " 200 in " + milliseconds(total) + " ms",
        {{"request_id", visit.id},
         {"status", 200},
         {"texts", visit.request.texts.size()},
         {"tokens", visit.tokens},
         {"total_seconds", seconds(total)},
         {"tokenization_seconds", seconds(visit.tokenization)},
         {"queue_seconds", seconds(queueing)},
         {"inference_seconds", seconds(inference)}});
  }

  ServiceOptions options_;
  Metrics& metrics_;
  report::Log log_;
  std::atomic<bool> draining_ = false;
  Places places_;
  Models<P> models_;
  Batcher<P> batcher_;  // last: its thread ends first
};

}  // namespace seqtrain::serve
