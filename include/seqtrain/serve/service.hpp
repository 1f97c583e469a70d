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
#include <seqtrain/serve/forms.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/models.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/request_context.hpp>
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
    const auto context = std::make_shared<RequestContext<P>>(metrics_, log_, http, responder);
    context->page_headers = access_.headers_for(http);
    refuse_errors(*context, [&] { route(std::move(http), context); });
  }

 private:
  using ContextPtr = std::shared_ptr<RequestContext<P>>;
  using Model = typename Models<P>::Model;

  /// Bodies with more bytes, and compressed ones, are read and encoded by a worker, so that the
  /// connection's thread, which other connections need too, is not busy for long.
  static constexpr std::size_t short_body = 32768;
  /// Answers with more scores are composed by a worker.
  static constexpr std::size_t few_scores = 4096;

  template <class Step>
  static void refuse_errors(RequestContext<P>& context, const Step& step) {
    try {
      step();
    } catch (const HttpError& error) {
      context.refuse(error);
    } catch (const std::exception& error) {
      context.refuse(failure(error));
    }
  }

  void route(HttpRequest&& http, const ContextPtr& context) {
    auto found = routes_.find(http);
    context->error_form = found.error;
    access_.check(http, found.open);
    if (found.route == nullptr) return answer_without_route(http, found.allow, *context);
    if (!found.route->answer) return begin(*found.route, found.model, std::move(http), context);
    const ServedView<P> view = view_of(models_.present(), *context);
    context->answer(found.route->answer({http, found.model, view, routes_.forms()}));
  }

  /// Answers a request that no route takes, given the methods that its path takes.
  static void answer_without_route(const HttpRequest& http, const std::string& allow,
                                   RequestContext<P>& context) {
    if (allow.empty()) throw HttpError{404, error_type::validation, "no such path"};
    if (http.method == "OPTIONS") {
      return context.answer({.status = 204, .headers = {{"Allow", allow}}});
    }
    context.allow = allow;
    throw HttpError{405, error_type::validation, "this path takes " + allow};
  }

  ServedView<P> view_of(Model model, const RequestContext<P>& context) const {
    return {std::move(model), draining_, options_, metrics_, context.gone};
  }

  /// Gives a request a place and prepares it, here or, if it is long or compressed, on a worker.
  void begin(const Route& route, const std::optional<std::string>& name, HttpRequest&& http,
             const ContextPtr& context) {
    Model all = models_.present();
    if (!all) throw unhealthy("the model is not loaded yet");
    context->place = admission_.enter();
    if (!context->place) throw overloaded("Model is overloaded");
    const bool is_short = http.body.size() <= short_body && http.content_encoding.empty();
    if (is_short) return prepare(route, name, http, all, context);
    context->by_worker = true;
    context->responder.on_hang_up([weak = std::weak_ptr{context}] {
      if (const auto lost = weak.lock()) lost->gone = true;
    });
    boost::asio::post(workers_, [this, &route, name, all = std::move(all), context,
                                 http = std::move(http)]() mutable {
      if (context->gone) return;
      refuse_errors(*context, [&] { prepare(route, name, http, all, context); });
    });
  }

  /// Reads a request and encodes its texts for the model, or answers it if it needs none.
  void prepare(const Route& route, const std::optional<std::string>& name, HttpRequest& http,
               const Model& all, const ContextPtr& context) {
    decode_body(http, options_.max_body);
    forms::check_charset(http.content_type);
    const ServedView<P> view = view_of(all, *context);
    const Call call{http, name, view, routes_.forms()};
    if (route.work) {
      HttpResponse response = route.work(call);
      if (!context->gone) context->answer(std::move(response));
      return;
    }
    context->request = route.read(call);
    context->model = view.named(context->request.model, context->request.strict_model);
    context->request.check(context->model->predictor.task());
    const auto& texts = context->request.texts;
    if (!context->place->add_texts(texts.size())) throw overloaded("Model is overloaded");
    metrics_.requests.add(RequestContext<P>::method_of(context->request));
    const auto& adapter = context->model->facts.name;
    if (!adapter.empty()) metrics_.adapters.add(adapter);
    auto encoded = encode_all(context->model->predictor, *context);
    if (texts.empty()) return context->responder.send(finished(*context));
    if (context->gone) return;
    const std::size_t parts = encoded.parts.size();
    if (parts > options_.max_texts) {
      throw too_large("the texts have " + std::to_string(parts) + " windows, more than the " +
                      std::to_string(options_.max_texts) + " that are handled at once");
    }
    if (!context->place->add_texts(parts - texts.size())) throw overloaded("Model is overloaded");
    auto job = std::make_shared<Job<P>>(context->model, std::move(encoded), Clock::now(),
                                        answer_later(context), all.get());
    if (!context->by_worker) return submit(context, std::move(job));
    context->responder.on_connection([this, context, job] { submit(context, job); });
  }

  /// Returns the function that answers a request when the model has made its predictions.
  std::function<void()> answer_later(const ContextPtr& context) {
    const predict::Task& task = context->model->predictor.task();
    constexpr std::size_t of_embedding = 1024;  // about as many numbers
    const std::size_t numbers =
        task.embeds() ? of_embedding : std::max<std::size_t>(task.labels.size(), 1);
    const bool few = context->request.texts.size() * numbers <= few_scores;
    if (few && !context->by_worker) {
      return [context] { context->responder.post([context] { return finished(*context); }); };
    }
    return [this, context] {
      context->responder.on_connection([this, context] {
        context->responder.on_hang_up({});  // From here on the context is the worker's.
        boost::asio::post(workers_, [context] { context->responder.send(finished(*context)); });
      });
    };
  }

  /// Passes a job to the model. Only the connection's thread may call this.
  void submit(const ContextPtr& context, std::shared_ptr<Job<P>> job) {
    // The context and its job hold each other until the job is done or cancelled.
    context->job = std::move(job);
    context->responder.on_hang_up([this, weak = std::weak_ptr{context}] {
      if (const auto lost = weak.lock()) leave(*lost);
    });
    batcher_.submit(context->job);
  }

  /// Cancels the job of a request whose client has hung up.
  void leave(RequestContext<P>& context) {
    context.place.reset();
    if (const auto job = std::move(context.job)) batcher_.cancel(*job);
  }

  EncodedTexts encode_all(const P& predictor, RequestContext<P>& context) {
    EncodedTexts encoded;
    const auto begin = Clock::now();
    for (PredictInput& text : context.request.texts) {
      if (context.gone) break;
      const std::size_t length = add_text(predictor, text, options_.max_windows, encoded);
      context.tokens += length;
      context.characters += text::count_characters(text.text);
      if (text.pair) context.characters += text::count_characters(*text.pair);
      context.pairs += text.pair ? 1 : 0;
      metrics_.input_length.add(static_cast<double>(length));
      // No answer repeats it, and each text of `/rerank` has the query.
      std::string{}.swap(text.text);
    }
    context.request.tokens = context.tokens;
    context.tokenization = Clock::now() - begin;
    return encoded;
  }

  /// Returns the response to a request for which the model has made predictions.
  static HttpResponse finished(RequestContext<P>& context) {
    const auto job = std::move(context.job);
    try {
      if (job && job->error()) return context.refused(*job->error());
      const predict::Task& task = context.model->predictor.task();
      std::vector<predict::Prediction> predictions;
      for (std::size_t i = 0; job && i < job->rows().size(); ++i) {
        predictions.push_back(predict::interpret(job->rows()[i], task, job->windows()[i]));
      }
      return context.answered(serve::answer(context.request, task, predictions), job.get());
    } catch (const HttpError& error) {
      return context.refused(error);
    } catch (const std::exception& error) {
      return context.refused(failure(error));
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
