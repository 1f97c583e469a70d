#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/tokens.hpp>

namespace seqtrain::serve {

/// The server as a contract sees it while it answers a request.
class ServerView {
 public:
  virtual ~ServerView() = default;

  [[nodiscard]] virtual const ServiceOptions& options() const = 0;
  /// Tells whether a model is loaded and the server is not about to stop.
  [[nodiscard]] virtual bool is_ready() const = 0;
  /// Returns the metrics in Prometheus' text format.
  [[nodiscard]] virtual std::string metrics() const = 0;
  /// Tells whether the client has hung up, so that nobody waits for the answer.
  [[nodiscard]] virtual bool is_gone() const = 0;

  // The functions below throw an `HttpError` with status 503 while no model is loaded.

  [[nodiscard]] virtual const ModelFacts& facts() const = 0;
  /// Returns the task of the model's own head, or nothing if only its adapters have heads.
  [[nodiscard]] virtual std::optional<predict::Task> own_task() const = 0;
  /// Returns the task of the model or the adapter that has this name, or of the model if there is
  /// no name. Throws an `HttpError` with status 404 if there is none. If the name is not `strict`,
  /// a model without adapters has any name.
  [[nodiscard]] virtual predict::Task task_of(std::optional<std::string_view> name,
                                              bool strict) const = 0;
  /// Returns the adapters' names.
  [[nodiscard]] virtual std::vector<std::string> adapters() const = 0;
  /// Returns the most ids of a text that is not cut.
  [[nodiscard]] virtual std::size_t longest_text() const = 0;
  /// Returns the ids that the model or the adapter of `task_of` reads of a text or a pair, or all
  /// ids if it may not be cut. Throws `InputError` if the text cannot be encoded.
  [[nodiscard]] virtual predict::Encoded encode(std::optional<std::string_view> name,
                                                std::string_view text,
                                                std::optional<std::string_view> pair,
                                                Truncation truncation) const = 0;
  /// Returns the tokens of a text, or nothing if the tokenizer cannot name its ids.
  [[nodiscard]] virtual std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                                       bool special) const = 0;
};

/// A form of the JSON bodies on a path that several contracts share.
struct BodyForm {
  /// An object of this form has this member. The form without a member is a list.
  std::string_view member = {};
  PredictRequest (*read)(const json::Value& root, const TextLimits& limits) = nullptr;
};

/// The forms of all contracts, in the contracts' order.
struct BodyForms {
  std::vector<BodyForm> predict = {};  ///< on the paths that predict
  std::vector<BodyForm> rank = {};     ///< on the paths that rank texts by their relevance
};

/// A request to a route, with all that its handler may use.
struct Call {
  const HttpRequest& http;
  std::optional<std::string_view> model = {};  ///< the model's name in the path
  const ServerView& server;
  const BodyForms& forms;

  [[nodiscard]] TextLimits limits() const {
    const ServiceOptions& options = server.options();
    return {.client_batch = options.max_client_batch_size, .texts = options.max_texts};
  }
};

/// A path with a method and its handler, which is `answer`, `work` or `read`. Each of them may
/// throw an `HttpError`.
struct Route {
  std::string_view method = "GET";  ///< GET, which includes HEAD, POST or PUT
  /// The path or, if it ends with the name of a model, what comes before that.
  std::string path = {};
  /// Returns the model's name, given what follows `path`, or nothing if the path is another one.
  std::function<std::optional<std::string_view>(std::string_view rest)> model_in = {};
  bool open = false;  ///< answers without the server's key

  /// Returns the answer at once, on the connection's thread, also while no model is loaded.
  std::function<HttpResponse(const Call& call)> answer = {};
  /// Returns the answer once there is a model and a place for the request. A worker calls it if the
  /// body is long or compressed.
  std::function<HttpResponse(const Call& call)> work = {};
  /// Reads the texts that the model is to classify, under the same conditions as `work`.
  std::function<PredictRequest(const Call& call)> read = {};
};

/// The routes of one kind of client, with the form of its errors.
struct Contract {
  std::vector<Route> routes = {};
  BodyForms forms = {};  ///< those that its clients send on other contracts' paths
  ErrorForm error = tei_error;
  /// All errors on paths that begin so have this contract's form, also if there is no such path.
  std::string_view error_prefix = {};
};

}  // namespace seqtrain::serve
