#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <seqtrain/log/log.hpp>
#include <seqtrain/serve/access.hpp>
#include <seqtrain/serve/admission.hpp>
#include <seqtrain/serve/batcher.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/decode_body.hpp>
#include <seqtrain/serve/encoded_texts.hpp>
#include <seqtrain/serve/exchange.hpp>
#include <seqtrain/serve/forms.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/models.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/responder.hpp>
#include <seqtrain/serve/routes.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/serve/served_view.hpp>

namespace seqtrain::serve {

/// Answers requests with a model's predictions by a list of contracts.
template <Servable P>
class Service {
 public:
  /// Starts to load the model.
  Service(ServiceOptions options, std::vector<Contract> contracts, typename Models<P>::Load load,
          PrometheusMetrics& metrics, log::Log log)
      : options_{std::move(options)},
        routes_{std::move(contracts), options_.model_name},
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

  /// Bodies with more bytes, and compressed ones, are read and encoded by a worker, so that the
  /// connection's thread, which other connections need too, is not busy for long.
  static constexpr std::size_t short_body = 32768;
  /// Answers with more scores are composed by a worker.
  static constexpr std::size_t few_scores = 4096;

  template <class Step>
  static void refuse_errors(Exchange<P>& exchange, const Step& step) {
    try {
      step();
    } catch (const HttpError& error) {
      exchange.refuse(error);
    } catch (const std::exception& error) {
      exchange.refuse(failure(error));
    }
  }

  void route(HttpRequest&& http, const ExchangePtr& exchange) {
    auto found = routes_.find(http);
    exchange->error_form = found.error;
    access_.check(http, found.open);
    if (found.route == nullptr) return answer_without_route(http, found.allow, *exchange);
    if (!found.route->answer) return begin(*found.route, found.model, std::move(http), exchange);
    const ServedView<P> view = view_of(models_.present(), *exchange);
    exchange->answer(found.route->answer({http, found.model, view, routes_.forms()}));
  }

  /// Answers a request that no route takes, given the methods that its path takes.
  static void answer_without_route(const HttpRequest& http, const std::string& allow,
                                   Exchange<P>& exchange) {
    if (allow.empty()) throw HttpError{404, error_type::validation, "no such path"};
    if (http.method == "OPTIONS") {
      return exchange.answer({.status = 204, .headers = {{"Allow", allow}}});
    }
    exchange.allow = allow;
    throw HttpError{405, error_type::validation, "this path takes " + allow};
  }

  ServedView<P> view_of(Model model, const Exchange<P>& exchange) const {
    return {std::move(model), draining_, options_, metrics_, exchange.gone};
  }

  /// Gives a request a place and prepares it, here or, if it is long or compressed, on a worker.
  void begin(const Route& route, const std::optional<std::string>& name, HttpRequest&& http,
             const ExchangePtr& exchange) {
    Model all = models_.present();
    if (!all) throw unhealthy("the model is not loaded yet");
    exchange->place = admission_.enter();
    if (!exchange->place) throw overloaded("Model is overloaded");
    const bool is_short = http.body.size() <= short_body && http.content_encoding.empty();
    if (is_short) return prepare(route, name, http, all, exchange);
    exchange->by_worker = true;
    exchange->responder.on_hang_up([weak = std::weak_ptr{exchange}] {
      if (const auto lost = weak.lock()) lost->gone = true;
    });
    boost::asio::post(workers_, [this, &route, name, all = std::move(all), exchange,
                                 http = std::move(http)]() mutable {
      if (exchange->gone) return;
      refuse_errors(*exchange, [&] { prepare(route, name, http, all, exchange); });
    });
  }

  /// Reads a request and encodes its texts for the model, or answers it if it needs none.
  void prepare(const Route& route, const std::optional<std::string>& name, HttpRequest& http,
               const Model& all, const ExchangePtr& exchange) {
    decode_body(http, options_.max_body);
    forms::check_charset(http.content_type);
    const ServedView<P> view = view_of(all, *exchange);
    const Call call{http, name, view, routes_.forms()};
    if (route.work) {
      HttpResponse response = route.work(call);
      if (!exchange->gone) exchange->answer(std::move(response));
      return;
    }
    exchange->request = route.read(call);
    exchange->model = view.named(exchange->request.model, exchange->request.strict_model);
    exchange->request.check(exchange->model->predictor.task());
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
    const predict::Task& task = exchange->model->predictor.task();
    constexpr std::size_t of_embedding = 1024;  // about as many numbers
    const std::size_t numbers =
        task.embeds() ? of_embedding : std::max<std::size_t>(task.labels.size(), 1);
    const bool few = exchange->request.texts.size() * numbers <= few_scores;
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
    exchange.request.tokens = exchange.tokens;
    exchange.tokenization = Clock::now() - begin;
    return encoded;
  }

  /// Returns the response to a request for which the model has made predictions.
  static HttpResponse finished(Exchange<P>& exchange) {
    const auto job = std::move(exchange.job);
    try {
      if (job && job->error()) return exchange.refused(*job->error());
      const predict::Task& task = exchange.model->predictor.task();
      std::vector<predict::Prediction> predictions;
      for (std::size_t i = 0; job && i < job->rows().size(); ++i) {
        predictions.push_back(predict::interpret(job->rows()[i], task, job->windows()[i]));
      }
      return exchange.answered(serve::answer(exchange.request, task, predictions), job.get());
    } catch (const HttpError& error) {
      return exchange.refused(error);
    } catch (const std::exception& error) {
      return exchange.refused(failure(error));
    }
  }

  ServiceOptions options_;
  RouteTable routes_;
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
