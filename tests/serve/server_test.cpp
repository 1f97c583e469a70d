#include <atomic>
#include <chrono>
#include <cmath>
#include <list>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/serve/server.hpp>

#include "support/compressed.hpp"
#include "support/http_client.hpp"
#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

using tests::Door;
using tests::HttpClient;
using tests::ServedModel;

/// A server of a fake model on a free port. It runs until it is destroyed.
struct RunningServer {
  explicit RunningServer(ServedModel::Options model = {}, ServiceOptions options = {},
                         bool wait = true)
      : server{{.host = "127.0.0.1", .port = 0},
               std::move(options),
               [this, model] {
                 auto options_of_model = model;
                 options_of_model.shift = shift;
                 return tests::served(options_of_model);
               },
               log::Log{{.format = log::LogFormat::json, .out = &text}}} {
    thread = std::jthread{[this](const std::stop_token& stop) { server.run(stop); }};
    if (!wait) return;
    while (HttpClient{server.port()}.get("/health").status != 200) std::this_thread::yield();
  }

  void stop() {
    thread.request_stop();
    thread.join();
  }

  std::uint16_t port() const { return server.port(); }

  std::ostringstream text;
  std::atomic<float> shift = 0;
  Server<ServedModel> server;
  std::jthread thread;
};

/// Returns the fake model's answer for a text.
std::string ranked(const std::string& text, float shift = 0) {
  const ServedModel model{{.shift = shift}};
  const std::vector encoded{model.encode(text, {}, 1000)};
  const auto logits = model.predict(encoded);
  const std::vector predictions{predict::interpret({logits.data(), 3}, model.task())};
  const PredictRequest request{.single = true,
                               .texts = {{.text = text, .write = tei::write_answer}}};
  return answer(request, model.task(), predictions).body;
}

TEST(Server, AnswersAsTextEmbeddingsInferenceDoes) {
  RunningServer running;
  HttpClient client{running.port()};
  const auto single = client.post("/predict", R"({"inputs": "a text"})");
  EXPECT_EQ(single.status, 200);
  EXPECT_EQ(single.headers.at("Content-Type"), "application/json");
  EXPECT_EQ(single.body, ranked("a text"));
  EXPECT_EQ(single.headers.at("x-compute-type"), "cpu");
  EXPECT_EQ(client.post("/", R"({"inputs": "a text"})").body, single.body);
  for (const char* name :
       {"x-total-time", "x-tokenization-time", "x-queue-time", "x-inference-time"}) {
    EXPECT_TRUE(single.headers.contains(name)) << name;
  }
  EXPECT_EQ(client.post("/predict", R"({"inputs": [["a text"], ["b"]]})").body,
            "[" + ranked("a text") + "," + ranked("b") + "]");
  EXPECT_EQ(client.get("/info").status, 200);
  EXPECT_EQ(client.post("/tokenize", R"({"inputs": "a"})").body,
            R"([[{"id":1,"text":"[1]","special":true,"start":null,"stop":null},)"
            R"({"id":97,"text":"a","special":false,"start":0,"stop":1}]])");
  const auto metrics = client.get("/metrics").body;
  for (const char* line :
       {"te_request_count{method=\"batch\"} 1\n", "te_request_count{method=\"single\"} 2\n",
        "te_request_duration_count 3\n", "te_batch_next_size_sum 4\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line;
  }
}

TEST(Server, RefusesAsTextEmbeddingsInferenceDoes) {
  RunningServer running{{}, {.max_client_batch_size = 2}};
  HttpClient client{running.port()};
  struct Case {
    std::string body;
    int status;
    std::string reply;
  };
  const std::string long_text(40, 'a');
  for (const auto& [body, status, reply] : std::vector<Case>{
           {R"({"inputs": ""})", 400,
            R"({"error":"`inputs` cannot be empty","error_type":"Empty"})"},
           {R"({"inputs": [["a"], ["b"], ["c"]]})", 413,
            R"({"error":"batch size 3 > maximum allowed batch size 2","error_type":"Validation"})"},
           {R"({"inputs": ")" + long_text + R"("})", 413,
            R"({"error":"`inputs` must have less than 33 tokens. Given: 41; )"
            R"(\"truncate\": true cuts longer texts","error_type":"Validation"})"},
           {R"({"inputs": "untokenizable"})", 422,
            R"({"error":"Tokenization error: no ids for this","error_type":"Tokenizer"})"},
           {R"({"inputs": "fail"})", 424,
            R"({"error":"Inference failed: the model broke","error_type":"Backend"})"},
           {R"({"inputs": "nan"})", 424,
            R"({"error":"a score is not a finite number","error_type":"Backend"})"}}) {
    const auto got = client.post("/predict", body);
    EXPECT_EQ(got.status, status) << body;
    EXPECT_EQ(got.body, reply);
  }
  EXPECT_EQ(client.post("/predict", R"({"inputs": ")" + long_text + R"(", "truncate": true})").body,
            ranked(long_text.substr(0, 31)));
  EXPECT_NE(client.get("/metrics").body.find("te_request_failure{err=\"backend\"} 2\n"),
            std::string::npos);
}

