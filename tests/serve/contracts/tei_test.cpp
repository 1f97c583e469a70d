#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/tei.hpp>

#include "support/contract_answers.hpp"
#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::tei {
namespace {

using tests::polarity, tests::rating, tests::written;

TEST(TeiAnswer, RanksScores) {
  EXPECT_EQ(written(write_answer, polarity, {{1}, {0.25, 0.75}, {-1, 1}}),
            R"([{"score":0.75,"label":"good"},{"score":0.25,"label":"bad"}])");
  EXPECT_EQ(written(write_answer, polarity, {{1}, {0.25, 0.75}, {-1, 1.5}}, true),
            R"([{"score":1.5,"label":"good"},{"score":-1,"label":"bad"}])");
  EXPECT_EQ(written(write_answer, polarity, {{0}, {0.5, 0.5}, {0, 0}}),
            R"([{"score":0.5,"label":"bad"},{"score":0.5,"label":"good"}])");
}

TEST(TeiAnswer, OneOutputIsASigmoidAsInTextEmbeddingsInference) {
  const predict::Prediction prediction{{}, {0}, {0}};
  EXPECT_EQ(written(write_answer, rating, prediction), R"([{"score":0.5,"label":"LABEL_0"}])");
  const predict::Prediction other{{}, {2.5}, {2.5F}};
  EXPECT_EQ(written(write_answer, rating, other, true), R"([{"score":2.5,"label":"LABEL_0"}])");
  const predict::Task identity{.problem_type = ProblemType::regression,
                               .one_output = predict::OneOutput::identity};
  EXPECT_EQ(written(write_answer, identity, other), R"([{"score":2.5,"label":"LABEL_0"}])");
}

TEST(TeiRerank, RanksTexts) {
  const std::vector<predict::Prediction> predictions{{{}, {0}, {0}}, {{}, {100}, {100}}};
  const auto ranked = tests::read_rerank(R"({"query": "q", "texts": ["a", "b"]})");
  EXPECT_EQ(ranked.texts[1].text, "q");
  EXPECT_EQ(ranked.texts[1].pair, "b");
  EXPECT_EQ(answer(ranked, rating, predictions).body,
            R"([{"index":1,"score":1},{"index":0,"score":0.5}])");
  const auto told =
      tests::read_rerank(R"({"query": "q", "texts": ["a", "b"], "return_text": true})");
  EXPECT_EQ(answer(told, rating, predictions).body,
            R"([{"index":1,"text":"b","score":1},{"index":0,"text":"a","score":0.5}])");
}

TEST(TeiRerank, RefusesALongQueryForManyTexts) {
  const auto body = [](std::size_t query, std::size_t texts) {
    std::string json = R"({"query": ")" + std::string(query, 'q') + R"(", "texts": [)";
    for (std::size_t i = 0; i < texts; ++i) json += i == 0 ? R"("a")" : R"(, "a")";
    return json + "]}";
  };
  const TextLimits limits{.client_batch = 2000};
  EXPECT_EQ(tests::read_rerank(body(40'000, 1000), limits).texts.size(), 1000u);
  try {
    static_cast<void>(tests::read_rerank(body(40'000, 2000), limits));
    FAIL();
  } catch (const HttpError& refusal) {
    EXPECT_EQ(refusal.status(), 413);
    EXPECT_STREQ(refusal.what(),
                 "`query` has 40000 bytes for each of 2000 texts, in all more than 67108864; send "
                 "fewer texts in a request");
  }
}

TEST(TeiInfo, HasTheFieldsOfTextEmbeddingsInference) {
  const auto body =
      info({.id = "runs/one/model", .dtype = "bfloat16"}, {.labels = {"no", "yes"}}, 512, {});
  const auto document = json::Document::parse(body, "info");
  const auto root = document.root();
  EXPECT_EQ(root.at("model_id").string(), "runs/one/model");
  EXPECT_FALSE(root.find("model_sha"));
  EXPECT_EQ(root.at("model_dtype").string(), "bfloat16");
  const auto classifier = root.at("model_type").at("classifier");
  EXPECT_EQ(classifier.at("id2label").at("1").string(), "yes");
  EXPECT_EQ(classifier.at("label2id").at("no").integer(), 0);
  EXPECT_EQ(root.at("max_input_length").integer(), 512);
  EXPECT_EQ(root.at("max_batch_tokens").integer(), 16384);
  EXPECT_EQ(root.at("max_client_batch_size").integer(), 32);
  EXPECT_EQ(root.at("max_concurrent_requests").integer(), 512);
}

TEST(TeiInfo, CallsAModelWithOneOutputAReranker) {
  const auto body =
      info({}, {.labels = {"LABEL_0"}, .problem_type = ProblemType::regression}, 512, {});
  const auto document = json::Document::parse(body, "info");
  const auto type = document.root().at("model_type");
  EXPECT_EQ(type.at("reranker").at("id2label").at("0").string(), "LABEL_0");
  EXPECT_FALSE(type.find("classifier"));
}

TEST(TeiInfo, DoesNotCallAModelOfSeveralNumbersAReranker) {
  const auto body =
      info({}, {.labels = {"a", "b"}, .problem_type = ProblemType::regression}, 512, {});
  const auto document = json::Document::parse(body, "info");
  EXPECT_EQ(document.root().at("problem_type").string(), "regression");
  const auto type = document.root().at("model_type");
  EXPECT_EQ(type.at("classifier").at("id2label").at("1").string(), "b");
  EXPECT_FALSE(type.find("reranker"));
}

TEST(TeiInfo, GivesAModelThatEmbedsTextsNoLabels) {
  const auto body = info({}, {.pooling = "cls", .embedding_size = 3}, 512, {});
  const auto document = json::Document::parse(body, "info");
  const auto root = document.root();
  EXPECT_EQ(root.at("model_type").at("embedding").at("pooling").string(), "cls");
  EXPECT_FALSE(root.find("problem_type"));
  const std::string last = info({}, {.pooling = "lasttoken", .embedding_size = 3}, 512, {});
  EXPECT_NE(last.find(R"("embedding":{"pooling":"last_token"})"), std::string::npos) << last;
}

TEST(TeiTokenize, TakesATextOrAList) {
  const auto one = read_tokenize(R"({"inputs": "a"})", 9);
  EXPECT_EQ(one.texts, (std::vector<std::string>{"a"}));
  EXPECT_TRUE(one.special);
  const auto two = read_tokenize(R"({"inputs": ["a", "b"], "add_special_tokens": false})", 9);
  EXPECT_EQ(two.texts, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(two.special);
  for (const char* body : {R"({"inputs": 1})", R"({"inputs": [1]})",
                           R"({"inputs": "a", "add_special_tokens": 1})", R"({})", "[]", "x"}) {
    EXPECT_THROW(static_cast<void>(read_tokenize(body, 9)), HttpError) << body;
  }
  EXPECT_THROW(static_cast<void>(read_tokenize(R"({"inputs": ["a", "b"]})", 1)), HttpError);
}

TEST(TeiTokenize, NeedsATokenizerThatNamesItsIds) {
  const HttpRequest http{.method = "POST", .target = "/tokenize", .body = R"({"inputs": "a"})"};
  try {
    static_cast<void>(tests::answer_of(contract(), http, {}));
    FAIL();
  } catch (const HttpError& refusal) {
    EXPECT_EQ(refusal.status(), 424);
    EXPECT_STREQ(refusal.what(), "this model's tokenizer does not name its ids");
  }
  EXPECT_EQ(tests::answer_of(contract(), http, tests::MadeServer{{.gone = true}}).body, "[]");
}

TEST(TeiRerank, NeedsAModelWithOneOutput) {
  const HttpRequest http{.method = "POST",
                         .target = "/rerank",
                         .body = R"({"query": "q", "texts": ["a"], "model": "one"})"};
  EXPECT_EQ(tests::request_of(http, tests::MadeServer{{.task = rating}}).texts.size(), 1u);
  for (const auto& adapters : {std::vector<std::string>{}, {"one"}}) {
    EXPECT_THROW((void)tests::request_of(http, tests::MadeServer{{.adapters = adapters}}),
                 HttpError);
  }
  const predict::Task embeds{.pooling = "mean", .embedding_size = 3};
  EXPECT_EQ(tests::problem_of(
                [&] { (void)tests::request_of(http, tests::MadeServer{{.task = embeds}}); }),
            "model is not a re-ranker model: it embeds texts, so ask /similarity");
}

}  // namespace
}  // namespace seqtrain::serve::tei
