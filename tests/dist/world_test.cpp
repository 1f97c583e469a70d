#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/world.hpp>

namespace seqtrain::dist {
namespace {

using Variables = std::map<std::string, std::string>;

World world_of(const Variables& variables) {
  return World::from_environment([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return {};
    return found->second;
  });
}

/// Returns the error's message, or "".
std::string problem_of_world(const Variables& variables) {
  try {
    world_of(variables);
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

/// Returns torchrun's variables for the third of four processes on two hosts, with changes. An
/// empty value removes a variable.
Variables torchrun(const Variables& changes = {}) {
  Variables variables{{"RANK", "2"},
                      {"WORLD_SIZE", "4"},
                      {"LOCAL_RANK", "0"},
                      {"LOCAL_WORLD_SIZE", "2"},
                      {"GROUP_RANK", "1"},
                      {"GROUP_WORLD_SIZE", "2"},
                      {"MASTER_ADDR", "vm-1"},
                      {"MASTER_PORT", "29500"},
                      {"TORCHELASTIC_RESTART_COUNT", "3"},
                      {"TORCHELASTIC_RUN_ID", "abc"},
                      {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  for (const auto& [name, value] : changes) variables[name] = value;
  return variables;
}

const std::string two_pools =
    R"({"cluster": {"workerpool1": ["b:2222", "c:2222"], "workerpool0": ["a:2221"]},
        "environment": "cloud", "task": {"type": "workerpool1", "index": 1, "trial": "1"}})";

const std::string chief_and_workers =
    R"({"cluster": {"worker": ["b:2222", "c:2222"], "chief": ["a:2221"]},
        "task": {"type": "worker", "index": "0"}})";

TEST(World, IsOneProcessWithoutVariables) {
  const auto world = world_of({});
  EXPECT_EQ(world.rank, 0);
  EXPECT_EQ(world.size, 1);
  EXPECT_EQ(world.local_size, 1);
  EXPECT_EQ(world.hosts, 1);
  EXPECT_EQ(world.source, "");
}

TEST(World, ReadsTorchrun) {
  const auto world = world_of(torchrun());
  EXPECT_EQ(world.rank, 2);
  EXPECT_EQ(world.size, 4);
  EXPECT_EQ(world.local_rank, 0);
  EXPECT_EQ(world.local_size, 2);
  EXPECT_EQ(world.hosts, 2);
  EXPECT_EQ(world.host, 1);
  EXPECT_EQ(world.master_host, "vm-1");
  EXPECT_EQ(world.master_port, 29500);
  EXPECT_TRUE(world.agent_store);
  EXPECT_EQ(world.restart, 3);
  EXPECT_EQ(world.run_id, "abc");
  EXPECT_EQ(world.source, "torchrun");
}

TEST(World, NeedsOnlyRankSizeAndMaster) {
  const auto world =
      world_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "::1"}, {"MASTER_PORT", "1"}});
  EXPECT_EQ(world.rank, 1);
  EXPECT_EQ(world.local_size, 1);
  EXPECT_EQ(world.hosts, 2);
  EXPECT_EQ(world.host, 1);
  EXPECT_EQ(world.master_host, "::1");
  EXPECT_FALSE(world.agent_store);
  EXPECT_EQ(world_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).size, 1);
}

TEST(World, PrefersTorchrun) {
  EXPECT_EQ(world_of(torchrun({{"CLUSTER_SPEC", two_pools}})).source, "torchrun");
}

TEST(World, TellsWhetherTorchrunStartedTheProcess) {
  EXPECT_TRUE(World::under_torchrun([](const std::string&) { return "id"; }));
  EXPECT_FALSE(World::under_torchrun([](const std::string&) { return std::nullopt; }));
}

TEST(World, ReadsThePoolsOfVertex) {
  const auto world = world_of({{"CLUSTER_SPEC", two_pools}});
  EXPECT_EQ(world.rank, 2);
  EXPECT_EQ(world.size, 3);
  EXPECT_EQ(world.host, 2);
  EXPECT_EQ(world.hosts, 3);
  EXPECT_EQ(world.local_rank, 0);
  EXPECT_EQ(world.local_size, 1);
  EXPECT_EQ(world.master_host, "a");
  EXPECT_EQ(world.master_port, 2221);
  EXPECT_FALSE(world.agent_store);
  EXPECT_EQ(world.source, "CLUSTER_SPEC");
}

TEST(World, LeavesOutPoolsThatAreNotThere) {
  const std::string spec = R"({"cluster": {"workerpool0": ["a:1"], "workerpool3": ["d:1"]},
                               "task": {"type": "workerpool3", "index": 0}})";
  EXPECT_EQ(world_of({{"CLUSTER_SPEC", spec}}).rank, 1);
}

TEST(World, ReadsTheConfigOfTensorFlow) {
  const auto world = world_of({{"TF_CONFIG", chief_and_workers}});
  EXPECT_EQ(world.rank, 1);
  EXPECT_EQ(world.size, 3);
  EXPECT_EQ(world.master_host, "a");
  EXPECT_EQ(world.source, "TF_CONFIG");
  EXPECT_EQ(world_of({{"TF_CONFIG", chief_and_workers}, {"CLUSTER_SPEC", two_pools}}).rank, 2);
}