TEST(Server, AnswersAsVertexWants) {
  RunningServer running{{}, {.health_route = "/alive", .predict_route = "/v1/models/m:predict"}};
  HttpClient client{running.port()};
  EXPECT_EQ(client.get("/alive").status, 200);
  const std::string body = R"({"instances": [{"inputs": "a text"}, {"text": "b"}]})";
  const auto reply = client.post("/v1/models/m:predict", body);
  EXPECT_EQ(reply.status, 200);
  const auto document = json::Document::parse(reply.body, "reply");
  const auto predictions = document.root().at("predictions").items();
  ASSERT_EQ(predictions.size(), 2u);
  EXPECT_EQ(predictions[0].items().front().at("label").string(), "positive");
  EXPECT_EQ(predictions[1].at("label").string(), "positive");
  EXPECT_EQ(predictions[1].at("scores").members().size(), 3u);
  EXPECT_EQ(client.post("/vertex", body).body, reply.body);
  EXPECT_EQ(client.post("/v1/models/m:predict", R"({"instances": []})").body,
            R"({"predictions":[]})");
}

/// Returns a model's predictions in Vertex AI's form, with the windows that decided.
std::string vertex_answer(const ServedModel& model, const std::vector<std::string>& texts) {
  json::Writer out;
  out.begin_object().key("predictions").begin_array();
  for (const auto& text : texts) {
    std::vector<text::DecidingWindow> deciding;
    const std::vector encoded{model.encode(text, {}, 1000)};
    const auto logits = model.predict(encoded, &deciding);
    auto prediction = predict::interpret({logits.data(), 3}, model.task());
    if (!deciding.empty()) prediction.window = deciding[0];
    predict::write_json(out, prediction, model.task(), {.logits = false});
  }
  return out.end_array().end_object().text();
}

TEST(Server, NamesTheWindowThatDecidedWhateverElseIsInTheBatch) {
  Door door;
  std::vector<std::size_t> batches;
  const ServedModel model{{.window = 4}};
  RunningServer running{{.window = 4, .before_predict = [&](std::size_t count) {
                           batches.push_back(count);
                           door.pass();
                         }}};
  batches.clear();
  door.close();
  const std::vector<std::vector<std::string>> texts{
      {"a"}, {"aaaaat", "b"}, {"taaaaaaaa"}, {"aat", "aaaa", "aaaaaaaaaat"}};
  std::vector<std::string> bodies(texts.size());
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    clients.emplace_back([&, i] {
      json::Writer body;
      body.begin_object().member("instances", texts[i]).end_object();
      bodies[i] = HttpClient{running.port()}.post("/predict", body.text()).body;
    });
    if (i == 0) door.await(3);  // two batches have warmed the model
  }
  while (running.server.metrics().queue_size < 13) std::this_thread::yield();
  door.open();
  for (auto& client : clients) client.join();
  EXPECT_EQ(batches, (std::vector<std::size_t>{1, 13}));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(bodies[i], vertex_answer(model, texts[i]));
  }
  EXPECT_EQ(bodies[0], vertex_answer(ServedModel{{}}, {"a"}));
  EXPECT_NE(bodies[1].find(R"(,"window":{"index":1,"of":2,"begin":3,"end":6}},{"label")"),
            std::string::npos)
      << bodies[1];
  // Other forms have no place for it.
  const auto inputs = HttpClient{running.port()}.post("/predict", R"({"inputs": "aaaaat"})");
  EXPECT_EQ(inputs.status, 200);
  EXPECT_EQ(inputs.body.find("window"), std::string::npos) << inputs.body;
}

