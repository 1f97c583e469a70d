#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/core/environment.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/serve/options.hpp>

namespace seqtrain::cli {

/// The flags of a program that serves a model. Environment variables with the names of
/// text-embeddings-inference and of Vertex AI give the defaults.
struct ServeFlags {
  std::string model = "";
  std::vector<std::string> adapters = {};
  std::string model_name = "model";
  bool embed = false;
  std::string host = "127.0.0.1";
  std::int64_t port = 8080;
  std::int64_t threads = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  std::string precision = "auto";
  std::string device = "auto";
  std::int64_t max_batch_tokens = 16384;
  std::int64_t max_concurrent_requests = 512;
  std::int64_t max_client_batch_size = 32;
  std::int64_t max_windows = 128;
  std::int64_t payload_limit = 1572864;
  std::int64_t max_buffered_bytes = 268435456;
  double grace_seconds = 25;
  std::vector<std::string> cors_allow_origin = {};
  std::vector<std::string> allowed_hosts = {};
  std::string api_key = "";                ///< `API_KEY`
  std::string health_route = "/health";    ///< `AIP_HEALTH_ROUTE`
  std::string predict_route = "/predict";  ///< `AIP_PREDICT_ROUTE`

  /// Fills the members from the environment and then from a command line. Returns false if help was
  /// asked for. Throws `InputError` if a value is not allowed.
  bool parse(int argc, const char* const* argv, std::optional<log::Log> log = {}) {
    read_environment();
    cli::Flags flags{"serve", "answers requests over HTTP with a fine-tuned model's predictions",
                     std::move(log)};
    flags
        .add("model", model,
             "folder of a model, of a run, or of dated runs, whose newest complete one is served: "
             "a directory, an address such as gs://bucket/path, or a name on the hub "
             "(AIP_STORAGE_URI)")
        .add("adapters", adapters,
             "adapters of the model that are served beside it, name=PLACE,name=PLACE,..., where "
             "PLACE is as for --model; or a folder of adapters, each named by its own folder")
        .add("model-name", model_name, "name of the model in the Open Inference Protocol's paths")
        .add_switch("embed", embed,
                    "answer /embed, /v1/embeddings and /similarity with embeddings of texts, in "
                    "place of labels")
        .add("host", host,
             "IP address to listen on; 127.0.0.1 serves this machine's own programs only, 0.0.0.0 "
             "all that reach the machine (SEQTRAIN_HOST; HOSTNAME, if it is an address)")
        .add("port", port, "port to listen on; 0 chooses a free one (AIP_HTTP_PORT, PORT)")
        .add("threads", threads, "threads that compute")
        .add("precision", precision,
             "precision of matrix products: fp32, bf16, fp16 (on a GPU), int8 (of an encoder on a "
             "processor), or " +
                 cli::auto_precision)
        .add("device", device, cli::device_help)
        .add("max-batch-tokens", max_batch_tokens,
             "most ids in a batch for the model (MAX_BATCH_TOKENS)")
        .add("max-concurrent-requests", max_concurrent_requests,
             "most requests at once; others get status 429 (MAX_CONCURRENT_REQUESTS)")
        .add("max-client-batch-size", max_client_batch_size,
             "most texts in a request of text-embeddings-inference's form (MAX_CLIENT_BATCH_SIZE)")
        .add("max-windows", max_windows,
             "most windows in which a text is read, if the model was trained with --long-texts "
             "windows; longer texts are cut or get status 413")
        .add("payload-limit", payload_limit, "most bytes of a request's body (PAYLOAD_LIMIT)")
        .add("max-buffered-bytes", max_buffered_bytes,
             "most bytes of all requests' bodies and of answers that clients have not read; "
             "further bodies get status 503")
        .add("cors-allow-origin", cors_allow_origin,
             "origins whose pages may use the server, such as https://example.com; * is any")
        .add("allowed-hosts", allowed_hosts,
             "names that requests may give this server in Host; any if there are none")
        .add("api-key", api_key,
             "requests must have the header \"Authorization: Bearer KEY\", except those for health "
             "and metrics (API_KEY, which other users of the machine cannot see)")
        .add("grace-seconds", grace_seconds,
             "seconds after SIGTERM within which accepted requests are answered");
    if (!flags.parse(argc, argv)) return false;
    if (api_key.empty()) read_text("API_KEY", api_key);  // after --help, which shows defaults
    cli::require(!embed || adapters.empty(), "adapters", "are for labels, not for --embed");
    check();
    return true;
  }

