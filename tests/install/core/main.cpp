#include <seqtrain/core/json.hpp>

int main() {
  const auto document = seqtrain::json::Document::parse(R"({"labels": 3})", "here");
  return document.root().at("labels").integer() == 3 ? 0 : 1;
}
