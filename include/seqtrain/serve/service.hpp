#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/serve/access.hpp>
#include <seqtrain/serve/batcher.hpp>
#include <seqtrain/serve/contracts/forms.hpp>
#include <seqtrain/serve/contracts/kserve.hpp>
#include <seqtrain/serve/contracts/open_inference.hpp>
#include <seqtrain/serve/contracts/read_request.hpp>
#include <seqtrain/serve/contracts/request.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/contracts/torch_serve.hpp>
#include <seqtrain/serve/decode_body.hpp>
#include <seqtrain/serve/exchange.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/models.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/page.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/queue.hpp>
#include <seqtrain/serve/refusal.hpp>
#include <seqtrain/serve/responder.hpp>
#include <seqtrain/serve/routes.hpp>
#include <seqtrain/serve/servable.hpp>

namespace seqtrain::serve {

/// Answers requests with a model's predictions by the APIs of `contracts/`.
template <Servable P>
class Service {
 public:
  /// Starts to load the model.
  Service(ServiceOptions options, typename Models<P>::Load load, PrometheusMetrics& metrics,
          log::Log log)
      : options_{std::move(options)},
        metrics_{metrics},
        log_{std::move(log)},
        access_{options_.access},
        admission_{options_.max_concurrent_requests, options_.max_texts},
        models_{std::move(load), log_},
        batcher_{{.max_batch_tokens = options_.max_batch_tokens, .max_wait = options_.max_wait},
                 metrics_} {}

  [[nodiscard]] Models<P>& models() { return models_; }

  /// Refuses new requests with status 503. Requests that are being handled get their answers.
  void drain() { draining_ = true; }

  /// Answers a request, at once or later. Only the connection's thread may call this.
  void handle(const HttpRequest& http, const Responder& responder) {
    const auto exchange = std::make_shared<Exchange<P>>(metrics_, log_, http, responder);
    exchange->page_headers = access_.headers_for(http);
    try {
      route(http, exchange);
    } catch (const Refusal& refusal) {
      exchange->refuse(refusal);
    } catch (const std::exception& error) {
      exchange->refuse({500, error_type::backend, error.what()});
    }
  }

 private:
  using ExchangePtr = std::shared_ptr<Exchange<P>>;

  void route(const HttpRequest& http, const ExchangePtr& exchange) {
    const auto path = open_inference::path_of(http.path());
    const Route route = route_of(http, options_, path);
    if (route == Route::torch_serve) exchange->error_form = torch_serve::error;
    if (http.path().starts_with("/v2")) exchange->error_form = open_inference::error;
    access_.check(http, is_open(route, path));
    if (route == Route::none) throw Refusal{404, error_type::validation, "no such path"};
    const auto taken = methods(route);
    const std::string allowed = joined(taken);
    if (http.method == "OPTIONS") {
      return exchange->answer({.status = 204, .headers = {{"Allow", allowed}}});
    }
    if (std::ranges::find(taken, http.method) == taken.end()) {
      exchange->allow = allowed;
      throw Refusal{405, error_type::validation, "this path takes " + allowed};
    }
    if (!http.content_encoding.empty()) {
      HttpRequest plain = http;
      decode_body(plain, options_.max_body);
      return this->route(plain, exchange);
    }
    forms::check_charset(http.content_type);
    switch (route) {
      case Route::open_inference: {
        auto ready = draining_ ? nullptr : models_.present();
        const bool own = path->model == options_.model_name && path->purpose == "ready";
        if (path->model && !own) ready = named(ready, path->model, true);
        const std::string name{path->model.value_or("")};
        return exchange->answer(
            open_inference::describe(*path, name, ready ? &ready->predictor.task() : nullptr));
      }
      case Route::kserve:
        return exchange->answer(kserve_answer(kserve::path_of(http.path())->model));
      case Route::page:
        return exchange->answer(
            {.body = std::string{page_html}, .content_type = "text/html; charset=utf-8"});
      case Route::metrics:
        return exchange->answer(
            {.body = metrics_.text(), .content_type = "text/plain; version=0.0.4"});
      case Route::health:
      case Route::ping:
        return exchange->answer(health(route));
      case Route::info:
        return exchange->answer({.body = info(*model())});
      case Route::tokenize:
        return exchange->answer({.body = tokens_of(model()->predictor, http.body)});
      case Route::infer:
        exchange->request.model = path->model;
        [[fallthrough]];
      default:
        return predict(route, http, exchange);
    }
  }