TEST(Server, AnswersAsTorchServeDoes) {
  RunningServer running;
  HttpClient client{running.port()};
  EXPECT_EQ(client.get("/ping").body, R"({"status":"Healthy"})");
  const auto list = client.post("/predictions/fastai_model", R"(["this was a bad movie"])");
  const auto document = json::Document::parse(list.body, "reply");
  ASSERT_EQ(document.root().items().size(), 1u);
  EXPECT_EQ(document.root().items()[0].at("Categories").string(), "positive");
  EXPECT_EQ(document.root().items()[0].at("Tensor").items().size(), 3u);
  EXPECT_EQ(
      client.post("/predictions/bert/", R"({"instances": [{"data": {"b64": "aGVsbG8="}}]})").body,
      R"({"predictions":["positive"]})");
  const auto text = client.post("/predictions/bert", "this was a bad movie");
  EXPECT_EQ("[" + text.body + "]", list.body);
  client.send(
      "PUT /predictions/bert HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\nthis was a bad "
      "movie");
  EXPECT_EQ(client.read().body, text.body);
  EXPECT_EQ(client.post("/predictions/bert", "\n").body,
            R"({"code":400,"type":"Empty","message":"the body cannot be empty"})");
  EXPECT_EQ(client.post("/predictions/bert", R"({"a": 5})").body,
            R"({"code":422,"type":"Validation",)"
            R"("message":"body: has neither `inputs` nor `instances`"})");
}

TEST(Server, AnswersByTheOpenInferenceProtocol) {
  RunningServer running{{}, {.model_name = "m"}};
  HttpClient client{running.port()};
  EXPECT_EQ(client.get("/v2/health/live").body, R"({"live":true})");
  EXPECT_EQ(client.get("/v2/health/ready").body, R"({"ready":true})");
  EXPECT_EQ(client.get("/v2/models/m/ready").body, R"({"ready":true})");
  EXPECT_NE(client.get("/v2").body.find("binary_tensor_data"), std::string::npos);
  EXPECT_NE(client.get("/v2/models/m").body.find(R"("shape":[-1,3])"), std::string::npos);
  const auto reply = client.post(
      "/v2/models/m/infer",
      R"({"id": "7", "inputs": [{"name": "x", "datatype": "BYTES", "shape": [1], "data": ["a"]}],)"
      R"("outputs": [{"name": "label"}]})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"model_name":"m","id":"7","outputs":[)"
                        R"({"name":"label","datatype":"BYTES","shape":[1],"data":["positive"]}]})");
  EXPECT_EQ(reply.headers.at("x-compute-tokens"), "2");
  const std::string object =
      R"({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1, 1],)"
      R"("parameters": {"binary_data_size": 5}}], "parameters": {"binary_data_output": true}})";
  const auto binary =
      client.post("/v2/models/m/infer", object + std::string{"\1\0\0\0a", 5},
                  "inference-header-content-length: " + std::to_string(object.size()) + "\r\n");
  EXPECT_EQ(binary.status, 200);
  EXPECT_EQ(binary.headers.at("Content-Type"), "application/octet-stream");
  const auto size = std::stoul(binary.headers.at("Inference-Header-Content-Length"));
  ASSERT_EQ(binary.body.size(), size + 12 + 4 + 12);
  EXPECT_EQ(binary.body.substr(size, 12), std::string("\10\0\0\0positive", 12));
}

TEST(Server, RefusesByTheOpenInferenceProtocol) {
  RunningServer running{{}, {.max_texts = 2, .model_name = "m"}};
  HttpClient client{running.port()};
  const auto texts = [](const std::string& count, const std::string& data) {
    return R"({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [)" + count +
           R"(], "data": [)" + data + "]}]}";
  };
  const std::string infer = "/v2/models/m/infer";
  struct Case {
    std::string path, body;
    int status;
  };
  for (const auto& [path, body, status] :
       std::vector<Case>{{infer, "{}", 400},
                         {infer, "", 400},
                         {infer, R"({"inputs": "a"})", 400},
                         {infer, texts("1", R"("untokenizable")"), 400},
                         {"/v2/models/other/infer", texts("1", R"("a")"), 404},
                         {"/v2/models/m/versions/1/infer", texts("1", R"("a")"), 404},
                         {"/v2/x", "", 404},
                         {"/v2/models/m", "{}", 405},
                         {infer, texts("3", R"("a", "b", "c")"), 413},
                         {infer, texts("1", R"("fail")"), 500},
                         {infer, texts("1", R"("nan")"), 500}}) {
    const auto reply = client.post(path, body);
    EXPECT_EQ(reply.status, status) << body << reply.body;
    const auto document = json::Document::parse(reply.body, "reply");
    ASSERT_EQ(document.root().members().size(), 1u) << reply.body;
    EXPECT_FALSE(document.root().at("error").string().empty());
  }
  EXPECT_EQ(client.get(infer).headers.at("Allow"), "POST, OPTIONS");
  EXPECT_EQ(client.get("/v2/models/other").status, 404);
  EXPECT_EQ(client.get("/v2/models/other/ready").status, 404);
  EXPECT_EQ(client.post(infer, texts("0", "")).status, 200);
}

