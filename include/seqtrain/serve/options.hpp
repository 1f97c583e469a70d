#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace seqtrain::serve {

/// Options of `Service`: what the server takes on.
struct ServiceOptions {
  std::size_t max_batch_tokens = 16384;       ///< tokens that the model has at a time
  std::size_t max_concurrent_requests = 512;  ///< requests that are worked on; others get 429
  std::size_t max_client_batch_size = 32;  ///< texts a request in text-embeddings-inference's form
  std::size_t max_texts = 32768;           ///< texts that are worked on, of all requests
  std::chrono::steady_clock::duration max_wait = std::chrono::seconds{60};  ///< in the queue
  std::string health_route = "/health";    ///< beside `/health` and `/ping`
  std::string predict_route = "/predict";  ///< beside `/predict` and others
};

}  // namespace seqtrain::serve
