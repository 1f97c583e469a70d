#include "support/simulation/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::tests::sim {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

/// Runs a program on a machine until it ends, and returns how it ended.
End execute(Disk& disk, Random& random, const std::function<void(Files)>& program, Plan plan = {}) {
  Fibers fibers{random};
  Process process{fibers, disk, plan};
  process.start([&] { program(Files{process}); });
  fibers.run();
  return process.end();
}

void write_to(Files files, const std::filesystem::path& path, std::string_view text) {
  auto file = files.create(path).value();
  files.write(file, bytes_of(text));
  files.close(file);
}

void write_and_sync(Files files, const std::filesystem::path& path, std::string_view text) {
  auto file = files.create(path).value();
  files.write(file, bytes_of(text));
  files.sync(file);
  files.close(file);
}

std::string content_of(const Disk& disk, std::string_view path) {
  const auto content = disk.read(path);
  if (!content) return "none";
  return *content == nullptr ? "" : **content;
}

/// Returns all outcomes of a program and a loss of power over many seeds. An outcome is a file's
/// content, or its absence.
std::set<std::string> after_power_loss(std::string_view path,
                                       const std::function<void(Files)>& program) {
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random{seed};
    Disk disk;
    EXPECT_EQ(execute(disk, random, program), End::returned);
    disk.power_loss(random);
    outcomes.insert(content_of(disk, path));
  }
  return outcomes;
}

using Outcomes = std::set<std::string>;

TEST(SimulatedDisk, KeepsWhatWasSyncedWithItsDirectory) {
  const auto outcomes = after_power_loss("file", [](Files files) {
    write_and_sync(files, "file", "text");
    files.sync_directory(".");
  });
  EXPECT_EQ(outcomes, Outcomes{"text"});
}

TEST(SimulatedDisk, LosesUnsyncedContentInEveryWay) {
  const auto outcomes = after_power_loss("file", [](Files files) {
    write_and_sync(files, "file", "OLD-TEXT");
    files.sync_directory(".");
    write_to(files, "file", "new text");
  });
  for (const auto* one : {"OLD-TEXT", "new text", "", "new", "new-TEXT"}) {
    EXPECT_TRUE(outcomes.contains(one)) << one;
  }
  EXPECT_GT(outcomes.size(), 30U);  // garbage
}

TEST(SimulatedDisk, MayLoseANameWhoseDirectoryWasNotSynced) {
  const auto outcomes =
      after_power_loss("file", [](Files files) { write_and_sync(files, "file", "text"); });
  EXPECT_EQ(outcomes, (Outcomes{"none", "text"}));
}

TEST(SimulatedDisk, LosesAllThatIsInALostDirectory) {
  const auto outcomes = after_power_loss("a/file", [](Files files) {
    files.make_directory("a");
    write_and_sync(files, "a/file", "text");
    files.sync_directory("a");
  });
  EXPECT_EQ(outcomes, (Outcomes{"none", "text"}));
}

TEST(SimulatedDisk, RenamesInOneChange) {
  const auto outcomes = after_power_loss("file", [](Files files) {
    write_and_sync(files, "file", "old");
    files.sync_directory("/");
    write_and_sync(files, "file.partial", "new");
    files.rename("file.partial", "file");
  });
  EXPECT_EQ(outcomes, (Outcomes{"old", "new"}));
}

TEST(SimulatedDisk, RenamesAFileThatWasNotSyncedBeforeItsContent) {
  const auto outcomes = after_power_loss("file", [](Files files) {
    write_to(files, "file.partial", "new");
    files.rename("file.partial", "file");
    files.sync_directory(".");
  });
  EXPECT_TRUE(outcomes.contains(""));
  EXPECT_FALSE(outcomes.contains("none"));
}

TEST(SimulatedDisk, MayBringBackWhatWasRemoved) {
  const auto outcomes = after_power_loss("file", [](Files files) {
    write_and_sync(files, "file", "text");
    files.sync_directory(".");
    EXPECT_TRUE(files.remove("file"));
  });
  EXPECT_EQ(outcomes, (Outcomes{"none", "text"}));
}

TEST(SimulatedDisk, LosesAnyOfTheChangesOfADirectory) {
  std::set<std::vector<bool>> outcomes;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random{seed};
    Disk disk;
    execute(disk, random, [](Files files) {
      write_and_sync(files, "a", "1");
      write_and_sync(files, "b", "2");
    });
    disk.power_loss(random);
    outcomes.insert({disk.read("a").has_value(), disk.read("b").has_value()});
  }
  EXPECT_EQ(outcomes.size(), 4U);
}

