#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/serve/contracts.hpp>
#include <seqtrain/serve/contracts/open_inference.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/contracts/torch_serve.hpp>
#include <seqtrain/serve/decode_body.hpp>
#include <seqtrain/serve/forms.hpp>
#include <seqtrain/serve/http_reader.hpp>
#include <seqtrain/serve/read_request.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/routes.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

#include "fuzz.hpp"

namespace seqtrain::fuzz {

/// Returns a prediction for each of a request's texts, which must be at most 100 and in UTF-8.
std::vector<predict::Prediction> predictions_of(const serve::PredictRequest& request) {
  require(request.texts.size() <= 100);
  for (const serve::PredictInput& text : request.texts) {
    require(text::is_valid_utf8(text.text));
    require(text::is_valid_utf8(text.pair.value_or("")));
  }
  return std::vector<predict::Prediction>(
      request.texts.size(),
      predict::Prediction{.labels = {1}, .scores = {0.25, 0.75}, .logits = {-1, 1}});
}

/// The routes of all contracts.
const serve::RouteTable& table() {
  static const serve::RouteTable routes{serve::all_contracts({}), "model"};
  return routes;
}

/// A body must be refused with a sentence, or hold texts in UTF-8 whose answer is JSON.
void read_body(std::string_view body) {
  accepts([&] { static_cast<void>(serve::tei::read_tokenize(body, 100)); });
  accepts([&] {
    const serve::PredictRequest request =
        serve::read_by_form(body, table().forms().predict, {.client_batch = 32, .texts = 100});
    require(!request.single || request.texts.size() == 1);
    const auto predictions = predictions_of(request);
    const auto answer = serve::answer(request, {.labels = {"no", "yes"}}, predictions);
    static_cast<void>(json::Document::parse(answer.body, "answer"));
  });
}

/// A body of the Open Inference Protocol must be refused with a sentence, or hold texts in UTF-8
/// whose answer is JSON with binary data of the stated size.
void infer(const serve::HttpRequest& http) {
  accepts([&] {
    const predict::Task task{.labels = {"no", "yes"}};
    const auto request = serve::open_inference::read(http, "m", task, {.texts = 100});
    const auto predictions = predictions_of(request);
    const auto answer = serve::answer(request, task, predictions);
    const bool binary = !answer.headers.empty();
    const auto size = binary ? std::stoul(answer.headers[0].second) : answer.body.size();
    const auto document =
        json::Document::parse(std::string_view{answer.body}.substr(0, size), "answer");
    std::size_t data = 0;
    for (const auto& output : document.root().at("outputs").items()) {
      const auto parameters = output.find("parameters");
      if (parameters) {
        data += static_cast<std::size_t>(parameters->at("binary_data_size").integer());
      }
    }
    require(size + data == answer.body.size());
  });
}

/// A compressed body must be refused with a sentence or have at most the limit once it is decoded,
/// and a form must be refused or have a field.
void decode(std::string_view body) {
  for (const char* coding : {"gzip", "zstd", "zstd, gzip"}) {
    accepts([&] {
      serve::HttpRequest request{.content_encoding = coding, .body = std::string{body}};
      serve::decode_body(request, 4096);
      require(request.body.size() <= 4096);
    });
  }
  for (const char* type :
       {"application/x-www-form-urlencoded", "multipart/form-data; boundary=x"}) {
    accepts([&] {
      const auto field = serve::forms::field_of(type, body);
      require(!field || field->size() <= body.size());
    });
  }
  accepts([&] { serve::forms::check_charset(body); });
  accepts([&] { static_cast<void>(serve::torch_serve::read_text(body, "application/json")); });
  accepts([&] {
    const serve::TextLimits limits{.client_batch = 32, .texts = 100};
    static_cast<void>(serve::read_rerank(body, table().forms().rank, limits));
  });
}

/// Returns the requests that a reader finds if the bytes come in parts of this size. The parts may
/// decide how early wrong bytes are refused.
std::vector<std::string> requests_in(std::string_view bytes, std::size_t part_size) {
  serve::HttpReader reader{{.header = 1024, .body = 4096}};
  std::vector<std::string> read;
  std::string received;
  while (!bytes.empty()) {
    received += bytes.substr(0, part_size);
    bytes.remove_prefix(std::min(part_size, bytes.size()));
    for (;;) {
      std::size_t consumed = 0;
      const auto step = reader.read(received, consumed);
      require(consumed <= received.size());
      received.erase(0, consumed);
      if (step == serve::HttpReader::Step::refused) {
        require(reader.error().status() >= 400);
        return read;
      }
      if (step != serve::HttpReader::Step::complete) break;
      const serve::HttpRequest request = reader.take();
      require(request.body.size() <= 4096);
      const auto found = table().find(request);
      require(found.route == nullptr || found.allow.empty());
      read.push_back(request.method + " " + request.target + " " + request.id + " " + request.body);
      read_body(request.body);
      infer(request);
    }
  }
  return read;
}

void run(Input input) {
  const std::size_t part_size = 1 + input.take();
  read_body(input.text());
  decode(input.text());
  infer({.body = std::string{input.text()}});
  const auto whole = requests_in(input.text(), std::string_view::npos);
  require(requests_in(input.text(), part_size) == whole);
}

}  // namespace seqtrain::fuzz
