#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/serve/models.hpp>

#include "support/served_model.hpp"

namespace seqtrain::serve {
namespace {

using tests::Door;
using tests::ServedModel;

struct LoggedModels {
  std::ostringstream text;
  log::Log log{{.format = log::LogFormat::json, .out = &text}};
};

TEST(Models, AModelIsPresentOnceItIsLoadedAndWarm) {
  LoggedModels logged;
  Door door;
  door.close();
  Models<ServedModel> models{
      [&] { return tests::served({.before_predict = [&](std::size_t) { door.pass(); }}); },
      logged.log};
  door.await(1);
  EXPECT_FALSE(models.present());
  door.open();
  while (!models.present()) std::this_thread::yield();
}

/// Calls `listener` after each message of a log.
struct Listening : std::stringbuf {
  std::function<void()> listener;
  int sync() override {
    listener();
    return 0;
  }
};

TEST(Models, AModelIsPresentWhenTheLogSaysSo) {
  Door door;
  door.close();
  std::atomic<bool> told = false;
  std::atomic<bool> present = false;
  Models<ServedModel>* place = nullptr;
  Listening messages;
  messages.listener = [&] {
    present = place->present() != nullptr;
    told = true;
  };
  std::ostream out{&messages};
  Models<ServedModel> models{[&] {
                               door.pass();
                               return tests::served();
                             },
                             log::Log{{.format = log::LogFormat::json, .out = &out}}};
  place = &models;
  door.open();
  while (!told) std::this_thread::yield();
  EXPECT_TRUE(present);
}

TEST(Models, AReloadPutsANewOneInItsPlace) {
  LoggedModels logged;
  std::atomic<int> loads = 0;
  std::atomic<bool> broken = false;
  {
    Models<ServedModel> models{[&] {
                                 ++loads;
                                 if (broken) throw std::runtime_error{"there is no such file"};
                                 return tests::served();
                               },
                               logged.log};
    while (!models.present()) std::this_thread::yield();
    const auto first = models.present();
    models.reload();
    while (models.present() == first) std::this_thread::yield();
    const auto second = models.present();
    broken = true;
    models.reload();
    while (loads < 3) std::this_thread::yield();
    EXPECT_EQ(models.present(), second);
    EXPECT_FALSE(models.failure());
  }
  EXPECT_NE(logged.text.str().find("The old model stays: there is no such file"),
            std::string::npos);
}

TEST(Models, TellWhetherAModelIsBeingLoaded) {
  LoggedModels logged;
  Door door;
  door.close();
  Models<ServedModel> models{[&] {
                               door.pass();
                               return tests::served();
                             },
                             logged.log};
  EXPECT_TRUE(models.is_loading());
  door.open();
  while (models.is_loading()) std::this_thread::yield();
  EXPECT_TRUE(models.present());
  door.close();
  models.reload();
  EXPECT_TRUE(models.is_loading());
  EXPECT_TRUE(models.present());
  door.open();
  while (models.is_loading()) std::this_thread::yield();
}

TEST(Models, TellWhyThereIsNone) {
  LoggedModels logged;
  Models<ServedModel> models{[]() -> Served<ServedModel> { throw std::runtime_error{"no model"}; },
                             logged.log};
  while (!models.failure()) std::this_thread::yield();
  EXPECT_THROW(std::rethrow_exception(models.failure()), std::runtime_error);
  EXPECT_FALSE(models.present());
}

}  // namespace
}  // namespace seqtrain::serve
