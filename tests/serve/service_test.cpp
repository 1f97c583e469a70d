#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/serve/server.hpp>
#include <seqtrain/serve/service.hpp>

#include "support/compressed.hpp"
#include "support/http_client.hpp"
#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

using tests::Door;
using tests::HttpClient;
using tests::ServedModel;

/// A server with one thread for all connections. Its model stops at a door before it reads a text
/// of more than 1,000 bytes.
struct HeldServer {
  explicit HeldServer(ServiceOptions options = {}, ServedModel::Options model = {})
      : server{{.host = "127.0.0.1", .port = 0, .threads = 1},
               std::move(options),
               [this, model]() mutable {
                 model.before_encode = [this](std::string_view text) {
                   if (text.size() > 1000) door.pass();
                 };
                 return tests::served(model);
               },
               log::Log{{.format = log::LogFormat::json, .out = &lines}}} {
    thread = std::jthread{[this](const std::stop_token& stop) { server.run(stop); }};
    while (client().get("/health").status != 200) std::this_thread::yield();
  }
  ~HeldServer() { door.open(); }

  HttpClient client() const { return HttpClient{server.port()}; }

  /// Returns whether the server still takes requests.
  bool accepts() const {
    try {
      return client().get("/health").status != 0;
    } catch (const std::system_error&) {
      return false;
    }
  }

  /// Returns a client that has sent a request and reads no answer.
  HttpClient asking(const std::string& path, const std::string& body) const {
    HttpClient asks = client();
    asks.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
    return asks;
  }

  std::ostringstream lines;
  Door door;
  Server<ServedModel> server;
  std::jthread thread;
};

std::string inputs(const std::string& text, const std::string& more = "") {
  return R"({"inputs": ")" + text + "\"" + more + "}";
}

