#pragma once

#include <string_view>

#include <seqtrain/core/json.hpp>
#include <seqtrain/serve/contracts/cohere.hpp>
#include <seqtrain/serve/contracts/request.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/contracts/torch_serve.hpp>
#include <seqtrain/serve/contracts/vertex.hpp>

namespace seqtrain::serve {

/// Reads the body of a request. Its form decides the contract: a list is TorchServe's, an object
/// with `inputs` is text-embeddings-inference's, an object with `instances` is Vertex AI's. Throws
/// a `Refusal` that names the wrong field.
[[nodiscard]] inline Request read_request(std::string_view body, const TextLimits& limits = {}) {
  return read_json(body, [&](const json::Value& root) {
    if (root.is_array()) return torch_serve::read_list(root, limits);
    if (!root.is_object()) throw root.error("expected an object or a list of texts");
    const auto inputs = root.find("inputs");
    const auto instances = root.find("instances");
    if (inputs && instances) throw root.error("has both `inputs` and `instances`");
    if (inputs) return tei::read(root, *inputs, limits);
    if (instances) return vertex::read(root, *instances, limits);
    throw root.error("has neither `inputs` nor `instances`");
  });
}

/// Reads the body of a request that ranks texts by their relevance to a query. An object with
/// `documents` is Cohere's or Jina's, one with `texts` is text-embeddings-inference's. Throws a
/// `Refusal` that names the wrong field.
[[nodiscard]] inline Request read_rerank(std::string_view body, const TextLimits& limits = {}) {
  return read_json(body, [&](const json::Value& root) {
    if (!root.is_object()) throw root.error("expected an object with a query");
    const bool documents = root.find("documents").has_value();
    if (documents && root.find("texts")) throw root.error("has both `texts` and `documents`");
    return documents ? cohere::read_rerank(root, limits) : tei::read_rerank(root, limits);
  });
}

}  // namespace seqtrain::serve