/// A server of a fake model with the adapters `one`, `two` and, after a reload, `three`.
struct AdapterServer {
  explicit AdapterServer(bool own_head = true)
      : has_head{own_head},
        server{{.host = "127.0.0.1", .port = 0},
               {.model_name = "base"},
               [this] { return load(); },
               log::Log{{.format = log::LogFormat::json, .out = &text}}} {
    thread = std::jthread{[this](const std::stop_token& stop) { server.run(stop); }};
    while (HttpClient{server.port()}.get("/health").status != 200) std::this_thread::yield();
  }

  Served<ServedModel> load() {
    const auto before = [this](std::size_t count) {
      batches.push_back(count);
      door.pass();
    };
    auto all = tests::served({.columns = 4, .before_predict = before});
    all.has_head = has_head;
    std::int32_t last = 0;
    for (const char* name : {"one", "two", "three"}) {
      if (last == 2 && loads == 0) break;
      all.adapters.push_back({ServedModel{{.labels = {"no", "yes"},
                                           .adapter = ++last,
                                           .columns = 4,
                                           .before_predict = before}},
                              {.id = "there", .name = name}});
    }
    ++loads;
    return all;
  }

  bool has_head;
  std::ostringstream text;
  std::vector<std::size_t> batches;
  Door door;
  std::atomic<int> loads = 0;
  Server<ServedModel> server;
  std::jthread thread;
};

/// Returns the label and the score of the fake adapter with that number for the text `a`.
std::string adapter_answer(int adapter_number) {
  const ServedModel adapter{{.labels = {"no", "yes"}, .adapter = adapter_number}};
  const std::vector encoded{adapter.encode("a", {}, 100)};
  const auto logits = adapter.predict(encoded);
  const auto scores = predict::scores({logits.data(), 2}, adapter.task());
  return json::Writer{}
      .begin_array()
      .begin_object()
      .member("score", scores[1])
      .member("label", "yes")
      .end_object()
      .begin_object()
      .member("score", scores[0])
      .member("label", "no")
      .end_object()
      .end_array()
      .text();
}

TEST(Server, AnswersByTheAdapterThatARequestNames) {
  AdapterServer running;
  HttpClient client{running.server.port()};
  const std::string one = adapter_answer(1), two = adapter_answer(2);
  ASSERT_NE(one, two);
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a", "model": "one"})").body, one);
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a", "model": "two"})").body, two);
  EXPECT_EQ(client.post("/predictions/two", R"({"inputs": "a"})").body, two);
  EXPECT_EQ(client.post("/predictions/two/", R"({"inputs": "a", "model": "one"})").body, two);
  EXPECT_EQ(
      client.post("/predict", R"({"instances": [{"inputs": "a"}], "parameters": {"model": "one"}})")
          .body,
      R"({"predictions":[)" + one + "]}");
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a"})").body, ranked("a"));
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a", "model": "base"})").body, ranked("a"));
  const std::string texts =
      R"({"inputs": [{"name": "x", "datatype": "BYTES", "shape": [1], "data": ["a"]}]})";
  const auto infer = client.post("/v2/models/two/infer", texts);
  EXPECT_EQ(infer.status, 200) << infer.body;
  EXPECT_TRUE(infer.body.starts_with(R"({"model_name":"two",)")) << infer.body;
  EXPECT_NE(infer.body.find(R"("data":["yes"])"), std::string::npos) << infer.body;
  EXPECT_NE(infer.body.find(R"("shape":[1,2])"), std::string::npos) << infer.body;
  EXPECT_NE(client.get("/v2/models/two").body.find(R"("shape":[-1,2])"), std::string::npos);
  EXPECT_NE(client.get("/v2/models/base").body.find(R"("shape":[-1,3])"), std::string::npos);
  EXPECT_EQ(client.get("/v2/models/one/ready").body, R"({"ready":true})");
  EXPECT_NE(client.get("/info").body.find(R"("adapters":["one","two"])"), std::string::npos);
  const std::string counts = client.get("/metrics").body;
  EXPECT_NE(counts.find("\nseqtrain_adapter_requests{adapter=\"one\"} 2\n"), std::string::npos);
  EXPECT_NE(counts.find("\nseqtrain_adapter_requests{adapter=\"two\"} 4\n"), std::string::npos);
  for (const auto& [path, body] : std::vector<std::pair<std::string, std::string>>{
           {"/predict", R"({"inputs": "a", "model": "three"})"},
           {"/predict", R"({"instances": ["a"], "parameters": {"model": ""}})"},
           {"/predictions/three", R"(["a"])"},
           {"/v2/models/three/infer", texts}}) {
    const auto refused = client.post(path, body);
    EXPECT_EQ(refused.status, 404) << path;
    EXPECT_NE(
        refused.body.find("unknown model; this server has 'base' and the adapters that /info"),
        std::string::npos)
        << refused.body;
  }
  EXPECT_EQ(
      client.post("/predict", R"({"instances": ["a"], "model": "two"})").body,
      client.post("/predict", R"({"instances": ["a"], "parameters": {"model": "two"}})").body);
  EXPECT_EQ(client.post("/predict", R"({"instances": [{"inputs": "a", "model": "two"}]})").status,
            422);
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a", "model": 1})").status, 422);
}

