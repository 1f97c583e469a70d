#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts/cohere.hpp>

#include "support/contract_answers.hpp"
#include "support/problem_of.hpp"
#include "support/server_view.hpp"

namespace seqtrain::serve::cohere {
namespace {

std::string ranked(const std::string& body) {
  const std::vector<predict::Prediction> predictions{
      {{}, {0}, {0}}, {{}, {100}, {100}}, {{}, {-100}, {-100}}};
  const auto request = tests::read_rerank(body);
  return answer(request, tests::rating, std::span{predictions}.first(request.texts.size())).body;
}

TEST(CohereRerank, RanksDocuments) {
  EXPECT_EQ(ranked(R"({"model": "m", "query": "q", "documents": ["a", {"text": "b"}]})"),
            R"({"results":[{"index":1,"relevance_score":1},{"index":0,"relevance_score":0.5}]})");
  EXPECT_EQ(ranked(R"({"query": "q", "documents": ["a", "b", "c"], "top_n": 1,
                       "return_documents": true})"),
            R"({"results":[{"index":1,"relevance_score":1,"document":{"text":"b"}}]})");
  const auto request = tests::read_rerank(R"({"query": "q", "documents": ["a"], "top_n": null})");
  EXPECT_EQ(request.texts[0].text, "q");
  EXPECT_EQ(request.texts[0].pair, "a");
  EXPECT_EQ(request.texts[0].truncation, Truncation::right);
}

TEST(CohereRerank, RefusesOtherForms) {
  const auto problem = [](const char* body) {
    return tests::problem_of([&] { (void)tests::read_rerank(body); });
  };
  EXPECT_NE(problem(R"({"query": "q", "documents": []})").find("cannot be empty"),
            std::string::npos);
  EXPECT_NE(problem(R"({"query": "q", "documents": ["a"], "top_n": 0})").find("at least 1"),
            std::string::npos);
  EXPECT_NE(problem(R"({"query": "q", "documents": [1]})").find("documents[0]"), std::string::npos);
  EXPECT_NE(problem(R"({"query": "q", "documents": ["a"], "texts": ["a"]})").find("both"),
            std::string::npos);
  EXPECT_NE(problem("[]").find("expected an object"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::serve::cohere
