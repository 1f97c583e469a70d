#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/read_request.hpp>

#include "support/server_view.hpp"

namespace seqtrain::serve {
namespace {

using tests::read_request;

/// Returns the status and the message of the refusal of a body, or 200 if it is accepted.
std::pair<int, std::string> refusal_of(const std::string& body, const TextLimits& limits = {}) {
  try {
    static_cast<void>(read_request(body, limits));
    return {200, ""};
  } catch (const HttpError& refusal) {
    return {refusal.status(), refusal.what()};
  }
}

TEST(ReadRequest, TakesTheThreeFormsOfInputs) {
  const auto text = read_request(R"({"inputs": "What is Deep Learning?"})");
  EXPECT_TRUE(text.single);
  ASSERT_EQ(text.texts.size(), 1u);
  EXPECT_EQ(text.texts[0].text, "What is Deep Learning?");
  EXPECT_FALSE(text.texts[0].pair);
  EXPECT_EQ(text.texts[0].write, tei::write_answer);
  EXPECT_EQ(text.texts[0].truncation, Truncation::none);

  const auto pair = read_request(R"({"inputs": ["a", "b"]})");
  EXPECT_TRUE(pair.single);
  ASSERT_EQ(pair.texts.size(), 1u);
  EXPECT_EQ(pair.texts[0].pair, "b");

  const auto batch = read_request(R"({"inputs": [["a"], ["b", "c"]]})");
  EXPECT_FALSE(batch.single);
  ASSERT_EQ(batch.texts.size(), 2u);
  EXPECT_FALSE(batch.texts[0].pair);
  EXPECT_EQ(batch.texts[1].text, "b");
  EXPECT_EQ(batch.texts[1].pair, "c");

  EXPECT_TRUE(read_request(R"({"inputs": ["a"]})").single);
}

TEST(ReadRequest, TakesTheOptionsOfInputs) {
  const auto request = read_request(
      R"({"inputs": [["a"], ["b"]], "truncate": true, "truncation_direction": "Left",
          "raw_scores": true, "other": 1})");
  for (const PredictInput& text : request.texts) {
    EXPECT_EQ(text.truncation, Truncation::left);
    EXPECT_TRUE(text.raw_scores);
  }
  EXPECT_EQ(read_request(R"({"inputs": "a", "truncate": true})").texts[0].truncation,
            Truncation::right);
  EXPECT_EQ(read_request(R"({"inputs": "a", "truncate": null, "truncation_direction": "Left"})")
                .texts[0]
                .truncation,
            Truncation::none);
}

TEST(ReadRequest, TakesEachFormOfAnInstance) {
  const auto request = read_request(
      R"({"instances": ["a", {"text": "b", "text_pair": "c"}, {"inputs": ["d", "e"]},
                        {"data": {"b64": "w6k="}}, {"b64": "Zg=="}, {"data": "g"},
                        {"text": "h", "truncate": false}]})");
  EXPECT_FALSE(request.single);
  ASSERT_EQ(request.texts.size(), 7u);
  const std::vector<std::string> texts{"a", "b", "d", "é", "f", "g", "h"};
  const std::vector<WriteAnswer> writers{
      vertex::write_answer, vertex::write_answer, tei::write_answer,   vertex::write_label,
      vertex::write_label,  vertex::write_label,  vertex::write_answer};
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(request.texts[i].text, texts[i]);
    EXPECT_EQ(request.texts[i].write, writers[i]) << i;
    EXPECT_EQ(request.texts[i].truncation, i < 6 ? Truncation::right : Truncation::none);
  }
  EXPECT_EQ(request.texts[1].pair, "c");
  EXPECT_EQ(request.texts[2].pair, "e");
  EXPECT_TRUE(read_request(R"({"instances": []})").texts.empty());
}

TEST(ReadRequest, ParametersHoldForAllInstances) {
  const auto request = read_request(
      R"({"instances": ["a"],
          "parameters": {"truncation_direction": "left", "raw_scores": true, "top_k": 2}})");
  EXPECT_EQ(request.texts[0].truncation, Truncation::left);
  EXPECT_TRUE(request.texts[0].raw_scores);
  EXPECT_EQ(request.texts[0].top_k, 2U);
  const auto own = read_request(
      R"({"instances": [{"text": "a", "top_k": 1}, {"text": "b"}], "parameters": {"top_k": 3}})");
  EXPECT_EQ(own.texts[0].top_k, 1U);
  EXPECT_EQ(own.texts[1].top_k, 3U);
  for (const auto& [parameter, says] :
       {std::pair{R"("top_p": 1)", "parameters.top_p: is unknown"},
        {R"("top_k": 0)", "parameters.top_k: must be at least 1"},
        {R"("top_k": "2")", "parameters.top_k: must be at least 1"}}) {
    const auto [status, text] =
        refusal_of(R"({"instances": ["a"], "parameters": {)" + std::string{parameter} + "}}");
    EXPECT_EQ(status, 422) << parameter;
    EXPECT_NE(text.find(says), std::string::npos) << text;
  }
}

