#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/request.hpp>

namespace seqtrain::serve {
namespace detail {

/// Returns the form that a body has, or null if it has none of the forms.
[[nodiscard]] inline const BodyForm* form_of(const json::Value& root,
                                             const std::vector<BodyForm>& forms) {
  const BodyForm* found = nullptr;
  for (const BodyForm& form : forms) {
    const bool fits = form.member.empty() ? root.is_array()
                                          : root.is_object() && root.find(form.member).has_value();
    if (!fits) continue;
    if (found != nullptr) {
      throw root.error("has both `" + std::string{found->member} + "` and `" +
                       std::string{form.member} + "`");
    }
    found = &form;
  }
  return found;
}

/// Returns the members by which objects are known, for an error: "neither `a` nor `b`".
inline std::string none_of(const std::vector<BodyForm>& forms) {
  std::vector<std::string> members;
  for (const BodyForm& form : forms) {
    if (!form.member.empty()) members.push_back("`" + std::string{form.member} + "`");
  }
  return (members.size() > 1 ? "neither " : "no ") + joined(members, " nor ");
}

}  // namespace detail

/// Reads the body of a request. Its form decides the contract: for example, an object with `inputs`
/// is text-embeddings-inference's. Throws an `HttpError` that names the wrong field.
[[nodiscard]] inline PredictRequest read_by_form(std::string_view body,
                                                 const std::vector<BodyForm>& forms,
                                                 const TextLimits& limits = {}) {
  return read_json(body, [&](const json::Value& root) {
    if (const auto* const form = detail::form_of(root, forms)) return form->read(root, limits);
    if (!root.is_object()) throw root.error("expected an object or a list of texts");
    throw root.error("has " + detail::none_of(forms));
  });
}

/// Reads the body of a request by the forms of all contracts.
[[nodiscard]] inline PredictRequest read_request(const Call& call) {
  return read_by_form(call.http.body, call.forms.predict, call.limits());
}

/// Reads the body of a request that ranks texts by their relevance to a query. A body without a
/// known form is read as the first one. Throws an `HttpError` that names the wrong field.
[[nodiscard]] inline PredictRequest read_rerank(std::string_view body,
                                                const std::vector<BodyForm>& forms,
                                                const TextLimits& limits = {}) {
  return read_json(body, [&](const json::Value& root) {
    if (!root.is_object()) throw root.error("expected an object with a query");
    const auto* const form = detail::form_of(root, forms);
    return (form != nullptr ? *form : forms.at(0)).read(root, limits);
  });
}

}  // namespace seqtrain::serve
