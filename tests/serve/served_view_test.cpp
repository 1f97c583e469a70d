#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/served_view.hpp>

#include "support/problem_of.hpp"
#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

using tests::ServedModel;
using View = ServedView<ServedModel>;

/// A view of the model `base` with the adapters `one` and `two`, or without any.
struct Viewed {
  explicit Viewed(bool adapters, bool has_head = true) {
    auto made = tests::served();
    made.has_head = has_head;
    for (const char* name : {"one", "two"}) {
      if (!adapters) break;
      made.adapters.push_back({ServedModel{{.labels = {"no", "yes"}}}, {.name = name}});
    }
    model = std::make_shared<const Served<ServedModel>>(std::move(made));
  }

  View view(bool draining = false) const { return {model, draining, options, metrics, gone}; }
  View loading() const { return {nullptr, false, options, metrics, gone}; }

  ServiceOptions options{.model_name = "base"};
  PrometheusMetrics metrics;
  std::atomic<bool> gone = false;
  std::shared_ptr<const Served<ServedModel>> model;
};

std::string problem(const View& view, std::optional<std::string_view> name, bool strict = false) {
  return tests::problem_of([&] { static_cast<void>(view.task_of(name, strict)); });
}

TEST(ServedView, FindsAdaptersByTheirNames) {
  const Viewed all{true};
  const View view = all.view();
  EXPECT_EQ(view.adapters(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(view.task_of("two", true).labels.size(), 2u);
  EXPECT_EQ(view.named("two", true).get(), &all.model->adapters[1]);
  for (const std::optional<std::string_view> own : {std::optional<std::string_view>{}, {"base"}}) {
    EXPECT_EQ(view.named(own, true), all.model);
  }
  EXPECT_EQ(problem(view, "three"),
            "unknown model; this server has 'base' and the adapters that /info lists");
}

TEST(ServedView, AModelWithoutAdaptersHasAnyNameUnlessThatIsStrict) {
  const Viewed alone{false};
  EXPECT_EQ(alone.view().named("any", false), alone.model);
  EXPECT_EQ(problem(alone.view(), "any", true), "unknown model; this server has 'base'");
}

TEST(ServedView, AModelWithoutAHeadAnswersNothingItself) {
  const Viewed headless{true, false};
  EXPECT_FALSE(headless.view().own_task());
  EXPECT_TRUE(Viewed{true}.view().own_task());
  EXPECT_NE(problem(headless.view(), {}).find("the base has no head"), std::string::npos);
  EXPECT_EQ(headless.view().task_of("one", false).labels.size(), 2u);
}

TEST(ServedView, EncodesForAModelOrAnAdapter) {
  const Viewed all{true};
  const View view = all.view();
  const std::string text(50, 'a');
  EXPECT_EQ(view.encode({}, text, {}, Truncation::right).input_ids.size(), 32u);
  EXPECT_EQ(view.encode("one", text, "b", Truncation::none).input_ids.size(), 53u);
  EXPECT_THROW(static_cast<void>(view.encode("three", text, {}, Truncation::none)), HttpError);
}

TEST(ServedView, IsReadyWithAModelUntilTheServerStops) {
  Viewed all{false};
  EXPECT_TRUE(all.view().is_ready());
  EXPECT_FALSE(all.view(true).is_ready());
  EXPECT_EQ(all.view(true).longest_text(), 32u);
  EXPECT_FALSE(all.loading().is_ready());
  EXPECT_EQ(problem(all.loading(), {}), "the model is not loaded yet");
  EXPECT_EQ(tests::problem_of([&] { static_cast<void>(all.loading().tokens("a", true)); }),
            "the model is not loaded yet");
  EXPECT_FALSE(all.view().is_gone());
  all.gone = true;
  EXPECT_TRUE(all.view().is_gone());
}

}  // namespace
}  // namespace seqtrain::serve