const std::string long_text(100'000, 'a');
const std::string truncate = R"(, "truncate": true)";

TEST(Service, LongRequestsLeaveTheThreadToOthers) {
  HeldServer held;
  held.door.close();
  HttpClient tokenizes = held.asking("/tokenize", inputs(long_text));
  held.door.await(1);
  HttpClient predicts = held.asking("/predict", inputs(long_text, truncate));
  EXPECT_EQ(held.client().post("/predict", inputs("a")).status, 200);
  EXPECT_EQ(held.client().post("/tokenize", inputs("a")).status, 200);
  held.door.open();
  EXPECT_EQ(tokenizes.read().status, 200);
  const auto predicted = predicts.read();
  EXPECT_EQ(predicted.status, 200);
  EXPECT_EQ(predicted.body, held.client().post("/predict", inputs(long_text.substr(0, 31))).body);
}

TEST(Service, AllWorkNeedsAPlace) {
  HeldServer held{{.max_concurrent_requests = 1}};
  held.door.close();
  for (const char* path : {"/tokenize", "/predict"}) {
    const int before = held.door.arrived();
    HttpClient works = held.asking(path, inputs(long_text, truncate));
    held.door.await(before + 1);
    EXPECT_EQ(held.client().post("/tokenize", inputs("a")).status, 429);
    EXPECT_EQ(held.client().post("/predict", inputs("a")).status, 429);
    EXPECT_EQ(held.client().get("/health").status, 200);
    EXPECT_EQ(held.client().get("/info").status, 200);
    held.door.open();
    EXPECT_EQ(works.read().status, 200);
    held.door.close();
    while (held.client().post("/predict", inputs("a")).status == 429) std::this_thread::yield();
  }
}

TEST(Service, AWorkerDecodesCompressedBodies) {
  HeldServer held;
  held.door.close();
  HttpClient works = held.client();
  const std::string body = tests::gzipped(inputs(long_text, truncate));
  works.send("POST /predict HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + body);
  held.door.await(1);
  EXPECT_EQ(held.client().post("/predict", inputs("a")).status, 200);
  held.door.open();
  EXPECT_EQ(works.read().status, 200);
}

TEST(Service, DecodesNoBodyWithoutAPlace) {
  HeldServer held{{.max_concurrent_requests = 1}};
  const std::string gzip = "Content-Encoding: gzip\r\n";
  EXPECT_EQ(held.client().post("/predict", "damaged", gzip).status, 400);
  held.door.close();
  HttpClient works = held.asking("/predict", inputs(long_text, truncate));
  held.door.await(1);
  EXPECT_EQ(held.client().post("/predict", "damaged", gzip).status, 429);
  held.door.open();
  EXPECT_EQ(works.read().status, 200);
}

TEST(Service, ALongAnswerKeepsItsPlaceUntilItIsRead) {
  HeldServer held{{.max_concurrent_requests = 1}};
  std::optional<HttpClient> lazy{held.asking("/tokenize", inputs(long_text))};
  EXPECT_FALSE(lazy->is_closed());  // The answer has begun.
  EXPECT_EQ(held.client().post("/predict", inputs("a")).status, 429);
  EXPECT_EQ(held.client().post("/tokenize", inputs("a")).status, 429);
  lazy.reset();
  while (held.client().post("/predict", inputs("a")).status != 200) std::this_thread::yield();
  HttpClient reads = held.asking("/tokenize", inputs(long_text));
  EXPECT_GT(reads.read().body.size(), 5'000'000u);
  while (held.client().post("/predict", inputs("a")).status != 200) std::this_thread::yield();
}

TEST(Service, AClientThatHangsUpDuringLongWorkFreesItsPlace) {
  HeldServer held{{.max_concurrent_requests = 1}};
  held.door.close();
  std::string pieces = R"({"inputs": [["a"])";
  for (int i = 0; i < 20; ++i) pieces += R"(, [")" + std::string(2000, 'a') + "\"]";
  {
    const HttpClient leaves = held.asking("/predict", pieces + R"(], "truncate": true})");
    held.door.await(1);
  }
  while (held.server.metrics().connections > 0) std::this_thread::yield();
  EXPECT_EQ(held.client().post("/predict", inputs("a")).status, 429);
  held.door.open();
  while (held.client().post("/predict", inputs("a")).status != 200) std::this_thread::yield();
  EXPECT_EQ(held.door.arrived(), 1);  // The worker encoded no text after the client had left.
  EXPECT_EQ(held.server.metrics().successes.count("batch"), 0u);
}

TEST(Service, AStopWaitsForLongRequests) {
  HeldServer held;
  held.door.close();
  HttpClient works = held.asking("/predict", inputs(long_text, truncate));
  held.door.await(1);
  held.thread.request_stop();
  while (held.accepts()) std::this_thread::yield();
  held.door.open();
  const auto reply = works.read();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("Connection"), "close");
  works.close();
  held.thread.join();
}

TEST(Service, RefusesWrongLongRequestsAsShortOnes) {
  HeldServer held;
  HttpClient client = held.client();
  const auto tokens = client.post("/predict", inputs(long_text));
  EXPECT_EQ(tokens.status, 413);
  EXPECT_EQ(tokens.body, R"({"error":"`inputs` must have less than 33 tokens. Given: 100001; )"
                         R"(\"truncate\": true cuts longer texts","error_type":"Validation"})");
  EXPECT_EQ(client.post("/predict", long_text).status, 400);
  EXPECT_EQ(client.post("/tokenize", inputs(long_text) + "}").status, 400);
  EXPECT_EQ(client.post("/v2/models/model/infer", long_text).status, 400);
}

TEST(Service, ATextHasAtMostSoManyWindows) {
  HeldServer held{{.max_windows = 3}, {.window = 4}};
  HttpClient client = held.client();
  const auto refused = client.post("/predict", inputs("abcdefghij"));
  EXPECT_EQ(refused.status, 413);
  EXPECT_NE(refused.body.find("a larger --max-windows"), std::string::npos) << refused.body;
  const auto cut = client.post("/predict", inputs("abcdefghij", truncate));
  EXPECT_EQ(cut.body, client.post("/predict", inputs("abcdefghi")).body);
  EXPECT_EQ(cut.headers.at("x-compute-tokens"), "10");
  EXPECT_NE(client.get("/info").body.find(R"("max_input_length":10,)"), std::string::npos);
}

