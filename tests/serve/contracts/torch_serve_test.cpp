#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/torch_serve.hpp>

#include "support/contract_answers.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::torch_serve {
namespace {

using tests::polarity, tests::topics, tests::rating, tests::ratings, tests::written;

TEST(TorchServeAnswer, WritesCategories) {
  EXPECT_EQ(written(write_answer, polarity, {{0}, {0.75, 0.25}, {1, -1}}),
            R"({"Categories":"bad","Tensor":[0.75,0.25]})");
  EXPECT_EQ(written(write_answer, topics, {{1, 2}, {0.5, 0.3, 0.95}, {0, 0, 0}}),
            R"({"Categories":"b;c","Tensor":[0.5,0.3,0.95]})");
  EXPECT_EQ(written(write_answer, rating, {{}, {2.5}, {2.5F}}),
            R"({"Categories":"2.5","Tensor":[2.5]})");
  EXPECT_EQ(written(write_answer, ratings, {{}, {2.5, -1}, {2.5F, -1}}),
            R"({"Categories":"2.5;-1","Tensor":[2.5,-1]})");
}

TEST(TorchServeText, IsTheWholeBody) {
  const auto request = read_text(" a\n{b}");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->single);
  EXPECT_EQ(request->texts.at(0).text, " a\n{b}");
  EXPECT_EQ(request->texts[0].truncation, Truncation::right);
  for (const char* json : {"[]", " {}", "\n[1"}) EXPECT_FALSE(read_text(json)) << json;
  for (const char* empty : {"", " \t\r\n"})
    EXPECT_THROW(static_cast<void>(read_text(empty)), HttpError);
}

TEST(TorchServeText, IsAJsonStringIfTheRequestSaysSo) {
  EXPECT_EQ(read_text(R"("a \"b\"")", "application/json; x=y")->texts.at(0).text, R"(a "b")");
  EXPECT_EQ(read_text(R"("a")", "text/plain")->texts.at(0).text, R"("a")");
  EXPECT_EQ(read_text(R"("a")")->texts.at(0).text, R"("a")");
  EXPECT_THROW((void)read_text("a", "application/json"), HttpError);
  EXPECT_THROW((void)read_text("1", "application/json"), HttpError);
  EXPECT_THROW((void)read_text(R"("")", "application/json"), HttpError);
}

TEST(TorchServeError, HasACodeATypeAndAMessage) {
  const auto response = error(overloaded("Model is overloaded"));
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.body, R"({"code":429,"type":"Overloaded","message":"Model is overloaded"})");
}

TEST(TorchServeRequest, TakesTheModelFromThePath) {
  const auto model = [](const std::string& path, const ServiceOptions& options = {}) {
    return tests::request_of({.method = "PUT", .target = path, .body = "a text"},
                             tests::MadeServer{{.options = options}})
        .model;
  };
  EXPECT_EQ(model("/predictions/bert"), "bert");
  EXPECT_EQ(model("/predictions/bert/1.0"), "bert");
  EXPECT_EQ(model("/predictions//1.0"), "");
  EXPECT_EQ(model("/predictions/bert", {.predict_route = "/predictions/bert"}), std::nullopt);
  EXPECT_FALSE(name_in(""));
}

TEST(TorchServeRequest, TakesTheFormsOfOtherContracts) {
  const auto text = [](const std::string& body, const std::string& type = "") {
    return tests::request_of(
               {.method = "POST", .target = "/predictions/m", .content_type = type, .body = body})
        .texts.at(0)
        .text;
  };
  const std::string form = "application/x-www-form-urlencoded";
  EXPECT_EQ(text("a text"), "a text");
  EXPECT_EQ(text("data=a+text", form), "a text");
  EXPECT_EQ(text(R"(["a text"])"), "a text");
  EXPECT_EQ(text(R"({"instances": ["a text"]})"), "a text");
  EXPECT_EQ(text("data=%7B%22inputs%22%3A%22a%22%7D", form), "a");
}

}  // namespace
}  // namespace seqtrain::serve::torch_serve
