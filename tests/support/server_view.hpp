#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts.hpp>
#include <seqtrain/serve/read_request.hpp>
#include <seqtrain/serve/routes.hpp>

namespace seqtrain::tests {

/// A server without a model, as contracts see it. All its adapters have the model's task. Its
/// tokenizer names nothing; the ids of a text are its bytes, of which it reads 32.
struct MadeServer final : serve::ServerView {
  struct State {
    serve::ServiceOptions options = {};
    bool ready = true;
    predict::Task task = {.labels = {"bad", "good"}};
    std::vector<std::string> adapters = {};
    bool gone = false;
  };
  MadeServer() = default;
  explicit MadeServer(State made) : state{std::move(made)} {}

  [[nodiscard]] const serve::ServiceOptions& options() const override { return state.options; }
  [[nodiscard]] bool is_ready() const override { return state.ready; }
  [[nodiscard]] std::string metrics() const override { return "metric 1\n"; }
  [[nodiscard]] bool is_gone() const override { return state.gone; }
  [[nodiscard]] const serve::ModelFacts& facts() const override { return made_facts; }
  [[nodiscard]] std::optional<predict::Task> own_task() const override { return state.task; }
  [[nodiscard]] predict::Task task_of(std::optional<std::string_view> name,
                                      bool strict) const override {
    const bool any = !strict && state.adapters.empty();
    const bool known = !name || any || *name == state.options.model_name ||
                       std::ranges::count(state.adapters, *name) > 0;
    if (!known) throw serve::HttpError{404, serve::error_type::validation, "unknown model"};
    return state.task;
  }
  [[nodiscard]] std::vector<std::string> adapters() const override { return state.adapters; }
  [[nodiscard]] std::size_t longest_text() const override { return 32; }
  [[nodiscard]] predict::Encoded encode(std::optional<std::string_view> name, std::string_view text,
                                        std::optional<std::string_view> pair,
                                        serve::Truncation truncation) const override {
    static_cast<void>(task_of(name, false));
    if (text == "untokenizable") throw InputError{"no ids for this"};
    predict::Encoded encoded;
    for (const char c : std::string{text} + "|" + std::string{pair.value_or("")}) {
      encoded.input_ids.push_back(c);
    }
    auto& ids = encoded.input_ids;
    if (truncation != serve::Truncation::none) ids.resize(std::min<std::size_t>(ids.size(), 32));
    return encoded;
  }
  [[nodiscard]] std::optional<std::vector<text::Token>> tokens(std::string_view,
                                                               bool) const override {
    return {};
  }

  State state = {};
  serve::ModelFacts made_facts = {.id = "made"};
};

/// Calls `use` with the route that a table has for a request, and with the call for its handler.
template <class Use>
auto route(const serve::HttpRequest& http, std::vector<serve::Contract> contracts,
           const MadeServer& server, const Use& use) {
  const serve::RouteTable table{std::move(contracts), server.options().model_name};
  const auto found = table.find(http);
  if (found.route == nullptr) throw std::logic_error{"no route for " + http.target};
  return use(*found.route, serve::Call{http, found.model, server, table.forms()});
}

/// Returns the answer of a contract to a request that has no texts for the model.
inline serve::HttpResponse answer_of(const serve::Contract& contract,
                                     const serve::HttpRequest& http, const MadeServer& server) {
  return route(http, {contract}, server, [](const serve::Route& to, const serve::Call& call) {
    return to.answer ? to.answer(call) : to.work(call);
  });
}

/// Returns what the server's contracts read in a request that has texts for the model.
inline serve::PredictRequest request_of(const serve::HttpRequest& http,
                                        const MadeServer& server = {}) {
  return route(http, serve::all_contracts(server.options()), server,
               [](const serve::Route& to, const serve::Call& call) { return to.read(call); });
}

/// Returns the forms of bodies of the server's contracts.
inline const serve::BodyForms& all_forms() {
  static const serve::RouteTable table{serve::all_contracts({}), "model"};
  return table.forms();
}

inline serve::PredictRequest read_request(std::string_view body,
                                          const serve::TextLimits& limits = {}) {
  return serve::read_by_form(body, all_forms().predict, limits);
}
inline serve::PredictRequest read_rerank(std::string_view body,
                                         const serve::TextLimits& limits = {}) {
  return serve::read_rerank(body, all_forms().rank, limits);
}

}  // namespace seqtrain::tests