TEST(ReadRequest, ARefusalIsShort) {
  const std::string name(100'000, 'a');
  const auto [status, text] =
      refusal_of(R"({"instances": ["a"], "parameters": {")" + name + R"(": 1}})");
  EXPECT_EQ(status, 422);
  EXPECT_LT(text.size(), 200u);
}

TEST(ReadRequest, TakesAListOfTexts) {
  const auto request = read_request(R"(["this was a bad movie", ""])");
  ASSERT_EQ(request.texts.size(), 2u);
  EXPECT_EQ(request.texts[0].write, torch_serve::write_answer);
  EXPECT_EQ(request.texts[0].truncation, Truncation::right);
}

TEST(ReadRequest, LimitsTheNumberOfTexts) {
  const TextLimits limits{.client_batch = 2, .texts = 3};
  EXPECT_EQ(refusal_of(R"({"inputs": [["a"], ["b"]]})", limits).first, 200);
  EXPECT_EQ(refusal_of(R"({"inputs": [["a"], ["b"], ["c"]]})", limits),
            (std::pair{413, std::string{"batch size 3 > maximum allowed batch size 2"}}));
  EXPECT_EQ(refusal_of(R"({"instances": ["a", "b", "c"]})", limits).first, 200);
  EXPECT_EQ(refusal_of(R"({"instances": ["a", "b", "c", "d"]})", limits).first, 413);
  EXPECT_EQ(refusal_of(R"(["a", "b", "c", "d"])", limits).first, 413);
}

TEST(ReadRequest, NamesTheFieldThatIsWrong) {
  struct Case {
    std::string body;
    int status;
    std::string says;
  };
  std::vector<Case> cases{
      {"", 400, "not valid JSON"},
      {"{", 400, "not valid JSON"},
      {"{\"inputs\": \"\xff\"}", 400, "not valid JSON"},
      {R"({"inputs": "\ud800"})", 400, "not valid JSON"},
      {R"({"inputs": ""})", 400, "cannot be empty"},
      {R"({"inputs": [["a"], [""]]})", 400, "cannot be empty"},
      {R"({"inputs": []})", 422, "inputs: "},
      {R"({"inputs": [[]]})", 422, "inputs[0]: "},
      {R"({"inputs": ["a", "b", "c"]})", 422, "inputs: "},
      {R"({"inputs": [["a", "b", "c"]]})", 422, "inputs[0]: "},
      {R"({"inputs": [["a"], "b"]})", 422, "inputs[1]: "},
      {R"({"inputs": ["a", ["b"]]})", 422, "inputs[1]: "},
      {R"({"inputs": [["a"], [1]]})", 422, "inputs[1][0]: expected a string"},
      {R"({"inputs": "a", "instances": ["a"]})", 422, "both"},
      {R"({"inputs": null})", 422, "neither"},
      {R"({})", 422, "neither"},
      {R"("a")", 422, "expected an object or a list"},
      {R"([["a"]])", 422, "[0]: expected a string"},
      {R"({"instances": ["a"], "parameters": []})", 422, "expected an object"},
      {R"({"instances": [{}]})", 422, "instances[0].text: missing"},
      {R"({"instances": [{"b64": "?"}]})", 422, "instances[0].b64: is not base64"},
      {R"({"instances": [{"data": {"b64": "/w=="}}]})", 422, "is not UTF-8"},
      {R"({"instances": [{"data": {}}]})", 422, "instances[0].data: "},
      {R"({"inputs": "a", "truncation_direction": "Up"})", 422, "truncation_direction: is Left or"},
      {std::string(100'000, '['), 400, "not valid JSON"},
      {"{\"inputs\":" + std::string(2'000, '[') + std::string(2'000, ']') + "}", 400, ""},
      {"{\"inputs\":" + std::string(900, '[') + std::string(900, ']') + "}", 422, "inputs[0][0]"},
  };
  // Each field gets a value of each wrong type.
  const std::vector<std::pair<std::string, std::string>> fields{
      {R"({"inputs": @})", "inputs"},
      {R"({"inputs": ["a", @]})", "inputs[1]"},
      {R"({"inputs": [["a", @]]})", "inputs[0][1]"},
      {R"({"instances": @})", "instances"},
      {R"({"instances": ["a", @]})", "instances[1]"},
      {R"({"instances": [{"text": @}]})", "instances[0].text"},
      {R"({"instances": [{"text": "a", "text_pair": @}]})", "instances[0].text_pair"},
      {R"({"instances": [{"inputs": @}]})", "instances[0].inputs"},
      {R"({"instances": [{"b64": @}]})", "instances[0].b64"},
      {R"({"instances": [{"data": @}]})", "instances[0].data"},
      {R"([@])", "[0]"}};
  for (const auto& [body, field] : fields) {
    for (const std::string value : {"1", "-1.5e300", "true", "{\"a\": 1}", "[1]", "[{}]"}) {
      std::string filled = body;
      cases.push_back({filled.replace(filled.find('@'), 1, value), 422, field});
    }
  }
  for (const std::string flag : {"truncate", "raw_scores"}) {
    for (const std::string value : {"1", "\"true\"", "[]", "{}"}) {
      cases.push_back({"{\"inputs\": \"a\", \"" + flag + "\": " + value + "}", 422, flag});
      cases.push_back({"{\"instances\": [{\"text\": \"a\", \"" + flag + "\": " + value + "}]}", 422,
                       "instances[0]." + flag});
      cases.push_back(
          {"{\"instances\": [\"a\"], \"parameters\": {\"" + flag + "\": " + value + "}}", 422,
           "parameters." + flag});
    }
  }
  for (const Case& wrong : cases) {
    const auto [status, text] = refusal_of(wrong.body);
    EXPECT_EQ(status, wrong.status) << wrong.body.substr(0, 100) << ": " << text;
    EXPECT_NE(text.find(wrong.says), std::string::npos)
        << wrong.body.substr(0, 100) << ": " << text;
  }
}

TEST(ReadRequest, ARefusalQuotesNoText) {
  for (const std::string body :
       {R"({"inputs": [["SECRET"], 5]})", R"({"instances": ["SECRET", 5]})", R"(["SECRET", 5])",
        R"({"inputs": "SECRET", "truncation_direction": "SECRET"})", R"({"inputs": SECRET})"}) {
    EXPECT_EQ(refusal_of(body).second.find("SECRET"), std::string::npos) << refusal_of(body).second;
  }
}

}  // namespace
}  // namespace seqtrain::serve