TEST(Service, WindowsCountAsTexts) {
  HeldServer held{{.max_texts = 5}, {.window = 4}};
  HttpClient client = held.client();
  EXPECT_EQ(client.post("/predict", inputs(std::string(15, 'a'))).status, 200);
  const auto refused = client.post("/predict", inputs(std::string(16, 'a')));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.body, R"({"error":"the texts have 6 windows, more than the 5 that are handled )"
                          R"(at once","error_type":"Validation"})");
}

TEST(Service, ClassifiesByCandidateLabels) {
  HeldServer held{{}, {.labels = {"contradiction", "neutral", "entailment"}, .max_length = 64}};
  HttpClient client = held.client();
  const std::string labels = R"(, "parameters": {"candidate_labels": ["art", "sport"]})";
  const auto answered = client.post("/predict", inputs("abc", labels));
  EXPECT_EQ(answered.status, 200);
  EXPECT_TRUE(answered.body.starts_with(R"({"sequence":"abc","labels":[")")) << answered.body;
  EXPECT_EQ(answered.headers.at("x-compute-pairs"), "2");
  EXPECT_EQ(client.post("/", inputs("abc", labels)).body, answered.body);
  HeldServer other;
  const auto refused = other.client().post("/predict", inputs("abc", labels));
  EXPECT_EQ(refused.status, 424);
  EXPECT_NE(refused.body.find("its labels are negative, neutral and positive"), std::string::npos)
      << refused.body;
}

TEST(Service, EmbedsTexts) {
  HeldServer held{{}, {.pooling = "mean"}};
  HttpClient client = held.client();
  const auto two = client.post("/embed", R"({"inputs": ["a", "b"], "normalize": false})");
  EXPECT_EQ(two.status, 200);
  EXPECT_TRUE(two.body.starts_with("[[-1,")) << two.body;
  const auto one = client.post("/embed", R"({"inputs": "a", "normalize": false})");
  EXPECT_EQ(two.body.substr(0, one.body.size() - 1), one.body.substr(0, one.body.size() - 1));
  const auto openai = client.post("/v1/embeddings", R"({"input": ["a", "bcd"], "model": "m"})");
  EXPECT_EQ(openai.status, 200);
  EXPECT_NE(openai.body.find(R"("usage":{"prompt_tokens":6,"total_tokens":6}})"), std::string::npos)
      << openai.body;
  const auto similar = client.post(
      "/similarity", R"({"inputs": {"source_sentence": "a", "sentences": ["a", "b"]}})");
  EXPECT_TRUE(similar.body.starts_with("[1,") || similar.body.starts_with("[0.99999"))
      << similar.body;
  EXPECT_NE(client.get("/info").body.find(R"("embedding":{"pooling":"mean"})"), std::string::npos);
  for (const char* path : {"/predict", "/", "/predictions/model"}) {
    const auto refused = client.post(path, inputs("a"));
    EXPECT_EQ(refused.status, 424) << path;
    EXPECT_NE(refused.body.find("ask /embed"), std::string::npos) << refused.body;
  }
}

TEST(Service, AClassifierEmbedsNothing) {
  HeldServer held;
  HttpClient client = held.client();
  const auto refused = client.post("/embed", inputs("a"));
  EXPECT_EQ(refused.status, 424);
  EXPECT_NE(refused.body.find("start the server with --embed"), std::string::npos);
  EXPECT_EQ(client.post("/v1/embeddings", R"({"input": "a"})").status, 424);
}

TEST(Service, AnswersOfManyTextsAreInOrder) {
  HeldServer held{{.max_client_batch_size = 10'000}};
  HttpClient client = held.client();
  const auto answer = [&](int begin, int end) {
    std::string body = R"({"inputs": [)";
    for (int i = begin; i < end; ++i) {
      body += (i == begin ? "[\"" : ",[\"") + std::to_string(i) + "\"]";
    }
    return client.post("/predict", body + "]}").body;
  };
  std::string parts;
  for (int i = 0; i < 2000; i += 100) {
    const auto part = answer(i, i + 100);
    parts += (i == 0 ? "" : ",") + part.substr(1, part.size() - 2);
  }
  EXPECT_EQ(answer(0, 2000), "[" + parts + "]");
}

}  // namespace
}  // namespace seqtrain::serve
