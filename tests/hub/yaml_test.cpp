#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/yaml.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

/// Returns a value as JSON has it.
std::string yaml_as_json(const hub::YamlNode& node) {
  using Kind = hub::YamlNode::Kind;
  std::string text;
  if (node.kind == Kind::text) return "'" + node.text + "'";
  for (const auto& item : node.items) text += (text.empty() ? "" : ",") + yaml_as_json(item);
  for (const auto& member : node.members) {
    text += (text.empty() ? "" : ",") + member.key + ":" + yaml_as_json(member);
  }
  return node.kind == Kind::list ? "[" + text + "]" : "{" + text + "}";
}

std::string yaml_of(const std::string& text) {
  return yaml_as_json(hub::read_yaml(text, "card"));
}

TEST(HubYaml, ReadsMapsAndLists) {
  EXPECT_EQ(yaml_of(""), "''");
  EXPECT_EQ(yaml_of("a: 1\nb:\n  c: x y\n  d:\n    - 1\n    - 2\n"),
            "{a:'1',b:{c:'x y',d:['1','2']}}");
  EXPECT_EQ(yaml_of("a:\n- b: 1\n  c:\n  - d: 2\n    e: 3\n  - d: 4\n- b: 5\n"),
            "{a:[{b:'1',c:[{d:'2',e:'3'},{d:'4'}]},{b:'5'}]}");
  EXPECT_EQ(yaml_of("- - 1\n  - 2\n-\n  - 3\n-\n"), "[['1','2'],['3'],'']");
  EXPECT_EQ(yaml_of("a:\r\n  b: c\r\n"), "{a:{b:'c'}}");
}

TEST(HubYaml, ReadsTexts) {
  EXPECT_EQ(yaml_of("a: data/*.csv  # all\n# note\n\nb: x#y\nc: null\nd: ~\ne:"),
            "{a:'data/*.csv',b:'x#y',c:'',d:'',e:''}");
  EXPECT_EQ(yaml_of("\"a b\": \"x: \\\"y\\\" \\t\"\n'c': 'it''s' # so\n"),
            "{a b:'x: \"y\" \t',c:'it's'}");
  EXPECT_EQ(yaml_of("a: [x, 'y, z', \"w\"]\nb: []\nc: [ p/*.csv ]"),
            "{a:['x','y, z','w'],b:[],c:['p/*.csv']}");
  EXPECT_EQ(yaml_of("a: hf://x\nb: 12:30"), "{a:'hf://x',b:'12:30'}");
}

TEST(HubYaml, RefusesWhatItDoesNotReadWithTheLine) {
  const auto problem = [](const std::string& text) {
    return problem_of([&] { (void)hub::read_yaml(text, "card", 5); });
  };
  for (const char* value :
       {"&x 1",  "*x",        "!!str 1", "|",     ">-",    "{a: 1}", "%x",
        "@x",    "`x",        "[[1]]",   "[a",    "[a, b", "'a",     "\"a",
        "\"a\\", "\"\\x41\"", "'a' b",   "[a] b", "b: c",  "]",      "[a,,b]"}) {
    EXPECT_TRUE(problem("z: 1\na: " + std::string{value}).starts_with("card:6: "))
        << value << " " << problem("z: 1\na: " + std::string{value});
  }
  for (const char* text :
       {"a: 1\n\tb: 2", "a: 1\n  b: 2", "a: x\n  y", "  a: 1\nb: 2", "a: 1\na: 2", "x",
        "- a\n  - b", "- a\nb: 1", "[a]: b", "a: 1\n- b", ": x", "- : x"}) {
    EXPECT_NE(problem(text).find("card:"), std::string::npos) << text;
  }
  EXPECT_NE(problem(std::string("a: x\0y", 6)).find("control character"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "- ";
  EXPECT_NE(problem(deep + "x").find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::tests
