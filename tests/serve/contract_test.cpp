#include <optional>
#include <span>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/lists.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts.hpp>
#include <seqtrain/serve/server.hpp>

#include "support/http_client.hpp"
#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

using tests::HttpClient;
using tests::ServedModel;

/// A contract of one's own. Lines of text are answered by lines of labels, and its errors are text.
namespace lines {

HttpResponse error(const HttpError& refusal) {
  return {.status = refusal.status(),
          .body = std::string{"error: "} + refusal.what() + "\n",
          .content_type = "text/plain"};
}

HttpResponse write(const PredictRequest&, const predict::Task& task,
                   std::span<const predict::Prediction> predictions) {
  HttpResponse response{.content_type = "text/plain"};
  for (const auto& each : predictions) {
    response.body += predict::label_name(task.labels, each.labels.at(0)) + "\n";
  }
  return response;
}

PredictRequest read(const Call& call) {
  PredictRequest request{.write = write};
  if (call.model) request.model = *call.model;
  for (const std::string_view line : split(call.http.body, '\n')) {
    if (line.empty()) throw HttpError{400, error_type::empty, "a line is empty"};
    request.texts.push_back({.text = std::string{line}});
  }
  return request;
}

HttpResponse count(const Call& call) {
  return {.body = std::to_string(split(call.http.body, '\n').size()), .content_type = "text/plain"};
}

HttpResponse labels(const Call& call) {
  return {.body = joined(call.server.task_of({}, false).labels), .content_type = "text/plain"};
}

PredictRequest read_object(const json::Value& root, const TextLimits&) {
  return {.texts = {{.text = std::string{root.at("line").string()}}}, .write = write};
}

Contract contract() {
  const auto name = [](std::string_view rest) { return std::optional{rest}; };
  return {.routes = {{.path = "/labels", .open = true, .answer = labels},
                     {.method = "POST", .path = "/lines", .read = read},
                     {.method = "POST", .path = "/lines/", .model_in = name, .read = read},
                     {.method = "PUT", .path = "/lines", .work = count}},
          .forms = {.predict = {{.member = "line", .read = read_object}}},
          .error = error,
          .error_prefix = "/lines"};
}

}  // namespace lines

/// A server that has the own contract, and those of seqtrain unless it is `alone`.
struct OwnServer {
  explicit OwnServer(bool alone = false, const ServiceOptions& options = {})
      : server{{.host = "127.0.0.1", .port = 0},
               options,
               [] { return tests::served(); },
               log::Log{{.out = &log}},
               contracts(alone, options)} {
    thread = std::jthread{[this](const std::stop_token& stop) { server.run(stop); }};
    while (client().post("/lines", "a").status == 503) std::this_thread::yield();
  }

  static std::vector<Contract> contracts(bool alone, const ServiceOptions& options) {
    std::vector<Contract> all;
    if (!alone) all = all_contracts(options);
    all.push_back(lines::contract());
    return all;
  }

  HttpClient client() const { return HttpClient{server.port()}; }

  std::ostringstream log;
  Server<ServedModel> server;
  std::jthread thread;
};

TEST(OwnContract, AnswersBesideTheOthers) {
  OwnServer own;
  HttpClient client = own.client();
  const auto reply = client.post("/lines", "a\nb");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("Content-Type"), "text/plain");
  EXPECT_EQ(reply.body, "positive\npositive\n");
  EXPECT_EQ(reply.headers.at("x-compute-tokens"), "4");
  EXPECT_EQ(client.post("/lines/any", "a").body, "positive\n");
  EXPECT_EQ(client.get("/labels").body, "negative, neutral, positive");
  client.send("PUT /lines HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na\nb");
  EXPECT_EQ(client.read().body, "2");
  EXPECT_EQ(client.post("/predict", R"({"line": "a"})").body, "positive\n");
  EXPECT_EQ(client.post("/predict", R"({"inputs": "a"})").status, 200);
}

TEST(OwnContract, ErrorsHaveItsForm) {
  OwnServer own;
  HttpClient client = own.client();
  const auto empty = client.post("/lines", "a\n\nb");
  EXPECT_EQ(empty.status, 400);
  EXPECT_EQ(empty.body, "error: a line is empty\n");
  EXPECT_EQ(client.post("/lines", std::string(40, 'a')).status, 413);
  EXPECT_EQ(client.post("/lines", "fail").body, "error: Inference failed: the model broke\n");
  EXPECT_EQ(client.get("/linesmen").body, "error: no such path\n");
  const auto wrong = client.get("/lines");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("Allow"), "POST, PUT, OPTIONS");
  EXPECT_EQ(wrong.body, "error: this path takes POST, PUT, OPTIONS\n");
  EXPECT_EQ(client.post("/predict", R"({"line": "a", "inputs": "a"})").status, 422);
  EXPECT_NE(client.post("/predict", "{}").body.find("neither `inputs`, `instances` nor `line`"),
            std::string::npos);
}

TEST(OwnContract, MayBeTheOnlyOne) {
  OwnServer own{true, {.access = {.api_key = "k"}}};
  HttpClient client = own.client();
  const std::string key = "Authorization: Bearer k\r\n";
  while (client.post("/lines", "a", key).status == 503) std::this_thread::yield();
  EXPECT_EQ(client.post("/lines", "a", key).body, "positive\n");
  EXPECT_EQ(client.post("/lines", "a").status, 401);
  EXPECT_EQ(client.get("/labels").status, 200);
  EXPECT_EQ(client.post("/predict", "{}", key).status, 404);
}

}  // namespace
}  // namespace seqtrain::serve
