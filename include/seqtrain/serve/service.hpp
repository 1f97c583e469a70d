#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/serve/access.hpp>
#include <seqtrain/serve/admission.hpp>
#include <seqtrain/serve/batcher.hpp>
#include <seqtrain/serve/contracts/forms.hpp>
#include <seqtrain/serve/contracts/kserve.hpp>
#include <seqtrain/serve/contracts/open_inference.hpp>
#include <seqtrain/serve/contracts/read_request.hpp>
#include <seqtrain/serve/contracts/request.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/contracts/torch_serve.hpp>
#include <seqtrain/serve/decode_body.hpp>
#include <seqtrain/serve/encoded_texts.hpp>
#include <seqtrain/serve/exchange.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/models.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/page.hpp>
#include <seqtrain/serve/prometheus.hpp>
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

  /// Makes `/health` and its kin answer with status 503, so that clients go elsewhere.
  void drain() { draining_ = true; }

  /// Answers a request, at once or later. Only the connection's thread may call this.
  void handle(HttpRequest&& http, const Responder& responder) {
    const auto exchange = std::make_shared<Exchange<P>>(metrics_, log_, http, responder);
    exchange->page_headers = access_.headers_for(http);
    refuse_errors(*exchange, [&] { route(std::move(http), exchange); });
  }

 private:
  using ExchangePtr = std::shared_ptr<Exchange<P>>;
  using Model = typename Models<P>::Model;

  /// Bodies with more bytes are read and encoded by a worker, so that the connection's thread,
  /// which other connections need too, is not busy for long.
  static constexpr std::size_t short_body = 32768;
  /// Answers with more scores are composed by a worker.
  static constexpr std::size_t few_scores = 4096;

  template <class Step>
  static void refuse_errors(Exchange<P>& exchange, const Step& step) {
    try {
      step();
    } catch (const Refusal& refusal) {
      exchange.refuse(refusal);
    } catch (const std::exception& error) {
      exchange.refuse(failure(error));
    }
  }

  void route(HttpRequest&& http, const ExchangePtr& exchange) {
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
    decode_body(http, options_.max_body);
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
      case Route::infer:
        exchange->request.model = path->model;
        [[fallthrough]];
      default:
        return begin(route, std::move(http), exchange);
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

  /// Returns the model. Throws a `Refusal` if there is none.
  Model model() const {
    auto present = models_.present();
    if (!present) throw unhealthy("the model is not loaded yet");
    return present;
  }

  /// Returns the model or the adapter of a name. Throws a `Refusal` if there is none. Any name, or
  /// none, is the model's if it has no adapters and the name is not `strict`. Returns null while no
  /// model is loaded.
  Model named(const Model& model, std::optional<std::string_view> name, bool strict) const {
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
    const std::size_t longest = longest_text(predictor, options_.max_windows);
    return tei::info(model.facts, task, longest, options_, adapters);
  }

  /// Answers `/tokenize`.
  void tokenize(const P& predictor, std::string_view body, Exchange<P>& exchange) const {
    const auto request = tei::read_tokenize(body, options_.max_client_batch_size);
    json::Writer out;
    out.begin_array();
    for (const std::string& text : request.texts) {
      if (exchange.gone) return;
      const auto named = tokenized([&] { return tokens(predictor, text, request.special); });
      if (!named) throw backend("this model's tokenizer does not name its ids");
      tei::write_tokens(out, *named);
    }
    exchange.answer({.body = out.end_array().text()});
  }

  /// Reads a request, and finds the model or adapter that its path or its body names.
  void read(Route route, const HttpRequest& http, const Model& all, Exchange<P>& exchange) const {
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

  /// Gives a request a place and prepares it, here or, if it is long, on a worker.
  void begin(Route route, HttpRequest&& http, const ExchangePtr& exchange) {
    Model all = model();
    exchange->place = admission_.enter();
    if (!exchange->place) throw overloaded("Model is overloaded");
    if (http.body.size() <= short_body) return prepare(route, http, all, exchange);
    exchange->by_worker = true;
    exchange->responder.on_hang_up([weak = std::weak_ptr{exchange}] {
      if (const auto lost = weak.lock()) lost->gone = true;
    });
    boost::asio::post(workers_,
                      [this, route, all = std::move(all), exchange, http = std::move(http)] {
                        if (exchange->gone) return;
                        refuse_errors(*exchange, [&] { prepare(route, http, all, exchange); });
                      });
  }

  /// Reads a request and encodes its texts for the model, or answers it if it needs none.
  void prepare(Route route, const HttpRequest& http, const Model& all,
               const ExchangePtr& exchange) {
    if (route == Route::tokenize) return tokenize(all->predictor, http.body, *exchange);
    read(route, http, all, *exchange);
    const auto& texts = exchange->request.texts;
    if (!exchange->place->add_texts(texts.size())) throw overloaded("Model is overloaded");
    metrics_.requests.add(Exchange<P>::method_of(exchange->request));
    const auto& adapter = exchange->model->facts.name;
    if (!adapter.empty()) metrics_.adapters.add(adapter);
    auto encoded = encode_all(exchange->model->predictor, *exchange);
    if (texts.empty()) return exchange->responder.send(finished(*exchange));
    if (exchange->gone) return;
    const std::size_t parts = encoded.parts.size();
    if (parts > options_.max_texts) {
      throw too_large("the texts have " + std::to_string(parts) + " windows, more than the " +
                      std::to_string(options_.max_texts) + " that are handled at once");
    }
    if (!exchange->place->add_texts(parts - texts.size())) throw overloaded("Model is overloaded");
    auto job = std::make_shared<Job<P>>(exchange->model, std::move(encoded), Clock::now(),
                                        answer_later(exchange), all.get());
    if (!exchange->by_worker) return submit(exchange, std::move(job));
    exchange->responder.on_connection([this, exchange, job] { submit(exchange, job); });
  }

  /// Returns the function that answers a request when the model has made its predictions.
  std::function<void()> answer_later(const ExchangePtr& exchange) {
    const std::size_t labels = exchange->model->predictor.task().labels.size();
    const bool few =
        exchange->request.texts.size() * std::max<std::size_t>(labels, 1) <= few_scores;
    if (few && !exchange->by_worker) {
      return [exchange] { exchange->responder.post([exchange] { return finished(*exchange); }); };
    }
    return [this, exchange] {
      exchange->responder.on_connection([this, exchange] {
        exchange->responder.on_hang_up({});  // From here on the exchange is the worker's.
        boost::asio::post(workers_, [exchange] { exchange->responder.send(finished(*exchange)); });
      });
    };
  }

  /// Passes a job to the model. Only the connection's thread may call this.
  void submit(const ExchangePtr& exchange, std::shared_ptr<Job<P>> job) {
    // The exchange and its job hold each other until the job is done or cancelled.
    exchange->job = std::move(job);
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

  EncodedTexts encode_all(const P& predictor, Exchange<P>& exchange) {
    EncodedTexts encoded;
    const auto begin = Clock::now();
    for (Text& text : exchange.request.texts) {
      if (exchange.gone) break;
      const std::size_t length = add_text(predictor, text, options_.max_windows, encoded);
      exchange.tokens += length;
      exchange.characters += text::count_characters(text.text);
      if (text.pair) exchange.characters += text::count_characters(*text.pair);
      exchange.pairs += text.pair ? 1 : 0;
      metrics_.input_length.add(static_cast<double>(length));
      // No answer repeats it, and each text of `/rerank` has the query.
      std::string{}.swap(text.text);
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
      return exchange.refused(failure(error));
    }
  }

  ServiceOptions options_;
  PrometheusMetrics& metrics_;
  log::Log log_;
  std::atomic<bool> draining_ = false;
  Access access_;
  Admission admission_;
  Models<P> models_;
  boost::asio::thread_pool workers_{
      std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 8)};
  Batcher<P> batcher_;  // The last member, so that its thread ends first.
};

}  // namespace seqtrain::serve
