#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <seqtrain/serve/access.hpp>

namespace seqtrain::serve {

/// Options of `Service`: the limits and the paths of the server.
struct ServiceOptions {
  std::size_t max_batch_tokens = 16384;  ///< most tokens in a batch for the model
  /// Requests that are handled at once; others get status 429.
  std::size_t max_concurrent_requests = 512;
  /// Most texts in a request of text-embeddings-inference's form.
  std::size_t max_client_batch_size = 32;
  std::size_t max_texts = 32768;  ///< most texts of all requests that are handled at once
  /// Most windows in which a text is read, if the model reads windows.
  std::size_t max_windows = 128;
  /// Longest time in the queue.
  std::chrono::steady_clock::duration max_wait = std::chrono::seconds{60};
  std::size_t max_body = 1572864;  ///< most bytes of a body that arrives compressed
  AccessOptions access = {};
  std::string model_name = "model";        ///< the model's name in the Open Inference Protocol
  std::string health_route = "/health";    ///< also answers `/health` and `/ping`
  std::string predict_route = "/predict";  ///< also answers `/predict` and the other routes
};

}  // namespace seqtrain::serve
