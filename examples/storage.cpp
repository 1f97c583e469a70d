// Lists, copies, prints and removes files here and in other storages.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/storage/copy.hpp>
#include <seqtrain/train/stopped.hpp>

using namespace seqtrain;

constexpr std::string_view usage =
    R"(storage: lists, copies, prints and removes files here and in other storages

  storage ls [-l] PLACE     lists a file, or all files below a folder; -l: with size and time
  storage cp [-r] SRC DST   copies a file; -r: copies all files below the folder SRC into DST
  storage cat PLACE...      writes files to stdout
  storage rm [-r] PLACE...  removes files; -r: removes folders with all that is in them

Places:
)";

struct Arguments {
  std::string command;
  std::vector<std::string> places;
  bool help = false, recursive = false, details = false;
};

/// Reads the command line. Throws `InputError` if it is none of the usage.
Arguments parse(std::span<char*> words) {
  Arguments given;
  const std::map<std::string, bool*> flags{{"-h", &given.help},
                                           {"--help", &given.help},
                                           {"-r", &given.recursive},
                                           {"-l", &given.details}};
  const std::string advice = "see storage --help";
  for (const std::string word : words) {
    if (flags.contains(word)) {
      *flags.at(word) = true;
    } else if (word.starts_with('-')) {
      throw InputError{"is an unknown flag", {.object = word}, advice};
    } else if (given.command.empty()) {
      given.command = word;
    } else {
      given.places.push_back(word);
    }
  }
  const std::map<std::string, std::size_t> most{{"ls", 1}, {"cp", 2}, {"cat", 999}, {"rm", 999}};
  const auto& name = given.command;
  if (given.help) return given;
  if (!most.contains(name)) throw InputError{"unknown command '" + name + "'", {}, advice};
  const std::size_t least = name == "cp" ? 2 : 1, count = given.places.size();
  const bool fits =
      (!given.details || name == "ls") && (!given.recursive || name == "cp" || name == "rm");
  if (count < least || count > most.at(name) || !fits) {
    throw InputError{"wrong places or flags for " + name, {}, advice};
  }
  return given;
}

void list(const std::string& place, bool details, storage::Trees& trees) {
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;  // which no name may steer
  for (const auto& file : storage::list_files(place, trees)) {
    if (details) std::cout << file.size << '\t' << file.modified << '\t';
    std::cout << (on_terminal ? shown(file.place) : file.place) << '\n';
  }
}

void perform(const Arguments& given) {
  const auto log = log::log_on_stderr();
  const cli::StopSignals signals{
      {.grace_seconds = 60,
       .log = [&log](std::string_view text) { log.warning(std::string{text}); },
       .plan = "the program ends and leaves nothing half written"}};
  const auto check = [stop = signals.token()] {
    if (stop.stop_requested()) throw train::Stopped{"stopped before all was done"};
  };
  // The bar is on stderr, because stdout may carry the data.
  log::ByteBar<> bar{given.command, {.enabled = ::isatty(STDERR_FILENO) == 1}, std::cerr};
  const auto draw = [&](std::uint64_t done, std::uint64_t total) {
    check();
    bar(static_cast<std::int64_t>(done), static_cast<std::int64_t>(total));
  };
  storage::Trees trees{{log}};
  if (given.command == "cp") {
    return storage::copy(given.places[0], given.places[1], trees, {given.recursive, draw});
  }
  for (const auto& place : given.places) {
    if (given.command == "ls") list(place, given.details, trees);
    if (given.command == "cat") storage::print(place, trees, std::cout, draw);
    if (given.command == "rm") storage::remove(place, trees, given.recursive, check);
  }
}

int main(int argc, char** argv) {
  return cli::run([&] {
    const auto given = parse(std::span{argv, static_cast<std::size_t>(argc)}.subspan(argc > 0));
    if (!given.help) return perform(given);
    std::cout << usage;
    for (const auto& form : storage::forms({log::log_on_stderr()}, storage::Use::source)) {
      std::cout << "  " << form << '\n';
    }
  });
}
