#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/encoded_texts.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/prometheus.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/tokens.hpp>

namespace seqtrain::serve {

/// The view that contracts have of a server whose model is a `P`. It refers to the arguments of
/// its constructor.
template <Servable P>
class ServedView final : public ServerView {
 public:
  using Model = std::shared_ptr<const Served<P>>;

  /// `model` is null while no model is loaded.
  ServedView(Model model, bool draining, const ServiceOptions& options,
             const PrometheusMetrics& metrics, const std::atomic<bool>& gone)
      : model_{std::move(model)},
        draining_{draining},
        options_{options},
        metrics_{metrics},
        gone_{gone} {}

  [[nodiscard]] const ServiceOptions& options() const override { return options_; }
  [[nodiscard]] bool is_ready() const override { return model_ && !draining_; }
  [[nodiscard]] std::string metrics() const override { return metrics_.text(); }
  [[nodiscard]] bool is_gone() const override { return gone_; }

  [[nodiscard]] const ModelFacts& facts() const override { return loaded().facts; }
  [[nodiscard]] std::optional<predict::Task> own_task() const override {
    if (!loaded().has_head) return {};
    return loaded().predictor.task();
  }
  [[nodiscard]] predict::Task task_of(std::optional<std::string_view> name,
                                      bool strict) const override {
    return named(name, strict)->predictor.task();
  }
  [[nodiscard]] std::vector<std::string> adapters() const override {
    std::vector<std::string> names;
    for (const auto& adapter : loaded().adapters) names.push_back(adapter.facts.name);
    return names;
  }
  [[nodiscard]] std::size_t longest_text() const override {
    return serve::longest_text(loaded().predictor, options_.max_windows);
  }
  [[nodiscard]] predict::Encoded encode(std::optional<std::string_view> name, std::string_view text,
                                        std::optional<std::string_view> pair,
                                        Truncation truncation) const override {
    return serve::encode(named(name, false)->predictor, text, pair, truncation, longest_text());
  }
  [[nodiscard]] std::optional<std::vector<text::Token>> tokens(std::string_view text,
                                                               bool special) const override {
    const P& predictor = loaded().predictor;
    return tokenized([&] { return serve::tokens(predictor, text, special); });
  }

  /// Returns the model or the adapter that `task_of` names.
  [[nodiscard]] Model named(std::optional<std::string_view> name, bool strict) const {
    const Served<P>& all = loaded();
    const bool only = all.adapters.empty();
    if (!name || *name == options_.model_name || (only && !strict)) {
      if (all.has_head) return model_;
      throw HttpError{404, error_type::validation,
                      "the base has no head of its own: name one of the adapters that /info lists"};
    }
    for (const auto& adapter : all.adapters) {
      if (adapter.facts.name == *name) return {model_, &adapter};
    }
    throw HttpError{404, error_type::validation,
                    "unknown model; this server has '" + options_.model_name + "'" +
                        (only ? "" : " and the adapters that /info lists")};
  }

 private:
  [[nodiscard]] const Served<P>& loaded() const {
    if (!model_) throw unhealthy("the model is not loaded yet");
    return *model_;
  }

  Model model_;
  bool draining_;
  const ServiceOptions& options_;
  const PrometheusMetrics& metrics_;
  const std::atomic<bool>& gone_;
};

}  // namespace seqtrain::serve