TEST(Server, AnswersTextsOfSeveralAdaptersInOneBatch) {
  AdapterServer running;
  running.batches.clear();
  running.door.close();
  std::vector<std::thread> clients;
  std::vector<std::string> bodies(6);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    clients.emplace_back([&, i] {
      const std::string name = i % 3 == 0 ? "base" : i % 3 == 1 ? "one" : "two";
      bodies[i] = HttpClient{running.server.port()}
                      .post("/predict", R"({"inputs": "a", "model": ")" + name + "\"}")
                      .body;
    });
    if (i == 0) running.door.await(3);  // two batches have warmed the model
  }
  while (running.server.metrics().queue_size < 5) std::this_thread::yield();
  running.door.open();
  for (auto& client : clients) client.join();
  EXPECT_EQ(running.batches, (std::vector<std::size_t>{1, 5}));
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    EXPECT_EQ(bodies[i], i % 3 == 0 ? ranked("a") : adapter_answer(static_cast<int>(i % 3)));
  }
}

TEST(Server, ABaseWithoutAHeadAnswersByItsAdaptersOnly) {
  AdapterServer running{false};
  HttpClient client{running.server.port()};
  EXPECT_EQ(client.get("/v2/health/ready").body, R"({"ready":true})");
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a", "model": "one"})").body, adapter_answer(1));
  for (const char* body : {R"({"inputs": "a"})", R"({"inputs": "a", "model": "base"})"}) {
    const auto refused = client.post("/predict", body);
    EXPECT_EQ(refused.status, 404);
    EXPECT_NE(refused.body.find("name one of the adapters"), std::string::npos) << refused.body;
  }
  EXPECT_EQ(client.get("/v2/models/base").status, 404);
  EXPECT_EQ(client.get("/v2/models/base/ready").body, R"({"ready":true})");
  EXPECT_NE(client.get("/info").body.find(R"({"classifier":{"id2label":{},)"), std::string::npos);
  running.thread = {};
  EXPECT_NE(running.text.str().find(R"("status":200,"adapter":"one")"), std::string::npos);
}

TEST(Server, AReloadAddsAnAdapter) {
  AdapterServer running;
  HttpClient client{running.server.port()};
  const std::string three = R"({"inputs": "a", "model": "three"})";
  EXPECT_EQ(client.post("/predict", three).status, 404);
  running.server.reload();
  while (client.post("/predict", three).status == 404) std::this_thread::yield();
  EXPECT_EQ(client.post("/predict", three).body, adapter_answer(3));
}