  /// Returns the list of models in version 1 of KServe's protocol, or whether one is ready.
  HttpResponse kserve_answer(std::optional<std::string_view> name) const {
    const auto present = draining_ ? nullptr : models_.present();
    if (name) return kserve::describe(*name, named(present, name, false) != nullptr);
    std::vector<std::string> names{options_.model_name};
    if (present) {
      for (const auto& adapter : present->adapters) names.push_back(adapter.facts.name);
    }
    return kserve::list(names);
  }

  HttpResponse health(Route route) const {
    const bool well = models_.present() && !draining_;
    if (route != Route::ping) return well ? HttpResponse{} : tei_error(unhealthy("unhealthy"));
    return {.status = well ? 200 : 503,
            .body = well ? R"({"status":"Healthy"})" : R"({"status":"Unhealthy"})"};
  }

  /// Returns the model. Throws a `Refusal` if there is none or the server is about to stop.
  typename Models<P>::Model model() const {
    if (draining_) throw unhealthy("the server is about to stop");
    auto present = models_.present();
    if (!present) throw unhealthy("the model is not loaded yet");
    return present;
  }

  /// Returns the model or the adapter of a name. Throws a `Refusal` if there is none. Any name, or
  /// none, is the model's if it has no adapters and the name is not `strict`. Returns null while no
  /// model is loaded.
  typename Models<P>::Model named(const typename Models<P>::Model& model,
                                  std::optional<std::string_view> name, bool strict) const {
    if (!model) return model;
    const bool only = model->adapters.empty();
    if (!name || *name == options_.model_name || (only && !strict)) {
      if (model->has_head) return model;
      throw Refusal{404, error_type::validation,
                    "the base has no head of its own: name one of the adapters that /info lists"};
    }
    for (const auto& adapter : model->adapters) {
      if (adapter.facts.name == *name) return {model, &adapter};
    }
    throw Refusal{404, error_type::validation,
                  "unknown model; this server has '" + options_.model_name + "'" +
                      (only ? "" : " and the adapters that /info lists")};
  }

  [[nodiscard]] std::string info(const Served<P>& model) const {
    std::vector<std::string> adapters;
    for (const auto& adapter : model.adapters) adapters.push_back(adapter.facts.name);
    const P& predictor = model.predictor;
    const auto task = model.has_head ? predictor.task() : predict::Task{};
    return tei::info(model.facts, task, predictor.max_length(), options_, adapters);
  }

  /// Returns the body of the answer of `/tokenize`.
  [[nodiscard]] std::string tokens_of(const P& predictor, std::string_view body) const {
    const auto request = tei::read_tokenize(body, options_.max_client_batch_size);
    json::Writer out;
    out.begin_array();
    for (const std::string& text : request.texts) {
      const auto named = tokenized([&] { return tokens(predictor, text, request.special); });
      if (!named) throw backend("this model's tokenizer does not name its ids");
      tei::write_tokens(out, *named);
    }
    return out.end_array().text();
  }

  /// Returns the result of `encode`. An exception from it becomes a `Refusal`.
  template <class Encode>
  static auto tokenized(const Encode& encode) {
    try {
      return encode();
    } catch (const std::exception& error) {
      throw Refusal{422, error_type::tokenizer, std::string{"Tokenization error: "} + error.what()};
    }
  }

  /// Reads a request, and finds the model or adapter that its path or its body names.
  void read(Route route, const HttpRequest& http, const typename Models<P>::Model& all,
            Exchange<P>& exchange) const {
    const auto& body = http.body;
    const TextLimits limits{.client_batch = options_.max_client_batch_size,
                            .texts = options_.max_texts};
    auto& request = exchange.request;
    const auto check_ranks = [route](const P& predictor) {
      if (route != Route::rerank || tei::has_one_output(predictor.task())) return;
      throw backend("model is not a re-ranker model: it has several labels");
    };
    if (all->adapters.empty()) check_ranks(all->predictor);
    if (route == Route::infer) {
      const std::string name = *request.model;
      exchange.model = named(all, name, true);
      request = open_inference::read(http, name, exchange.model->predictor.task(), limits);
      return;
    }
    const bool is_torch = route == Route::torch_serve;
    const auto field = is_torch ? forms::field_of(http.content_type, body) : std::nullopt;
    const std::string& given = field ? *field : body;
    auto text = is_torch ? torch_serve::read_text(given, field ? "" : http.content_type)
                         : std::optional<Request>{};
    request = text                     ? *std::move(text)
              : route == Route::rerank ? read_rerank(given, limits)
                                       : read_request(given, limits);
    if (route == Route::kserve_predict) request.model = kserve::path_of(http.path())->model;
    if (route == Route::torch_serve && http.path() != options_.predict_route) {
      const std::string name{http.path().substr(std::string_view{"/predictions/"}.size())};
      request.model = name.substr(0, name.find('/'));
    }
    exchange.model = named(all, request.model, false);
    check_ranks(exchange.model->predictor);
  }