TEST(SimulatedDisk, TakesPagesForWrittenAfterASyncThatFailed) {
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random{seed};
    Disk disk;
    const auto program = [](Files files) {
      auto file = files.create("file").value();
      files.sync_directory(".");
      files.write(file, bytes_of("text"));
      EXPECT_THROW(files.sync(file), Error);
      files.sync(file);
    };
    execute(disk, random, program, {.errors = {.first = 4, .last = 4, .probability = 1}});
    disk.power_loss(random);
    outcomes.insert(content_of(disk, "file"));
  }
  EXPECT_TRUE(outcomes.contains(""));
}

TEST(SimulatedDisk, KeepsWhatIsBeingReadFromLaterWrites) {
  Random random{1};
  Disk disk;
  execute(disk, random, [](Files files) {
    write_to(files, "file", "old text");
    const auto before = files.read("file").value();
    write_to(files, "file", "new");
    EXPECT_EQ(before.text(), "old text");
    EXPECT_EQ(files.read("file").value().text(), "new");
    EXPECT_FALSE(files.read("other"));
    EXPECT_FALSE(files.read("file/below"));
  });
}

TEST(SimulatedDisk, WritesAtAPlaceAndAppends) {
  Random random{1};
  Disk disk;
  execute(disk, random, [](Files files) {
    auto file = files.create("file").value();
    files.write(file, bytes_of("abc"));
    files.write_at(file, 1, bytes_of("XY"));
    files.write(file, bytes_of("def"));
    files.write_at(file, 8, bytes_of("!"));
  });
  EXPECT_EQ(content_of(disk, "file"), (std::string{"aXYdef\0\0!", 9}));
}

TEST(SimulatedDisk, ListsRenamesAndRemovesAsTheSystemDoes) {
  Random random{1};
  Disk disk;
  execute(disk, random, [](Files files) {
    EXPECT_TRUE(files.make_directory("d"));
    EXPECT_FALSE(files.make_directory("d"));
    write_to(files, "d/b", "");
    write_to(files, "./d//a", "");
    const auto entries = files.list("d");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].name, "a");
    EXPECT_FALSE(entries[0].is_directory);
    EXPECT_TRUE(files.list("/").at(0).is_directory);
    EXPECT_TRUE(files.list("missing").empty());
    EXPECT_THROW(files.remove("d"), Error);
    EXPECT_FALSE(files.remove("d/missing"));
    EXPECT_THROW(files.rename("missing", "d/c"), Error);
    EXPECT_THROW(files.rename("d/a", "d"), Error);
    EXPECT_THROW(write_to(files, "missing/a", ""), Error);
    EXPECT_THROW(write_to(files, "d", ""), Error);
    files.rename("d", "e");
    EXPECT_EQ(files.list("e").size(), 2U);
    files.rename("e/a", "e/b");
    EXPECT_EQ(files.list("e").size(), 1U);
    const auto stamp = files.stamp("e/b");
    write_to(files, "e/b", "");
    EXPECT_NE(files.stamp("e/b"), stamp);
    EXPECT_EQ(files.stamp("e/a"), 0U);
  });
}

TEST(SimulatedDisk, WritesAPartWhenItIsFull) {
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random{seed};
    Disk disk;
    disk.set_capacity(10);
    execute(disk, random, [](Files files) {
      write_to(files, "a", "12345");
      EXPECT_THROW(write_to(files, "b", "123456"), Error);
      files.remove("a");
      write_to(files, "c", "1234");
    });
    sizes.insert(content_of(disk, "b").size());
    EXPECT_EQ(content_of(disk, "c"), "1234");
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(SimulatedDisk, CorruptsAFile) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random{seed};
    Disk disk;
    execute(disk, random, [](Files files) { write_and_sync(files, "file", "text"); });
    EXPECT_TRUE(disk.corrupt("file", random));
    EXPECT_NE(content_of(disk, "file"), "text");
    EXPECT_FALSE(disk.corrupt("other", random));
  }
}

/// Counts the living objects of this type.
struct Counted {
  explicit Counted(int& living) : living_{living} { ++living_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --living_; }
  int& living_;
};

