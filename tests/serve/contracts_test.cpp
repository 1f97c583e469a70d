#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/contracts.hpp>
#include <seqtrain/serve/routes.hpp>

namespace seqtrain::serve {
namespace {

TEST(AllContracts, NoTwoOfTheirPathsAreTheSame) {
  const ServiceOptions chosen{.health_route = "/a", .predict_route = "/b"};
  std::set<std::string> seen;
  for (const Contract& contract : all_contracts(chosen)) {
    for (const Route& route : contract.routes) {
      if (route.model_in) continue;
      EXPECT_TRUE(seen.insert(std::string{route.method} + route.path).second) << route.path;
    }
  }
  EXPECT_EQ(seen.count("GET/a") + seen.count("POST/b"), 2u);
}

TEST(AllContracts, ShareTheFormsOfBodies) {
  const RouteTable table{all_contracts({}), "model"};
  const auto members = [](const std::vector<BodyForm>& forms) {
    std::vector<std::string_view> names;
    for (const BodyForm& form : forms) names.push_back(form.member);
    return names;
  };
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(members(table.forms().predict), Names({"", "inputs", "instances"}));
  EXPECT_EQ(members(table.forms().rank), Names({"texts", "documents"}));
}

}  // namespace
}  // namespace seqtrain::serve