TEST(Server, RanksTextsAsTextEmbeddingsInferenceDoes) {
  RunningServer running{{.labels = {"LABEL_0"}, .type = ProblemType::regression},
                        {.max_client_batch_size = 2}};
  HttpClient client{running.port()};
  const std::string query = R"({"query": "q", "texts": ["a", "c"])";
  const auto reply = client.post("/rerank", query + R"(, "return_text": true})");
  const auto ranks = json::Document::parse(reply.body, "reply");
  ASSERT_EQ(ranks.root().items().size(), 2u) << reply.body;
  EXPECT_EQ(ranks.root().items()[0].at("index").integer(), 1);
  EXPECT_EQ(ranks.root().items()[0].at("text").string(), "c");
  const double score = ranks.root().items()[0].at("score").number();
  const auto raw =
      json::Document::parse(client.post("/rerank", query + R"(, "raw_scores": true})").body, "raw");
  EXPECT_NEAR(score, 1 / (1 + std::exp(-raw.root().items()[0].at("score").number())), 1e-6);
  EXPECT_FALSE(raw.root().items()[0].find("text"));
  const auto pair = client.post("/predict", R"({"inputs": ["q", "c"]})");
  const auto predicted = json::Document::parse(pair.body, "pair");
  EXPECT_EQ(predicted.root().items()[0].at("score").number(), score);
}

TEST(Server, RefusesToRankAsTextEmbeddingsInferenceDoes) {
  RunningServer running{{.labels = {"LABEL_0"}, .type = ProblemType::regression},
                        {.max_client_batch_size = 2}};
  HttpClient client{running.port()};
  for (const auto& [body, status] : std::vector<std::pair<std::string, int>>{
           {R"({"query": "", "texts": ["a"]})", 400},
           {R"({"query": "q", "texts": []})", 400},
           {R"({"query": "q", "texts": ["a", "b", "c"]})", 413},
           {R"({"query": "q", "texts": "a"})", 422},
           {R"({"query": "q", "texts": [1]})", 422},
           {R"({"texts": ["a"]})", 422},
           {"[]", 422},
           {R"({"query": ")" + std::string(40, 'a') + R"(", "texts": ["a"]})", 413}}) {
    EXPECT_EQ(client.post("/rerank", body).status, status) << body;
  }
  RunningServer classifier;
  for (const auto* const body : {R"({"query": "q", "texts": ["a"]})", "[]"}) {
    const auto refused = HttpClient{classifier.port()}.post("/rerank", body);
    EXPECT_EQ(refused.status, 424);
    EXPECT_NE(refused.body.find("not a re-ranker"), std::string::npos);
  }
}

TEST(Server, MethodsAndPathsThatAreNot) {
  RunningServer running;
  HttpClient client{running.port()};
  EXPECT_EQ(client.get("/elsewhere").status, 404);
  const auto wrong = client.get("/predict");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("Allow"), "POST, OPTIONS");
  client.send("OPTIONS /predict HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read().headers.at("Allow"), "POST, OPTIONS");
  client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.read(true).status, 200);
  EXPECT_EQ(client.get("/").headers.at("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(client.post("/", "").status, 400);
}

TEST(Server, IsUnhealthyUntilTheModelIsWarm) {
  Door door;
  door.close();
  RunningServer running{{.before_predict = [&](std::size_t) { door.pass(); }}, {}, false};
  HttpClient client{running.port()};
  door.await(1);
  EXPECT_EQ(client.get("/health").status, 503);
  EXPECT_EQ(client.get("/ping").body, R"({"status":"Unhealthy"})");
  EXPECT_EQ(client.get("/info").status, 503);
  EXPECT_EQ(client.get("/v2/health/live").status, 200);
  EXPECT_EQ(client.get("/v2/health/ready").status, 503);
  EXPECT_EQ(client.get("/v2/models/model/ready").status, 503);
  EXPECT_EQ(client.get("/v2/models/model").body, R"({"error":"the model is not ready"})");
  EXPECT_EQ(client.post("/v2/models/model/infer", "{}").status, 503);
  const auto refused = client.post("/predict", R"({"inputs": "a"})");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  door.open();
  while (client.get("/health").status != 200) std::this_thread::yield();
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a"})").status, 200);
}

TEST(Server, RefusesRequestsBeyondItsPlaces) {
  Door door;
  RunningServer running{{.before_predict = [&](std::size_t) { door.pass(); }},
                        {.max_concurrent_requests = 2, .max_texts = 5}};
  door.close();
  std::list<HttpClient> clients;
  const std::string body = R"({"inputs": [["a"], ["b"]]})";
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back(running.port())
        .send("POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  HttpClient client{running.port()};
  while (running.server.metrics().requests.count("batch") < 2) std::this_thread::yield();
  const auto refused = client.post("/predict", body);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body, R"({"error":"Model is overloaded","error_type":"Overloaded"})");
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
  EXPECT_EQ(client.get("/health").status, 200);
  clients.back().close();  // frees its place
  while (client.post("/predict", R"(["1", "2", "3", "4"])").status != 429)
    std::this_thread::yield();
  std::jthread opener{[&] {
    while (running.server.metrics().requests.count("batch") < 3) std::this_thread::yield();
    door.open();
  }};
  tests::Reply last;
  do {
    last = client.post("/predict", body);
  } while (last.status == 429);
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(clients.front().read().status, 200);
}