  void predict(Route route, const HttpRequest& http, const ExchangePtr& exchange) {
    const auto all = model();
    exchange->place = admission_.enter();
    if (!exchange->place) throw overloaded("Model is overloaded");
    read(route, http, all, *exchange);
    const auto& texts = exchange->request.texts;
    if (!exchange->place->add_texts(texts.size())) throw overloaded("Model is overloaded");
    metrics_.requests.add(Exchange<P>::method_of(exchange->request));
    const auto& adapter = exchange->model->facts.name;
    if (!adapter.empty()) metrics_.adapters.add(adapter);
    auto encoded = encode_all(exchange->model->predictor, *exchange);
    if (texts.empty()) return exchange->responder.send(finished(*exchange));
    // The exchange and its job hold each other until the job is done or cancelled.
    exchange->job = std::make_shared<Job<P>>(
        exchange->model, std::move(encoded), Clock::now(),
        [exchange] { exchange->responder.post([exchange] { return finished(*exchange); }); },
        all.get());
    exchange->responder.on_hang_up([this, weak = std::weak_ptr{exchange}] {
      if (const auto lost = weak.lock()) leave(*lost);
    });
    batcher_.submit(exchange->job);
  }

  /// Cancels the job of a request whose client has hung up.
  void leave(Exchange<P>& exchange) {
    exchange.place.reset();
    if (const auto job = std::move(exchange.job)) batcher_.cancel(*job);
  }

  std::vector<predict::Encoded> encode_all(const P& predictor, Exchange<P>& exchange) {
    std::vector<predict::Encoded> encoded;
    const auto begin = Clock::now();
    for (const Text& text : exchange.request.texts) {
      encoded.push_back(
          tokenized([&] { return encode(predictor, text.text, text.pair, text.truncation); }));
      const std::size_t length = encoded.back().input_ids.size();
      if (length > predictor.max_length()) {
        throw too_large(
            "`inputs` must have less than " + std::to_string(predictor.max_length() + 1) +
            " tokens. Given: " + std::to_string(length) + "; \"truncate\": true cuts longer texts");
      }
      exchange.tokens += length;
      exchange.characters += text::count_characters(text.text);
      if (text.pair) exchange.characters += text::count_characters(*text.pair);
      exchange.pairs += text.pair ? 1 : 0;
      metrics_.input_length.add(static_cast<double>(length));
    }
    exchange.tokenization = Clock::now() - begin;
    return encoded;
  }

  /// Returns the response to a request for which the model has made predictions.
  static HttpResponse finished(Exchange<P>& exchange) {
    const auto job = std::move(exchange.job);
    try {
      if (job && job->refusal()) return exchange.refused(*job->refusal());
      const predict::Task& task = exchange.model->predictor.task();
      std::vector<predict::Prediction> predictions;
      for (std::size_t i = 0; job && i < job->rows().size(); ++i) {
        predictions.push_back(predict::interpret(job->rows()[i], task, job->windows()[i]));
      }
      return exchange.answered(serve::answer(exchange.request, task, predictions), job.get());
    } catch (const Refusal& refusal) {
      return exchange.refused(refusal);
    } catch (const std::exception& error) {
      return exchange.refused({500, error_type::backend, error.what()});
    }
  }

  ServiceOptions options_;
  PrometheusMetrics& metrics_;
  log::Log log_;
  std::atomic<bool> draining_ = false;
  Access access_;
  Admission admission_;
  Models<P> models_;
  Batcher<P> batcher_;  // The last member, so that its thread ends first.
};

}  // namespace seqtrain::serve
