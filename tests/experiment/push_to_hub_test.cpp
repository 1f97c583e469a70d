#include <sstream>
#include <stop_token>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/experiment/push_to_hub.hpp>

#include "support/environment.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"
#include "support/writable_hub.hpp"

namespace seqtrain::experiment {
namespace {

using namespace tests;

/// A hub over HTTP that the environment names, and the folder of a model.
class PushToHubTest : public testing::Test {
 protected:
  PushToHubTest() {
    hub_.service.own_address = address_;
    hub_.service.keep_large_files(files_.service, "http://127.0.0.1:" + files_.port());
    write_file(directory_ / "config.json", "{}");
    write_file(directory_ / "model.safetensors", weights_);
  }

  static cli::OutputFlags flags(const std::string& name) {
    cli::OutputFlags flags;
    flags.push_to_hub = name;
    return flags;
  }
  void push(const std::stop_token& stop = {}) const {
    PushToHub{flags("org/new"), log::Log{{.out = &out_}}}.push(directory_.path(), stop);
  }

  FaultyServer<WritableHub> hub_;
  FaultyServer<FakeFileStore> files_;
  TemporaryDirectory directory_;
  mutable std::ostringstream out_;
  const std::string address_ = "http://127.0.0.1:" + hub_.port();
  const std::string weights_ = std::string(5'000'000, 'w');
  tests::Environment endpoint_{"HF_ENDPOINT", address_}, token_{"HF_TOKEN", "hf_write"},
      offline_{"HF_HUB_OFFLINE", {}}, trial_{"CLOUD_ML_TRIAL_ID", {}};
};

TEST_F(PushToHubTest, TheModelArrivesThroughABrokenConnection) {
  files_.script({.kind = Fault::reset_early, .method = "PUT", .bytes = 1'000'000});
  hub_.script({.kind = Fault::lose_answer, .contains = "/commit/"});
  push();
  auto files = hub_.service.files_of("models/org/new");
  EXPECT_EQ(files["model.safetensors"], weights_);
  EXPECT_EQ(files["config.json"], "{}");
  EXPECT_EQ(hub_.service.commits_of("models/org/new"), 2U);
  for (const auto& token : files_.authorizations()) EXPECT_EQ(token, "");
}

TEST_F(PushToHubTest, NothingIsAskedWithoutTheFlag) {
  const PushToHub none{flags(""), log::Log{}};
  none.push(directory_.path(), {});
  EXPECT_EQ(hub_.connections(), 0);
}

TEST_F(PushToHubTest, WhatIsWrongIsFoundBeforeThePush) {
  const auto problem = [](const std::string& name) {
    return problem_of([&] { PushToHub(flags(name), log::Log{}); });
  };
  EXPECT_NE(problem("other/m").find("is not a member of other"), std::string::npos);
  const tests::Environment trial{"CLOUD_ML_TRIAL_ID", "3"};
  EXPECT_NE(problem("org/m").find("--push-to-hub: does not go with trials"), std::string::npos);
}

TEST_F(PushToHubTest, AFailureSaysHowToPushLater) {
  hub_.script({.kind = Fault::answer, .contains = "/commit/", .response = {403}});
  try {
    push();
    ADD_FAILURE() << "pushed";
  } catch (const InputError&) {
    ADD_FAILURE() << "wrong usage is found earlier";
  } catch (const Error& error) {
    const std::string text = error.what();
    const auto folder = directory_.path().string();
    EXPECT_TRUE(text.starts_with(folder + ": the model here could not be pushed: org/new: "));
    EXPECT_NE(text.find("hf upload org/new " + folder + " ."), std::string::npos) << text;
  }
}

TEST_F(PushToHubTest, ARunThatIsStoppedIsNotPushed) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(push(source.get_token()), train::Stopped);
  EXPECT_EQ(hub_.service.commits_of("models/org/new"), 0U);
}

}  // namespace
}  // namespace seqtrain::experiment