/// Writes a file, and another one in the background. Cleans up like code that does not know about
/// the simulation.
void small_program(Process& process, int& living) {
  const Counted counted{living};
  const Files files{process};
  struct Cleanup {
    const Files& files;
    ~Cleanup() { files.remove("a.partial"); }
  };
  Background background{process};
  background.start([&, here = std::make_shared<Counted>(living)] {
    const Counted another{living};
    for (int i = 0; i < 5; ++i) write_and_sync(files, "b", std::to_string(i));
    background.pause(std::chrono::milliseconds{100});
  });
  try {
    const Cleanup cleanup{files};
    write_and_sync(files, "a.partial", "text");
    files.rename("a.partial", "a");
    const auto lock = files.try_lock("lock");
    background.wait();
    throw Error{"an error"};
  } catch (const std::exception&) {
    files.sync_directory(".");
  }
}

TEST(SimulatedProcess, DiesAtEveryCall) {
  std::uint64_t calls = 0;
  const auto run = [&](Plan plan, std::uint64_t seed) {
    Random random{seed};
    Disk disk;
    int living = 0;
    Fibers fibers{random};
    Process process{fibers, disk, plan};
    process.start([&] { small_program(process, living); });
    fibers.run();
    EXPECT_TRUE(process.ended());
    EXPECT_EQ(living, 0);
    for (const auto* name : {"a", "b", "lock"}) EXPECT_NE(disk.lock(name, nullptr), nullptr);
    calls = std::max(calls, process.calls());
    return process.end();
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) EXPECT_EQ(run({}, seed), End::returned);
  EXPECT_EQ(calls, 28U);
  for (std::uint64_t call = 1; call <= 28; ++call) {
    for (const auto moment : {Moment::before, Moment::during, Moment::after}) {
      EXPECT_EQ(run({.kill_at = call, .moment = moment}, call), End::killed) << call;
      EXPECT_EQ(run({.kill_at = call, .moment = moment, .power_loss = true}, call), End::killed);
    }
  }
}

TEST(SimulatedProcess, DiesBeforeDuringAndAfterTheEffectOfACall) {
  const auto outcomes = [](Moment moment) {
    Outcomes found;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Random random{seed};
      Disk disk;
      const auto program = [](Files files) { write_to(files, "file", "ab"); };
      EXPECT_EQ(execute(disk, random, program, {.kill_at = 2, .moment = moment}), End::killed);
      found.insert(content_of(disk, "file"));
    }
    return found;
  };
  EXPECT_EQ(outcomes(Moment::before), Outcomes{""});
  EXPECT_EQ(outcomes(Moment::during), (Outcomes{"", "a", "ab"}));
  EXPECT_EQ(outcomes(Moment::after), Outcomes{"ab"});
}

TEST(SimulatedProcess, FreesItsLocksWithItsDeath) {
  Random random{1};
  Disk disk;
  Fibers fibers{random};
  Process holder{fibers, disk}, other{fibers, disk};
  bool refused = false, granted = false;
  holder.start([&] {
    const Files files{holder};
    const auto output = files.create("output");
    const auto lock = files.try_lock("lock");
    EXPECT_TRUE(output && lock);
    EXPECT_FALSE(files.create("output"));
    EXPECT_FALSE(files.try_lock("lock"));
    while (!refused) holder.yield();
    holder.die();
    holder.yield();
    FAIL() << "is dead";
  });
  other.start([&] {
    const Files files{other};
    while (disk.lock("lock", nullptr) != nullptr) other.yield();
    EXPECT_FALSE(files.create("output"));
    EXPECT_FALSE(files.try_lock("lock"));
    refused = true;
    while (holder.alive()) other.yield();
    EXPECT_TRUE(files.create("output"));
    EXPECT_TRUE(files.try_lock("lock"));
    granted = true;
  });
  fibers.run();
  EXPECT_TRUE(granted);
  EXPECT_EQ(other.end(), End::returned);
}

TEST(SimulatedProcess, LocksAFileAndNotAName) {
  Random random{1};
  Disk disk;
  execute(disk, random, [](Files files) {
    const auto output = files.create("file.partial");
    files.rename("file.partial", "file");
    EXPECT_FALSE(files.create("file"));
    EXPECT_TRUE(files.create("file.partial"));
  });
}