TEST(World, DoesNotCountServersOfParametersAndEvaluators) {
  const std::string config =
      R"({"cluster":
          {"master": ["[::1]:1"], "worker": ["b:1"], "ps": ["p:1"], "evaluator": ["e:1"]},
          "task": {"type": "worker", "index": 0}})";
  const auto world = world_of({{"TF_CONFIG", config}});
  EXPECT_EQ(world.size, 2);
  EXPECT_EQ(world.master_host, "::1");
  // A job of four pools; the third and the fourth have these names.
  const std::string spec =
      R"({"cluster": {"workerpool0": ["a:1"], "workerpool1": ["b:1"], "workerpool2": ["p:1"],
                      "workerpool3": ["e:1"]}, "task": {"type": "workerpool2", "index": 0}})";
  EXPECT_EQ(world_of({{"TF_CONFIG", config}, {"CLUSTER_SPEC", spec}}).rank, 2);
}

TEST(World, OfOneMachineIsOneProcess) {
  for (const std::string text :
       {R"({"cluster": {"workerpool0": ["a:1"]}, "task": {"type": "workerpool0", "index": 0}})",
        R"({"cluster": {"chief": ["a"]}, "task": {"type": "chief", "index": 0}})", R"({})",
        R"({"cluster": {}, "task": {}})"}) {
    EXPECT_EQ(world_of({{"CLUSTER_SPEC", text}}).size, 1) << text;
    EXPECT_EQ(world_of({{"TF_CONFIG", text}}).size, 1) << text;
  }
}

TEST(World, NamesTheVariableThatIsMissingOrWrong) {
  struct Case {
    Variables variables;
    std::vector<std::string> named;
  };
  const std::vector<Case> cases{
      {torchrun({{"RANK", ""}}), {"RANK", "not set"}},
      {torchrun({{"WORLD_SIZE", ""}}), {"WORLD_SIZE", "not set"}},
      {torchrun({{"MASTER_ADDR", ""}}), {"MASTER_ADDR", "not set"}},
      {torchrun({{"MASTER_PORT", ""}}), {"MASTER_PORT", "not set"}},
      {{{"LOCAL_RANK", "0"}}, {"WORLD_SIZE", "not set"}},
      {torchrun({{"RANK", "4"}}), {"RANK", "'4'", "from 0 to 3"}},
      {torchrun({{"RANK", "-1"}}), {"RANK", "'-1'"}},
      {torchrun({{"RANK", "2 "}}), {"RANK", "'2 '"}},
      {torchrun({{"WORLD_SIZE", "0"}}), {"WORLD_SIZE", "'0'", "at least 1"}},
      {torchrun({{"WORLD_SIZE", "four"}}), {"WORLD_SIZE", "'four'"}},
      {torchrun({{"WORLD_SIZE", "99999999999"}}), {"WORLD_SIZE", "'99999999999'"}},
      {torchrun({{"LOCAL_RANK", "2"}}), {"LOCAL_RANK", "'2'", "from 0 to 1"}},
      {torchrun({{"LOCAL_RANK", "1"}, {"RANK", "0"}}), {"LOCAL_RANK", "'1'", "RANK, which is 0"}},
      {torchrun({{"LOCAL_WORLD_SIZE", "5"}}), {"LOCAL_WORLD_SIZE", "'5'", "from 1 to 4"}},
      {torchrun({{"GROUP_RANK", "2"}}), {"GROUP_RANK", "'2'", "from 0 to 1"}},
      {torchrun({{"GROUP_WORLD_SIZE", "1"}}), {"GROUP_WORLD_SIZE", "'1'", "from 2 to 3"}},
      {torchrun({{"MASTER_PORT", "70000"}}), {"MASTER_PORT", "'70000'", "65535"}},
      {torchrun({{"MASTER_PORT", "0"}}), {"MASTER_PORT", "'0'"}},
      {torchrun({{"TORCHELASTIC_RESTART_COUNT", "x"}}), {"TORCHELASTIC_RESTART_COUNT", "'x'"}},
      {{{"CLUSTER_SPEC", "{"}}, {"CLUSTER_SPEC", "JSON"}},
      {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": "a:1"}})"}},
       {"CLUSTER_SPEC", "workerpool0", "array"}},
      {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["a:1", "b:1"]}})"}},
       {"CLUSTER_SPEC", "task", "missing"}},
      {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["a:1", "b:1"]},
                             "task": {"type": "workerpool1", "index": 0}})"}},
       {"CLUSTER_SPEC", "task.type", "'workerpool1'"}},
      {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["a:1", "b:1"]},
                             "task": {"type": "workerpool0", "index": 2}})"}},
       {"CLUSTER_SPEC", "task.index", "'2'", "from 0 to 1"}},
      {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["a", "b:1"]},
                             "task": {"type": "workerpool0", "index": 1}})"}},
       {"CLUSTER_SPEC", "workerpool0[0]", "'a'", "host:port"}},
      {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["a:x", "b:1"]},
                             "task": {"type": "workerpool0", "index": 1}})"}},
       {"CLUSTER_SPEC", "workerpool0[0]", "'x'", "65535"}},
      {{{"TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"], "evaluator": ["e:1"]},
                          "task": {"type": "evaluator", "index": 0}})"}},
       {"TF_CONFIG", "task.type", "'evaluator'"}},
      {{{"CLUSTER_SPEC", two_pools}, {"TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]},
                          "task": {"type": "worker", "index": 0}})"}},
       {"TF_CONFIG", "2 machines", "expected 3", "CLUSTER_SPEC"}},
  };
  for (const auto& [variables, named] : cases) {
    const auto problem = problem_of_world(variables);
    for (const auto& part : named) {
      EXPECT_NE(problem.find(part), std::string::npos) << "'" << problem << "' lacks " << part;
    }
  }
}

}  // namespace
}  // namespace seqtrain::dist