  [[nodiscard]] serve::ServiceOptions service_options() const {
    return {.max_batch_tokens = static_cast<std::size_t>(max_batch_tokens),
            .max_concurrent_requests = static_cast<std::size_t>(max_concurrent_requests),
            .max_client_batch_size = static_cast<std::size_t>(max_client_batch_size),
            .max_windows = static_cast<std::size_t>(max_windows),
            .max_body = static_cast<std::size_t>(payload_limit),
            .access = {.origins = cors_allow_origin, .api_key = api_key, .hosts = allowed_hosts},
            .model_name = model_name,
            .health_route = health_route,
            .predict_route = predict_route};
  }

 private:
  /// Throws `InputError` if a value is not allowed.
  void check() const {
    cli::require(!model.empty(), "model",
                 "is needed: the folder of a fine-tuned model or of its runs");
    cli::require(!model_name.empty() && model_name == http::percent_encode(model_name),
                 "model-name", "must consist of letters, digits and -._~");
    cli::require(port >= 0 && port <= 65535, "port", "must be from 0 to 65535");
    cli::require_threads(threads);
    cli::require(max_batch_tokens >= 1, "max-batch-tokens", "must be at least 1");
    cli::require(max_concurrent_requests >= 1, "max-concurrent-requests", "must be at least 1");
    cli::require(max_client_batch_size >= 1, "max-client-batch-size", "must be at least 1");
    cli::require(max_windows >= 1, "max-windows", "must be at least 1");
    cli::require(payload_limit >= 1, "payload-limit", "must be at least 1");
    cli::require(max_buffered_bytes >= payload_limit, "max-buffered-bytes",
                 "must be at least --payload-limit");
    cli::require(grace_seconds > 0 && grace_seconds < 1e6, "grace-seconds",
                 "must be above 0 and below a million");
  }

  void read_environment() {
    read_text("AIP_STORAGE_URI", model);
    read_text("AIP_HEALTH_ROUTE", health_route);
    read_text("AIP_PREDICT_ROUTE", predict_route);
    // Clouds name the port that a container must serve to others.
    for (const char* name : {"PORT", "AIP_HTTP_PORT"}) {
      if (process_environment(name)) host = "0.0.0.0";
    }
    read_text("SEQTRAIN_HOST", host);
    if (const auto name = process_environment("HOSTNAME"); name && is_address(*name)) host = *name;
    read_number("PORT", port);
    read_number("AIP_HTTP_PORT", port);
    read_number("MAX_BATCH_TOKENS", max_batch_tokens);
    read_number("MAX_CONCURRENT_REQUESTS", max_concurrent_requests);
    read_number("MAX_CLIENT_BATCH_SIZE", max_client_batch_size);
    read_number("PAYLOAD_LIMIT", payload_limit);
  }

  static void read_text(const char* name, std::string& target) {
    target = process_environment(name).value_or(target);
  }

  static void read_number(const char* name, std::int64_t& target) {
    const auto value = process_environment(name);
    if (!value) return;
    const auto number = parse_number<std::int64_t>(*value);
    if (!number) throw InputError{"'" + *value + "' is not a number", {.object = name}};
    target = *number;
  }

  /// Tells whether a text is an IP address. In a container, `HOSTNAME` is the container's name,
  /// which is not an address.
  static bool is_address(const std::string& text) {
    in6_addr address{};
    return ::inet_pton(AF_INET, text.c_str(), &address) == 1 ||
           ::inet_pton(AF_INET6, text.c_str(), &address) == 1;
  }
};

}  // namespace seqtrain::cli