TEST(SimulatedProcess, CallsOfADeadOneDoNothingWhileItUnwinds) {
  Random random{1};
  Disk disk;
  const auto program = [](Files files) {
    struct Cleanup {
      Files files;
      ~Cleanup() { files.remove("file"); }
    } cleanup{files};
    write_to(files, "file", "text");
  };
  EXPECT_EQ(execute(disk, random, program, {.kill_at = 3}), End::killed);
  EXPECT_EQ(content_of(disk, "file"), "text");
}

TEST(SimulatedProcess, DiesInADestructorWithoutAnException) {
  Random random{1};
  Disk disk;
  bool went_on = false;
  const auto program = [&](Files files) {
    struct Cleanup {
      Files files;
      ~Cleanup() { files.remove("file"); }
    };
    try {
      const Cleanup cleanup{files};
      throw Error{"an error"};
    } catch (const Error&) {
    }
    files.make_directory("directory");
    went_on = true;
  };
  EXPECT_EQ(execute(disk, random, program, {.kill_at = 1}), End::killed);
  EXPECT_FALSE(went_on);
}

TEST(SimulatedProcess, CallsFailInTheirWindow) {
  Outcomes problems;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random{seed};
    Disk disk;
    const auto program = [&](Files files) {
      for (int i = 1; i <= 5; ++i) {
        try {
          files.make_directory("d");
          EXPECT_TRUE(i < 2 || i > 3);
        } catch (const Error& error) {
          EXPECT_TRUE(i == 2 || i == 3);
          problems.insert(error.what());
        }
      }
    };
    execute(disk, random, program, {.errors = {.first = 2, .last = 3, .probability = 1}});
  }
  EXPECT_EQ(problems, (Outcomes{"d: cannot be written: Input/output error",
                                "d: cannot be written: No space left on device"}));
}

TEST(SimulatedProcess, IsAskedToStop) {
  Random random{1};
  Disk disk;
  Fibers fibers{random};
  Process process{fibers, disk, {.stop_at = 7}};
  int made = 0;
  process.start([&] {
    const Files files{process};
    for (; !process.stop_token().stop_requested(); ++made) files.make_directory("directory");
  });
  fibers.run();
  EXPECT_EQ(made, 7);
  EXPECT_EQ(process.end(), End::returned);
}

TEST(SimulatedProcess, TellsWhatItsProgramThrew) {
  Random random{1};
  Disk disk;
  Fibers fibers{random};
  Process process{fibers, disk}, other{fibers, disk};
  process.start([] { throw Error{"an error"}; });
  other.start([&] {
    Background background{other};
    background.start([] { throw Error{"an error"}; });
    background.wait();
    other.yield();
  });
  fibers.run();
  EXPECT_EQ(process.end(), End::threw);
  EXPECT_THROW(std::rethrow_exception(process.error()), Error);
  EXPECT_EQ(other.end(), End::threw);
}

TEST(SimulatedProcess, ThatNeverEndsIsEnded) {
  Random random{1};
  Disk disk;
  const auto program = [](Files files) {
    while (true) files.make_directory("directory");
  };
  EXPECT_EQ(execute(disk, random, program, {.most_calls = 1000}), End::threw);
}

TEST(SimulatedProcess, EndsWithItsProgram) {
  Random random{1};
  Disk disk;
  Fibers fibers{random};
  Process process{fibers, disk};
  process.spawn([&] {
    while (true) Files{process}.make_directory("directory");
  });
  process.start([&] { Files{process}.make_directory("directory"); });
  fibers.run();
  EXPECT_EQ(process.end(), End::returned);
  EXPECT_TRUE(process.ended());
}

TEST(SimulatedProcess, LosesPowerWithItsMachineOnly) {
  Random random{1};
  Disk one, two;
  Fibers fibers{random};
  Process first{fibers, one, {.kill_at = 50, .power_loss = true}}, beside{fibers, one},
      elsewhere{fibers, two};
  const auto program = [](Process& process) {
    const Files files{process};
    for (int i = 0; i < 100; ++i) files.make_directory("directory");
    while (process.id() == 2) files.make_directory("directory");
  };
  for (Process* process : {&first, &beside, &elsewhere}) {
    process->start([&program, process] { program(*process); });
  }
  fibers.run();
  EXPECT_EQ(first.end(), End::killed);
  EXPECT_EQ(beside.end(), End::killed);
  EXPECT_EQ(elsewhere.end(), End::returned);
}

