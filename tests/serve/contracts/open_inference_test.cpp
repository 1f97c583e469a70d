#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/open_inference.hpp>

#include "support/contract_answers.hpp"
#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::open_inference {
namespace {

using tests::polarity, tests::topics, tests::rating, tests::ratings;

/// Returns a text as binary data has it.
std::string element(const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string bytes(sizeof size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + text;
}

std::vector<float> floats(const std::string& bytes) {
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

PredictRequest read_body(const std::string& object, const std::string& binary = {},
                         const predict::Task& task = polarity, const TextLimits& limits = {}) {
  const std::string header = binary.empty() ? "" : std::to_string(object.size());
  return read({.inference_header = header, .body = object + binary}, "m", task, limits);
}

/// Returns a body with one input.
std::string with_input(const std::string& shape, const std::string& rest) {
  return R"({"inputs": [{"name": "x", "datatype": "BYTES", "shape": )" + shape + ", " + rest +
         "}]}";
}

/// Returns the status and the sentence of the error that a body gets, or 200.
std::pair<int, std::string> error_of(const std::string& object, const std::string& binary = {},
                                     const TextLimits& limits = {}) {
  try {
    static_cast<void>(read_body(object, binary, polarity, limits));
    return {200, ""};
  } catch (const HttpError& refusal) {
    const HttpResponse response = error(refusal);
    return {response.status, response.body};
  }
}

std::vector<std::string> texts_of(const PredictRequest& request) {
  std::vector<std::string> texts;
  for (const PredictInput& text : request.texts) {
    EXPECT_EQ(text.truncation, Truncation::right);
    texts.push_back(text.text + (text.pair ? "|" + *text.pair : ""));
  }
  return texts;
}

using Strings = std::vector<std::string>;

TEST(OpenInferencePath, NamesAModelBeforeAPurpose) {
  EXPECT_EQ(name_before("", "m"), "m");
  EXPECT_EQ(name_before("", "m/"), "m");
  EXPECT_EQ(name_before("ready", "m/ready"), "m");
  EXPECT_EQ(name_before("infer", "m/infer"), "m");
  EXPECT_EQ(name_before("infer", "/infer"), "");
  EXPECT_EQ(name_before("infer", "a:b/infer"), "a:b");
  for (const char* rest :
       {"", "m", "m/", "m/infer/", "m/live", "m/versions/1/infer", "m/infer/ready", "infer"}) {
    EXPECT_FALSE(name_before("infer", rest)) << rest;
  }
  EXPECT_FALSE(name_before("", "m/versions/1"));
}

TEST(OpenInferenceRead, TakesOneInputOfAnyName) {
  EXPECT_EQ(texts_of(read_body(with_input("[2]", R"("data": ["é", ""])"))), Strings({"é", ""}));
  EXPECT_EQ(texts_of(read_body(with_input("[2, 1]", R"("data": ["a", "b"])"))),
            Strings({"a", "b"}));
  EXPECT_EQ(texts_of(read_body(with_input("[2, 1]", R"("data": [["a"], ["b"]])"))),
            Strings({"a", "b"}));
  EXPECT_EQ(texts_of(read_body(with_input("[0]", R"("data": [])"))), Strings());
  EXPECT_EQ(texts_of(read_body(with_input("[0, 1]", R"("data": [])"))), Strings());
  EXPECT_FALSE(read_body(with_input("[1]", R"("data": ["a"])")).single);
}

TEST(OpenInferenceRead, TakesPairsInEitherOrder) {
  const std::string first = R"({"name": "text", "datatype": "BYTES", "shape": [2],)"
                            R"("data": ["a", "b"]})";
  const std::string second = R"({"name": "text_pair", "datatype": "BYTES", "shape": [2, 1],)"
                             R"("data": ["c", "d"]})";
  EXPECT_EQ(texts_of(read_body(R"({"inputs": [)" + first + "," + second + "]}")),
            Strings({"a|c", "b|d"}));
  EXPECT_EQ(texts_of(read_body(R"({"inputs": [)" + second + "," + first + "]}")),
            Strings({"a|c", "b|d"}));
}

TEST(OpenInferenceRead, TakesBinaryInputs) {
  const std::string bytes = element("a\"}") + element("") + element("é");
  const std::string size = std::to_string(bytes.size());
  EXPECT_EQ(
      texts_of(read_body(
          with_input("[3, 1]", R"("parameters": {"binary_data_size": )" + size + "}"), bytes)),
      Strings({"a\"}", "", "é"}));
  EXPECT_EQ(texts_of(read_body(with_input("[0]", R"("parameters": {"binary_data_size": 0})"))),
            Strings());
  // The bytes of two inputs come one after the other, in the order of the inputs.
  const std::string second = element("second");
  const auto input = [](const std::string& name, std::size_t count) {
    return R"({"name": ")" + name + R"(", "datatype": "BYTES", "shape": [1], )" +
           R"("parameters": {"binary_data_size": )" + std::to_string(count) + "}}";
  };
  EXPECT_EQ(texts_of(read_body(R"({"inputs": [)" + input("text_pair", second.size()) + "," +
                                   input("text", element("a").size()) + "]}",
                               second + element("a"))),
            Strings({"a|second"}));
}

TEST(OpenInferenceRead, NamesTheFieldThatIsWrong) {
  const std::string datum = R"("data": ["a"])";
  const std::string other = R"({"name": "y", "datatype": "BYTES", "shape": [1], "data": ["a"]})";
  const std::string text = R"({"name": "text", "datatype": "BYTES", "shape": [1], "data": ["a"]})";
  const std::string longer =
      R"({"name": "text_pair", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]})";
  for (
      const auto& [body, says] : std::vector<std::pair<std::string, std::string>>{
          {"", "not valid JSON"},
          {"{", "not valid JSON"},
          {"[]", "expected an object"},
          {"{}", "inputs: missing"},
          {R"({"inputs": null})", "inputs: missing"},
          {R"({"inputs": {}})", "inputs: expected an array"},
          {R"({"inputs": []})", "inputs: expected one input, or two"},
          {R"({"inputs": [1]})", "inputs[0]: expected an object"},
          {R"({"inputs": [{}]})", "missing"},
          {R"({"inputs": [)" + text + "," + other + "]}", "text and text_pair"},
          {R"({"inputs": [)" + longer + "]}", "text and text_pair"},
          {R"({"inputs": [)" + text + "," + text + "]}", "text and text_pair"},
          {R"({"inputs": [)" + text + "," + longer + "]}", "have different shapes"},
          {R"({"inputs": [)" + text + "," + longer + "," + other + "]}", "expected one input"},
          {with_input("1", datum), "inputs[0].shape: expected an array"},
          {with_input("[]", datum), "inputs[0].shape: expected [N] or [N, 1]"},
          {with_input("[1, 2]", datum), "inputs[0].shape: expected [N] or [N, 1]"},
          {with_input("[1, 1, 1]", datum), "inputs[0].shape: expected [N] or [N, 1]"},
          {with_input("[1, -1]", datum), "inputs[0].shape: expected [N] or [N, 1]"},
          {with_input("[-1]", datum), "inputs[0].shape: expected [N] or [N, 1]"},
          {with_input("[-9223372036854775808]", datum), "expected [N] or [N, 1]"},
          {with_input("[1.0]", datum), "inputs[0].shape[0]: expected an integer"},
          {with_input("[\"1\"]", datum), "inputs[0].shape[0]: expected an integer"},
          {with_input("[18446744073709551615]", datum), "shape[0]: expected an integer"},
          {with_input("[99999999999999999999999]", datum), "shape[0]: expected an integer"},
          {with_input("[2]", datum), "inputs[0].shape: does not fit the data"},
          {with_input("[0]", datum), "inputs[0].shape: does not fit the data"},
          {with_input("[1]", R"("data": "a")"), "inputs[0].data: expected an array"},
          {with_input("[1]", R"("data": {})"), "inputs[0].data: expected an array"},
          {with_input("[1]", R"("data": [1])"), "inputs[0].data[0]: expected a string"},
          {with_input("[1]", R"("data": [null])"), "inputs[0].data[0]: expected a string"},
          {with_input("[1]", R"("data": [["a"]])"), "inputs[0].data[0]: expected a string"},
          {with_input("[1, 1]", R"("data": [["a", "b"]])"), "data[0]: expected one text"},
          {with_input("[1, 1]", R"("data": [[]])"), "data[0]: expected one text"},
          {with_input("[1, 1]", R"("data": [[["a"]]])"), "data[0][0]: expected a string"},
          {with_input("[1]", R"("data": ["\ud800"])"), "not valid JSON"},
          {with_input("[1]", R"("x": 1)"), "inputs[0].data: missing"},
          {with_input("[1]", R"("parameters": 1, "data": ["a"])"), "parameters: expected an obj"},
          {R"({"inputs": [{"name": "x", "shape": [1], "data": ["a"]}]})", "datatype: missing"},
          {R"({"inputs": [{"name": 1, "datatype": "BYTES", "shape": [1], "data": ["a"]}]})",
           "inputs[0].name: expected a string"},
          {R"({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [1]}]})",
           "inputs[0].datatype: expected BYTES"},
          {R"({"id": 1, "inputs": [)" + text + "]}", "id: expected a string"},
          {R"({"parameters": [], "inputs": [)" + text + "]}", "parameters: expected an object"},
          {R"({"parameters": {"binary_data_output": 1}, "inputs": [)" + text + "]}",
           "parameters.binary_data_output: expected true or false"},
          {R"({"outputs": {}, "inputs": [)" + text + "]}", "outputs: expected an array"},
          {R"({"outputs": [{}], "inputs": [)" + text + "]}", "outputs[0].name: missing"},
          {R"({"outputs": [{"name": "Label"}], "inputs": [)" + text + "]}",
           "outputs[0].name: the model has no such output"},
          {R"({"outputs": [{"name": "label", "parameters": {"binary_data": 1}}], "inputs": [)" +
               text + "]}",
           "outputs[0].parameters.binary_data: expected true or false"},
          {R"({"outputs": [{"name": "scores", "parameters": {"classification": 2}}], "inputs": [)" +
               text + "]}",
           "outputs[0].parameters: classification is not supported"},
          {R"({"outputs": [{"name": "label"}, {"name": "label"}], "inputs": [)" + text + "]}",
           "outputs[1].name: is named twice"},
          {R"({"outputs": [{"name": "label"}, {"name": "label"}, {"name": "label"},)"
           R"({"name": "label"}], "inputs": [)" +
               text + "]}",
           "outputs: are more than the model has"},
          {std::string(100'000, '['), "not valid JSON"}}) {
    const auto [status, answer] = error_of(body);
    EXPECT_EQ(status, 400) << body.substr(0, 200);
    EXPECT_NE(answer.find(says), std::string::npos) << body.substr(0, 200) << ": " << answer;
    EXPECT_TRUE(answer.starts_with(R"({"error":")")) << answer;
  }
}

TEST(OpenInferenceRead, RefusesBinaryDataThatDoNotFit) {
  const std::string a = element("a");
  const auto sized = [](const std::string& shape, const std::string& size) {
    return with_input(shape, R"("parameters": {"binary_data_size": )" + size + "}");
  };
  struct Case {
    std::string object, binary, says;
  };
  for (const auto& [object, binary, says] : std::vector<Case>{
           {sized("[1]", "6"), a, "is more than the bytes after the JSON object"},
           {sized("[1]", "5"), "", "is more than the bytes after the JSON object"},
           {sized("[1]", "-1"), a, "is more than the bytes after the JSON object"},
           {sized("[1]", "9223372036854775807"), a, "is more than the bytes"},
           {sized("[1]", "18446744073709551615"), a, "binary_data_size: expected an integer"},
           {sized("[1]", "\"5\""), a, "binary_data_size: expected an integer"},
           {sized("[1]", "5.0"), a, "binary_data_size: expected an integer"},
           {sized("[1]", "4"), a, "ends inside an element"},
           {sized("[1]", "3"), a.substr(0, 3), "ends inside an element"},
           {sized("[1]", "5"),
            "\xff\xff\xff\xff"
            "a",
            "ends inside an element"},
           {sized("[1]", "4"), "\xff\xff\xff\xff", "ends inside an element"},
           {sized("[2]", "5"), a, "does not fit the data"},
           {sized("[1]", "10"), a + a, "has more elements than the shape says"},
           {sized("[0]", "5"), a, "has more elements than the shape says"},
           {sized("[1]", "5"), a + "b", "do not take all bytes after the JSON object"},
           {with_input("[1]", R"("data": ["a"])"), a, "do not take all bytes"},
           {sized("[1]", "6"), element("\xc3("), "has an element that is not UTF-8"},
           {with_input("[1]", R"("data": ["a"], "parameters": {"binary_data_size": 5})"), a,
            "is given beside data"}}) {
    const auto [status, answer] = error_of(object, binary);
    EXPECT_EQ(status, 400) << object;
    EXPECT_NE(answer.find(says), std::string::npos) << object << ": " << answer;
  }
}

TEST(OpenInferenceRead, RefusesAHeaderThatIsNotASizeWithinTheBody) {
  const std::string body = with_input("[1]", R"("data": ["a"])");
  const auto refused = [&](const std::string& header) {
    try {
      static_cast<void>(read({.inference_header = header, .body = body}, "m", polarity));
      return false;
    } catch (const HttpError& refusal) {
      return error(refusal).status == 400;
    }
  };
  EXPECT_FALSE(refused(""));
  EXPECT_FALSE(refused(std::to_string(body.size())));
  for (const char* header : {"0", "1", "-1", "+1", " 10", "10 ", "0x10", "1e1", "a", "100000",
                             "18446744073709551616", "99999999999999999999999999"}) {
    EXPECT_TRUE(refused(header)) << header;
  }
}

TEST(OpenInferenceRead, LimitsTheNumberOfTexts) {
  const TextLimits limits{.client_batch = 1, .texts = 2};
  EXPECT_EQ(error_of(with_input("[2]", R"("data": ["a", "b"])"), "", limits).first, 200);
  for (const char* shape : {"[3]", "[9223372036854775807]", "[9223372036854775807, 1]"}) {
    const auto [status, answer] =
        error_of(with_input(shape, R"("data": ["a", "b", "c"])"), "", limits);
    EXPECT_EQ(status, 413) << shape;
    EXPECT_NE(answer.find("maximum allowed batch size 2"), std::string::npos) << answer;
  }
}

TEST(OpenInferenceRead, AnErrorQuotesNoText) {
  for (const std::string& body :
       {with_input("[2]", R"("data": ["SECRET", 1])"), with_input("[1]", R"("data": "SECRET")"),
        with_input("[3]", R"("data": ["SECRET"])"), with_input("[\"SECRET\"]", R"("data": [])"),
        std::string{R"({"inputs": "SECRET", "id": "SECRET"})"},
        std::string{R"({"inputs": [{"name": "SECRET", "datatype": "SECRET"}]})"}}) {
    const auto [status, answer] = error_of(body);
    EXPECT_EQ(status, 400);
    EXPECT_EQ(answer.find("SECRET"), std::string::npos) << answer;
  }
}

const std::vector<predict::Prediction> two{{{1}, {0.25, 0.75}, {-1, 1}},
                                           {{0}, {0.875, 0.125}, {1, -1}}};

/// Returns a body for two texts with further members.
std::string two_texts(const std::string& members = {}) {
  return "{" + members +
         R"("inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}]})";
}

TEST(OpenInferenceAnswer, HasAllOutputsAndTheId) {
  const auto response = answer(read_body(two_texts(R"("id": "42\n", )")), polarity, two);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_TRUE(response.headers.empty());
  EXPECT_EQ(
      response.body,
      R"({"model_name":"m","id":"42\n","outputs":[)"
      R"({"name":"label","datatype":"BYTES","shape":[2],"data":["good","bad"]},)"
      R"({"name":"score","datatype":"FP32","shape":[2],"data":[0.75,0.875]},)"
      R"({"name":"scores","datatype":"FP32","shape":[2,2],"data":[0.25,0.75,0.875,0.125]}]})");
}

TEST(OpenInferenceAnswer, HasTheOutputsThatAreAskedFor) {
  EXPECT_EQ(answer(read_body(two_texts(R"("outputs": [{"name": "label"}], )")), polarity, two).body,
            R"({"model_name":"m","outputs":[)"
            R"({"name":"label","datatype":"BYTES","shape":[2],"data":["good","bad"]}]})");
  EXPECT_EQ(answer(read_body(two_texts(R"("outputs": [], )")), polarity, two).body,
            answer(read_body(two_texts()), polarity, two).body);
}

TEST(OpenInferenceAnswer, MayHaveBinaryData) {
  const auto response =
      answer(read_body(two_texts(R"("parameters": {"binary_data_output": true}, )"
                                 R"("outputs": [{"name": "scores"}, {"name": "label"},)"
                                 R"({"name": "score", "parameters": {"binary_data": false}}], )")),
             polarity, two);
  const std::string object =
      R"({"model_name":"m","outputs":[)"
      R"({"name":"scores","datatype":"FP32","shape":[2,2],"parameters":{"binary_data_size":16}},)"
      R"({"name":"label","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":15}},)"
      R"({"name":"score","datatype":"FP32","shape":[2],"data":[0.75,0.875]}]})";
  EXPECT_EQ(response.content_type, "application/octet-stream");
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0], std::pair(std::string{"Inference-Header-Content-Length"},
                                           std::to_string(object.size())));
  ASSERT_EQ(response.body.size(), object.size() + 31);
  EXPECT_EQ(response.body.substr(0, object.size()), object);
  EXPECT_EQ(floats(response.body.substr(object.size(), 16)),
            (std::vector<float>{0.25, 0.75, 0.875, 0.125}));
  EXPECT_EQ(response.body.substr(object.size() + 16), element("good") + element("bad"));
  const auto one = answer(read_body(two_texts(R"("outputs": [{"name": "score", )"
                                              R"("parameters": {"binary_data": true}}], )")),
                          polarity, two);
  EXPECT_EQ(floats(one.body.substr(one.body.size() - 8)), (std::vector<float>{0.75, 0.875}));
}

TEST(OpenInferenceAnswer, FollowsTheProblemType) {
  const std::vector<predict::Prediction> many{{{0, 2}, {0.75, 0.25, 0.875}, {1, -1, 2}},
                                              {{}, {0.125, 0.25, 0.125}, {-2, -1, -2}}};
  EXPECT_EQ(answer(read_body(two_texts(), "", topics), topics, many).body,
            R"({"model_name":"m","outputs":[)"
            R"({"name":"label","datatype":"BYTES","shape":[2],"data":["a;c",""]},)"
            R"({"name":"score","datatype":"FP32","shape":[2],"data":[0.875,0.25]},)"
            R"({"name":"scores","datatype":"FP32","shape":[2,3],)"
            R"("data":[0.75,0.25,0.875,0.125,0.25,0.125]}]})");
  const std::vector<predict::Prediction> values{{{}, {-2.5}, {-2.5F}}, {{}, {3}, {3.F}}};
  EXPECT_EQ(answer(read_body(two_texts(), "", rating), rating, values).body,
            R"({"model_name":"m","outputs":[)"
            R"({"name":"score","datatype":"FP32","shape":[2],"data":[-2.5,3]},)"
            R"({"name":"scores","datatype":"FP32","shape":[2,1],"data":[-2.5,3]}]})");
  const std::vector<predict::Prediction> each{{{}, {-2.5, 1}, {-2.5F, 1}}, {{}, {3, 4}, {3, 4}}};
  EXPECT_EQ(answer(read_body(two_texts(), "", ratings), ratings, each).body,
            R"({"model_name":"m","outputs":[)"
            R"({"name":"scores","datatype":"FP32","shape":[2,2],"data":[-2.5,1,3,4]}]})");
  try {
    static_cast<void>(read_body(two_texts(R"("outputs": [{"name": "label"}], )"), "", rating));
    ADD_FAILURE() << "a regression has no labels";
  } catch (const HttpError& refusal) {
    EXPECT_EQ(error(refusal).status, 400);
  }
}

TEST(OpenInferenceAnswer, IsEmptyIfThereAreNoTexts) {
  const std::string none = with_input("[0]", R"("data": [])");
  EXPECT_EQ(answer(read_body(none), polarity, std::span<const predict::Prediction>{}).body,
            R"({"model_name":"m","outputs":[)"
            R"({"name":"label","datatype":"BYTES","shape":[0],"data":[]},)"
            R"({"name":"score","datatype":"FP32","shape":[0],"data":[]},)"
            R"({"name":"scores","datatype":"FP32","shape":[0,2],"data":[]}]})");
}

TEST(OpenInferenceAnswer, RefusesScoresThatAreNotFinite) {
  const auto request = read_body(with_input("[1]", R"("data": ["a"])"));
  const std::vector<predict::Prediction> wrong{{{1}, {std::nan(""), 0}, {0, 0}}};
  try {
    static_cast<void>(answer(request, polarity, wrong));
    FAIL();
  } catch (const HttpError& refusal) {
    EXPECT_EQ(error(refusal).status, 500);
  }
}

HttpResponse get(const std::string& path, const tests::MadeServer& server = {}) {
  return tests::answer_of(contract(), {.method = "GET", .target = path}, server);
}

TEST(OpenInferenceDescribe, TellsTheState) {
  const tests::MadeServer loading{{.ready = false}};
  EXPECT_EQ(get("/v2/health/live", loading).body, R"({"live":true})");
  EXPECT_EQ(get("/v2/health/ready").body, R"({"ready":true})");
  EXPECT_EQ(get("/v2/models/model/ready").body, R"({"ready":true})");
  for (const char* path : {"/v2/health/ready", "/v2/models/model/ready", "/v2/models/m/ready"}) {
    EXPECT_EQ(get(path, loading).status, 503);
    EXPECT_EQ(get(path, loading).body, R"({"ready":false})");
  }
  EXPECT_EQ(tests::problem_of([] { (void)get("/v2/models/m/ready"); }), "unknown model");
}

TEST(OpenInferenceDescribe, HasTheTensors) {
  EXPECT_EQ(get("/v2").body, R"({"name":"seqtrain","version":")" + std::string{version} +
                                 R"(","extensions":["binary_tensor_data"]})");
  EXPECT_EQ(get("/v2/models/model").body,
            R"({"name":"model","platform":"seqtrain",)"
            R"("inputs":[{"name":"text","datatype":"BYTES","shape":[-1]}],)"
            R"("outputs":[{"name":"label","datatype":"BYTES","shape":[-1]},)"
            R"({"name":"score","datatype":"FP32","shape":[-1]},)"
            R"({"name":"scores","datatype":"FP32","shape":[-1,2]}]})");
  EXPECT_EQ(get("/v2/models/model", tests::MadeServer{{.task = rating}}).body.find("label"),
            std::string::npos);
  EXPECT_EQ(tests::problem_of([] { (void)get("/v2/models/m"); }), "unknown model");
  EXPECT_EQ(
      tests::problem_of([] { (void)get("/v2/models/model", tests::MadeServer{{.ready = false}}); }),
      "the model is not ready");
}

TEST(OpenInferenceDescribe, RefusesAModelThatEmbedsTexts) {
  const tests::MadeServer embeds{{.task = {.pooling = "mean", .embedding_size = 3}}};
  EXPECT_EQ(tests::problem_of([&] { (void)get("/v2/models/model", embeds); }),
            "model embeds texts and has no labels: ask /embed");
}

TEST(OpenInferenceRequest, TakesTheModelFromThePath) {
  const auto read = [](const std::string& model) {
    return tests::request_of({.method = "POST",
                              .target = "/v2/models/" + model + "/infer",
                              .body = with_input("[1]", R"("data": ["a"])")});
  };
  const auto request = read("model");
  EXPECT_EQ(request.model, "model");
  EXPECT_TRUE(request.strict_model);
  EXPECT_EQ(texts_of(request), Strings({"a"}));
  EXPECT_EQ(tests::problem_of([&] { (void)read("m"); }), "unknown model");
}

}  // namespace
}  // namespace seqtrain::serve::open_inference