TEST(Server, AnswersAreTheSameUnderLoad) {
  RunningServer running{{}, {.max_batch_tokens = 100}};
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      HttpClient client{running.port()};
      for (int i = 0; i < 100; ++i) {
        const std::string text =
            std::to_string(t) + " and " + std::string(static_cast<std::size_t>(i) % 20, 'x');
        const auto reply = client.post("/predict", "{\"inputs\": [[\"" + text + "\"], [\"b\"]]}");
        wrong += reply.body != "[" + ranked(text) + "," + ranked("b") + "]";
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Server, AReloadLosesNoRequest) {
  RunningServer running;
  const std::string before = ranked("text", 0);
  const std::string after = ranked("text", 1);
  ASSERT_NE(before, after);
  std::atomic<bool> ended = false;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      HttpClient client{running.port()};
      while (!ended) {
        const auto body = client.post("/predict", R"({"inputs": "text"})").body;
        wrong += body != before && body != after;
      }
    });
  }
  HttpClient client{running.port()};
  EXPECT_EQ(client.post("/predict", R"({"inputs": "text"})").body, before);
  running.shift = 1;
  running.server.reload();
  while (client.post("/predict", R"({"inputs": "text"})").body != after) std::this_thread::yield();
  ended = true;
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Server, AStopAnswersWhatWasAccepted) {
  Door door;
  RunningServer running{{.before_predict = [&](std::size_t) { door.pass(); }},
                        {.max_batch_tokens = 1}};
  door.close();
  const int before = static_cast<int>(running.server.metrics().requests.count("single"));
  std::list<HttpClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.emplace_back(running.port())
        .send("POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"inputs\": \"a\"}");
  }
  HttpClient half{running.port()};
  half.send("POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{\"inputs\"");
  while (running.server.metrics().requests.count("single") < 5u + static_cast<unsigned>(before)) {
    std::this_thread::yield();
  }
  running.thread.request_stop();
  while (true) {  // waits until the listener is closed
    try {
      HttpClient late{running.port()};
      if (late.get("/health").status == 0) break;
    } catch (const std::system_error&) {
      break;
    }
  }
  half.send(": \"a\"}");
  door.open();
  EXPECT_EQ(half.read().body, ranked("a"));
  for (auto& client : clients) {
    const auto reply = client.read();
    EXPECT_EQ(reply.body, ranked("a"));
    EXPECT_EQ(reply.headers.at("Connection"), "close");
  }
  clients.clear();
  half.close();
  running.thread.join();
}

TEST(Server, SaysThatTwoTextsAreOnePair) {
  RunningServer running;
  HttpClient client{running.port()};
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a"})").headers.at("x-compute-pairs"), "0");
  const auto pair = client.post("/predict", R"({"inputs": ["a", "b"]})");
  EXPECT_EQ(pair.headers.at("x-compute-pairs"), "1");
  const auto batch = client.post("/predict", R"({"inputs": [["a"], ["b"]]})");
  EXPECT_EQ(batch.headers.at("x-compute-pairs"), "0");
  running.stop();
  EXPECT_NE(running.text.str().find("ms, 1 pair of texts"), std::string::npos);
}