/// Returns the calls of two processes in their order. Each process has a second thread.
std::vector<std::string> trace_of(std::uint64_t seed) {
  Random random{seed};
  Disk one, two;
  Fibers fibers{random};
  Bucket bucket{random, {.before = 0.1, .after = 0.1}};
  std::vector<std::string> trace;
  Process first{fibers, one, {.kill_at = 20, .moment = Moment::during}}, second{fibers, two};
  for (Process* process : {&first, &second}) {
    process->watch([&trace, process](Operation operation, std::string_view object) {
      trace.push_back(std::to_string(process->id()) + " " + std::string{name_of(operation)} + " " +
                      std::string{object});
    });
    process->start([&bucket, process] {
      int living = 0;
      small_program(*process, living);
      Store store{bucket, *process};
      for (int i = 0; i < 20; ++i) {
        try {
          store.put("key", bytes_of("text"));
          store.flush();
        } catch (const Error&) {
        }
      }
    });
  }
  fibers.run();
  return trace;
}

TEST(SimulatedFibers, GiveEqualHistoriesForEqualSeeds) {
  std::set<std::vector<std::string>> histories;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto trace = trace_of(seed);
    EXPECT_EQ(trace, trace_of(seed));
    EXPECT_GT(trace.size(), 50U);
    histories.insert(trace);
  }
  EXPECT_EQ(histories.size(), 20U);
}

TEST(SimulatedFibers, InterleaveProcesses) {
  const auto trace = trace_of(1);
  int changes = 0;
  for (std::size_t i = 1; i < trace.size(); ++i) changes += trace[i][0] != trace[i - 1][0];
  EXPECT_GT(changes, 10);
}

TEST(SimulatedFibers, KeepTheirExceptionsApart) {
  Random random{1};
  Fibers fibers{random};
  int right = 0;
  for (int fiber = 0; fiber < 3; ++fiber) {
    fibers.spawn([&, fiber] {
      const std::string own = std::to_string(fiber);
      for (int i = 0; i < 100; ++i) {
        try {
          try {
            throw std::runtime_error{own};
          } catch (const std::exception&) {
            fibers.yield();
            throw;
          }
        } catch (const std::exception& error) {
          fibers.yield();
          right += error.what() == own && std::uncaught_exceptions() == 0;
        }
      }
    });
  }
  fibers.run();
  EXPECT_EQ(right, 300);
}

TEST(SimulatedFibers, ThrowWhatOneOutsideOfAnyProcessThrew) {
  Random random{1};
  Fibers fibers{random};
  fibers.spawn([] { throw std::runtime_error{"a test's own"}; });
  EXPECT_THROW(fibers.run(), std::runtime_error);
}

TEST(SimulatedFibers, StartAProcessAgainWhileAnotherRuns) {
  Random random{1};
  Disk disk;
  Fibers fibers{random};
  bool done = false;
  Process steady{fibers, disk};
  steady.start([&] {
    while (!done) steady.yield();
  });
  for (std::uint64_t call = 1; call <= 3; ++call) {
    Process process{fibers, disk, {.kill_at = call}};
    process.start([&] { write_to(Files{process}, "file", "text"); });
    process.run_to_end();
    EXPECT_EQ(process.end(), End::killed);
    EXPECT_TRUE(steady.alive());
  }
  fibers.spawn([&] {
    Process process{fibers, disk};
    process.start([&] { write_to(Files{process}, "file", "text"); });
    process.run_to_end();
    EXPECT_EQ(process.end(), End::returned);
    done = true;
  });
  fibers.run();
  EXPECT_EQ(steady.end(), End::returned);
  EXPECT_EQ(content_of(disk, "file"), "text");
}

TEST(SimulatedBackground, PausesAreEndedEarlyOrForGood) {
  Random random{1};
  Disk disk;
  Fibers fibers{random};
  Process process{fibers, disk};
  const Clock clock{fibers};
  process.start([&] {
    Background background{process};
    int pauses = 0;
    background.start([&] {
      while (background.pause(std::chrono::hours{1})) ++pauses;
    });
    while (pauses < 3) EXPECT_TRUE(background.busy());
    EXPECT_GE(clock.now().time_since_epoch(), std::chrono::hours{3});
    background.hurry();
    while (pauses < 5) background.busy();
    background.stop();
    background.wait();
    EXPECT_FALSE(background.busy());
    background.start([&] { EXPECT_FALSE(background.pause(std::chrono::hours{1})); });
  });
  fibers.run();
  EXPECT_EQ(process.end(), End::returned);
}

