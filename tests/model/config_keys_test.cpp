#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/families.hpp>
#include <seqtrain/weights/config_file.hpp>

#include "support/corrupt.hpp"
#include "support/shared_data.hpp"

namespace seqtrain::model {
namespace {

/// Returns the error for a config.json with one key, or "" if there is none.
std::string refusal_of(std::string_view family, std::string_view key, std::string_view value) {
  const std::string text = R"({"model_type": ")" + std::string{family} + R"(", ")" +
                           std::string{key} + R"(": )" + std::string{value} + "}";
  const auto file = weights::ConfigFile::parse(text);
  std::string problem;
  try {
    Architectures::visit(file,
                         [&]<class Family>() { static_cast<void>(Family::read_config(file)); });
  } catch (const InputError& error) {
    problem = error.what();
  }
  return problem;
}

void expect_refused(std::string_view family, std::string_view key, std::string_view value) {
  const auto problem = refusal_of(family, key, value);
  EXPECT_TRUE(problem.starts_with("config.json: " + std::string{key}))
      << family << " " << key << " " << value << ": " << problem;
}

void expect_accepted(std::string_view family, std::string_view key, std::string_view value) {
  EXPECT_EQ(refusal_of(family, key, value), "") << family << " " << key << " " << value;
}

void check(std::string_view family, std::string_view key, const json::Value& treatment) {
  if (treatment.is_string()) {
    if (treatment.string() == "used") return expect_refused(family, key, "{}");
    ASSERT_EQ(treatment.string(), "ignored");
    return expect_accepted(family, key, R"({"a": [1]})");
  }
  for (const auto& [expected, value] : treatment.members()) {
    const std::string text = simdjson::minify(value.element());
    expected == "accepted" ? expect_accepted(family, key, text) : expect_refused(family, key, text);
  }
}

TEST(ConfigKeys, AreUsedOrRefusedOrMakeNoDifference) {
  const auto table = json::Document::load(tests::golden() / "config_keys.json");
  const auto shared = table.root().at("all").members();
  for (const auto& [family, own] : table.root().members()) {
    if (family == "all") continue;
    for (const auto& [key, treatment] : shared) {
      if (!own.find(key)) check(family, key, treatment);
    }
    for (const auto& [key, treatment] : own.members()) check(family, key, treatment);
  }
}

}  // namespace
}  // namespace seqtrain::model
