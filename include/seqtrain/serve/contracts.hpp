#pragma once

#include <vector>

#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts/cohere.hpp>
#include <seqtrain/serve/contracts/embeddings.hpp>
#include <seqtrain/serve/contracts/explain.hpp>
#include <seqtrain/serve/contracts/health.hpp>
#include <seqtrain/serve/contracts/kserve.hpp>
#include <seqtrain/serve/contracts/open_inference.hpp>
#include <seqtrain/serve/contracts/openai.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/contracts/torch_serve.hpp>
#include <seqtrain/serve/contracts/vertex.hpp>
#include <seqtrain/serve/options.hpp>

namespace seqtrain::serve {

/// Returns the contracts of a server. Where two have the same path and method, the earlier one
/// answers. Vertex AI may choose a path of the first two; their forms then stay.
[[nodiscard]] inline std::vector<Contract> all_contracts(const ServiceOptions& options) {
  return {open_inference::contract(),
          torch_serve::contract(options),
          vertex::chosen_paths(options),
          tei::contract(),
          vertex::contract(),
          cohere::contract(),
          embeddings::contract(),
          explain::contract(),
          openai::contract(),
          kserve::contract(),
          health::contract()};
}

}  // namespace seqtrain::serve