/// Runs a program that uses a bucket.
End execute(Bucket& bucket, Disk& disk, const std::function<void(Store, Process&)>& program,
            Plan plan = {}) {
  Fibers fibers{bucket.random()};
  Process process{fibers, disk, plan};
  process.start([&] { program(Store{bucket, process}, process); });
  fibers.run();
  return process.end();
}

std::string stored_in(const Bucket& bucket, std::string_view key) {
  const auto* const object = bucket.get(key);
  return object == nullptr ? "none" : *object->bytes;
}

TEST(SimulatedStore, HoldsPutsBackUntilTheFlush) {
  Outcomes before;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random{seed};
    Disk disk;
    Bucket bucket{random};
    execute(bucket, disk, [&](Store store, Process&) {
      store.put("key", bytes_of("text"));
      before.insert(store.get("key") ? "text" : "none");
      store.flush();
      EXPECT_EQ(store.get("key").value().bytes, "text");
    });
  }
  EXPECT_EQ(before, (Outcomes{"none", "text"}));
}

TEST(SimulatedStore, ADeathLosesAnyOfThePutsThatWereNotFlushed) {
  std::set<std::vector<std::string>> outcomes;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random{seed};
    Disk disk;
    Bucket bucket{random};
    const auto program = [](Store store, Process&) {
      store.put("a", bytes_of("1"));
      store.put("a", bytes_of("2"));
      store.put("b", bytes_of("1"));
      store.flush();
    };
    EXPECT_EQ(execute(bucket, disk, program, {.kill_at = 4}), End::killed);
    outcomes.insert({stored_in(bucket, "a"), stored_in(bucket, "b")});
  }
  EXPECT_EQ(outcomes.size(), 6U);
}

TEST(SimulatedStore, APutMayTakeEffectAfterTheDeath) {
  bool came_late = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random{seed};
    Disk disk;
    Bucket bucket{random, {.late = 1}};
    execute(bucket, disk, [](Store store, Process&) { store.put("key", bytes_of("text")); });
    EXPECT_EQ(stored_in(bucket, "key"), "none");
    execute(bucket, disk, [&](Store store, Process&) {
      came_late = came_late || (!store.get("key") && store.get("key"));
    });
  }
  EXPECT_TRUE(came_late);
}

TEST(SimulatedStore, OneOfTwoReplacesAGeneration) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random{seed};
    Disk disk;
    Fibers fibers{random};
    Bucket bucket{random, {.after = 0.3}};
    Process one{fibers, disk}, two{fibers, disk};
    std::map<int, std::optional<std::int64_t>> wins;
    int unknown = 0;
    for (Process* process : {&one, &two}) {
      process->start([&, process] {
        Store store{bucket, *process};
        try {
          wins[process->id()] = store.put_if("key", bytes_of(std::to_string(process->id())), 0);
        } catch (const Error&) {
          ++unknown;
        }
      });
    }
    fibers.run();
    const int won = static_cast<int>(
        std::count_if(wins.begin(), wins.end(), [](const auto& win) { return win.second; }));
    EXPECT_LE(won, 1);
    EXPECT_GE(won + unknown, 1);
    for (const auto& [id, generation] : wins) {
      EXPECT_TRUE(!generation || stored_in(bucket, "key") == std::to_string(id));
    }
  }
}

TEST(SimulatedStore, AnswersAreLost) {
  Outcomes outcomes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random{seed};
    Disk disk;
    Bucket bucket{random, {.after = 0.5}};
    execute(bucket, disk, [&](Store store, Process&) {
      try {
        EXPECT_EQ(store.put_if("key", bytes_of("text"), 0), 1);
        outcomes.insert("stored");
      } catch (const Error& error) {
        outcomes.insert(error.what());
      }
    });
    EXPECT_EQ(stored_in(bucket, "key"), "text");
  }
  EXPECT_EQ(outcomes, (Outcomes{"stored", "sim://bucket/key: cannot be reached"}));
}