TEST(Server, ReadsCompressedBodiesAndForms) {
  RunningServer running{{}, {.max_body = 1000}};
  HttpClient client{running.port()};
  const std::string body = R"({"inputs": "a text"})";
  EXPECT_EQ(client.post("/predict", tests::gzipped(body), "Content-Encoding: gzip\r\n").body,
            ranked("a text"));
  EXPECT_EQ(
      client.post("/predict", tests::zstd_compressed(body), "Content-Encoding: zstd\r\n").body,
      ranked("a text"));
  const std::string bomb = tests::gzipped(std::string(100'000, ' ') + body);
  EXPECT_EQ(client.post("/predict", bomb, "Content-Encoding: gzip\r\n").status, 413);
  const auto other = client.post("/predict", body, "Content-Encoding: br\r\n");
  EXPECT_EQ(other.status, 415);
  EXPECT_EQ(other.headers.at("Accept-Encoding"), "gzip, zstd");
  const auto plain = client.post("/predictions/m", "a text");
  const std::string form = "Content-Type: application/x-www-form-urlencoded\r\n";
  EXPECT_EQ(client.post("/predictions/m", "data=a+text", form).body, plain.body);
  EXPECT_EQ(client.post("/predictions/m", "a text", form).body, plain.body);
  EXPECT_EQ(client
                .post("/predictions/m",
                      "--x\r\nContent-Disposition: form-data; name=\"data\"; filename=\"f\"\r\n"
                      "Content-Type: text/plain\r\n\r\na text\r\n--x--\r\n",
                      "Content-Type: multipart/form-data; boundary=x\r\n")
                .body,
            plain.body);
  EXPECT_EQ(client.post("/predictions/m", "\"a text\"", "Content-Type: application/json\r\n").body,
            plain.body);
  EXPECT_EQ(
      client.post("/predictions/m", "a", "Content-Type: text/plain; charset=latin1\r\n").status,
      415);
}

TEST(Server, AnswersVersion1OfKServesProtocol) {
  RunningServer running;
  HttpClient client{running.port()};
  EXPECT_EQ(client.get("/v1/models").body, R"({"models":["model"]})");
  EXPECT_EQ(client.get("/v1/models/model").body, R"({"name":"model","ready":true})");
  const std::string body = R"({"instances": ["a text"]})";
  EXPECT_EQ(client.post("/v1/models/model:predict", body).body, client.post("/predict", body).body);
  EXPECT_EQ(client.get("/v1/models/model:predict").status, 405);
}

TEST(Server, AnswersOnlyWhomItIsToldTo) {
  RunningServer running{{}, {.access = {.origins = {"http://page"}, .api_key = "k"}}};
  HttpClient client{running.port()};
  const std::string body = R"({"inputs": "a text"})", key = "Authorization: Bearer k\r\n";
  const auto without = client.post("/predict", body);
  EXPECT_EQ(without.status, 401);
  EXPECT_EQ(without.headers.at("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(client.get("/info").status, 401);
  EXPECT_EQ(client.get("/metrics").status, 200);
  const auto mine = client.post("/predict", body, key + "Origin: http://page\r\n");
  EXPECT_EQ(mine.body, ranked("a text"));
  EXPECT_EQ(mine.headers.at("Access-Control-Allow-Origin"), "http://page");
  const auto refused = client.post("/predict", "{", key + "Origin: http://page\r\n");
  EXPECT_EQ(refused.headers.at("Access-Control-Allow-Origin"), "http://page");
  EXPECT_EQ(client.post("/predict", body, key + "Origin: http://other\r\n").status, 403);
  client.send(
      "OPTIONS /predict HTTP/1.1\r\nHost: x\r\nOrigin: http://page\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n");
  const auto preflight = client.read();
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.headers.at("Access-Control-Allow-Origin"), "http://page");
}

TEST(Server, EndsIfThereIsNoModel) {
  Server<ServedModel> server{{.host = "127.0.0.1", .port = 0},
                             {},
                             []() -> Served<ServedModel> { throw InputError{"no model here"}; },
                             log::log_on_stderr()};
  EXPECT_THROW(server.run({}), InputError);
}

TEST(Server, LogsRequestsByTheirIdsAndNoText) {
  RunningServer running;
  HttpClient client{running.port()};
  const auto own = client.post("/predict", R"({"inputs": "SECRET"})", "X-Request-Id: mine-1\r\n");
  EXPECT_EQ(own.headers.at("X-Request-Id"), "mine-1");
  const auto given = client.post("/predict", R"({"inputs": ["SECRET", 1]})");
  const std::string id = given.headers.at("X-Request-Id");
  EXPECT_EQ(id.size(), 16u);
  running.stop();
  const std::string log = running.text.str();
  EXPECT_NE(log.find("\"request_id\":\"mine-1\""), std::string::npos) << log;
  EXPECT_NE(log.find("\"request_id\":\"" + id + "\""), std::string::npos) << log;
  EXPECT_EQ(log.find("SECRET"), std::string::npos) << log;
  std::istringstream lines{log};
  for (std::string line; std::getline(lines, line);) {
    EXPECT_NO_THROW(static_cast<void>(json::Document::parse(line, "log"))) << line;
  }
}

}  // namespace
}  // namespace seqtrain::serve