TEST(SimulatedStore, IsOutOfReachForAWhile) {
  Random random{1};
  Disk disk;
  Bucket bucket{random, {.outage_first = 3, .outage_last = 5}};
  execute(bucket, disk, [&](Store store, Process&) {
    store.put("key", bytes_of("text"));
    store.flush();
    EXPECT_THROW(store.put("key", bytes_of("other")), Error);
    EXPECT_THROW(store.flush(), Error);
    EXPECT_THROW(store.remove("key"), Error);
    EXPECT_EQ(store.get("key").value().bytes, "text");
  });
}

TEST(SimulatedStore, ForgetsWhatAFailedFlushDidNotDeliver) {
  Outcomes outcomes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random{seed};
    Disk disk;
    Bucket bucket{random, {.outage_first = 3, .outage_last = 3}};
    execute(bucket, disk, [](Store store, Process&) {
      store.put("a", bytes_of("1"));
      store.put("b", bytes_of("2"));
      EXPECT_THROW(store.flush(), Error);
      store.flush();
    });
    outcomes.insert(stored_in(bucket, "a") + stored_in(bucket, "b"));
  }
  EXPECT_EQ(outcomes, (Outcomes{"nonenone", "1none"}));
}

TEST(SimulatedStore, ListsADirectoryAtAnyDepth) {
  Random random{1};
  Disk disk;
  Bucket bucket{random};
  execute(bucket, disk, [](Store store, Process&) {
    for (const auto* key : {"a/y/z", "ab/x", "a/x", "a"}) store.put(key, bytes_of(key));
    store.flush();
    using Keys = std::vector<std::string>;
    EXPECT_EQ(store.list("a"), (Keys{"a/x", "a/y/z"}));
    EXPECT_EQ(store.list(""), (Keys{"a", "a/x", "a/y/z", "ab/x"}));
    store.remove("a/x");
    store.remove("a/x");
    EXPECT_EQ(store.list("a"), Keys{"a/y/z"});
  });
  EXPECT_EQ(bucket.log().size(), 5U);
  EXPECT_EQ(bucket.log().back().key, "a/x");
  EXPECT_EQ(bucket.log().back().operation, Operation::store_remove);
}

TEST(SimulatedStore, MovesFiles) {
  Random random{1};
  Disk disk;
  Bucket bucket{random};
  execute(bucket, disk, [](Store store, Process& process) {
    const Files files{process};
    write_to(files, "file", "text");
    store.put_file("key", "file");
    EXPECT_THROW(store.put_file("key", "missing"), Error);
    store.flush();
    EXPECT_TRUE(store.get_file("key", "copy"));
    EXPECT_FALSE(store.get_file("missing", "other"));
  });
  disk.power_loss(random);
  EXPECT_EQ(content_of(disk, "copy"), "text");
  EXPECT_TRUE(bucket.corrupt("key", random));
  EXPECT_NE(stored_in(bucket, "key"), "text");
}

/// Runs a history like those of the checkpoints' tests: two machines, a store, deaths. Returns the
/// number of calls.
std::uint64_t typical_history(std::uint64_t seed) {
  Random random{seed};
  Disk one, two;
  Bucket bucket{random, {.before = 0.01, .after = 0.01}};
  std::uint64_t calls = 0;
  for (int start = 0; start < 4; ++start) {
    Fibers fibers{random};
    Process process{fibers, start % 2 == 0 ? one : two, {.kill_at = 50 + random.below(100)}};
    process.start([&] {
      const Files files{process};
      Store store{bucket, process};
      Background background{process};
      files.make_directory("checkpoints");
      for (int step = 0; step < 8; ++step) {
        const std::filesystem::path path{"checkpoints/step-" + std::to_string(step)};
        write_and_sync(files, "checkpoints/partial", "the state of a model");
        files.rename("checkpoints/partial", path);
        files.sync_directory("checkpoints");
        background.wait();
        background.start([&, path] {
          try {
            store.put_file(path.native(), path);
            store.flush();
          } catch (const Error&) {
          }
        });
        for (const auto& entry : files.list("checkpoints")) {
          if (random.chance(0.3)) files.remove("checkpoints/" + entry.name);
        }
      }
    });
    fibers.run();
    one.power_loss(random);
    calls += process.calls();
  }
  return calls;
}

TEST(SimulatedHistories, AreFast) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t calls = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) calls += typical_history(seed);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%.0f simulated calls in a history, %.2f million calls per second\n",
              static_cast<double>(calls) / 500, static_cast<double>(calls) / elapsed.count() / 1e6);
}

}  // namespace
}  // namespace seqtrain::tests::sim
