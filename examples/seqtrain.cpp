// The command seqtrain: starts the program that its first argument names. It links no library of
// seqtrain's, so it starts at once.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <seqtrain/core/text_similarity.hpp>

namespace {

namespace fs = std::filesystem;

enum ExitCode { done = 0, failed = 1, wrong_input = 2 };

struct Subcommand {
  std::string_view name;
  std::string_view program;
  std::string_view purpose;
  std::string_view flag = {};  ///< the program's first argument, if any
};

constexpr Subcommand subcommands[] = {
    {"train", "mnli", "fine-tune a classifier on texts of your own, or on pairs of texts"},
    {"mnli", "mnli", "train, on the bundled pairs of sentences if no file is named"},
    {"imdb", "imdb", "fine-tune a classifier on film reviews in folders"},
    {"languages", "languages", "train a classifier for a language, also from nothing (ULMFiT)"},
    {"baseline", "baseline", "train a linear model on TF-IDF, to compare with or to use"},
    {"predict", "predict", "label texts with a fine-tuned model"},
    {"embed", "predict", "write the embeddings of texts, for search and clustering", "--embed"},
    {"serve", "serve", "answer over HTTP with a fine-tuned model"},
    {"tokenize", "tokenize", "turn texts into the ids of a model"},
    {"compare", "compare", "compare finished runs"},
    {"storage", "storage", "list, copy, print and remove files, also in buckets"},
    {"new", "new.sh", "write a project with a program of your own"},
    {"run", "run.sh", "compile and run a program of one file"},
};

constexpr std::string_view usage =
    R"(seqtrain: fine-tunes text classifiers, and labels texts with them

  seqtrain SUBCOMMAND [ARGUMENT…]

Flags:
  --version       print the version, and what it was built with
  --cmake-prefix  print the directory for CMAKE_PREFIX_PATH

Subcommands:
  help            list the flags of a subcommand: seqtrain help train
)";

void print_usage(std::ostream& out) {
  out << usage;
  for (const auto& [name, program, purpose, flag] : subcommands) {
    out << "  " << std::left << std::setw(16) << name << purpose << '\n';
  }
  out << std::flush;
}

int fail(ExitCode code, const std::string& problem) {
  std::cerr << "error: " << problem << std::endl;
  return code;
}

int refuse(std::string_view word) {
  const auto* const nearest = std::ranges::min_element(subcommands, {}, [word](const auto& known) {
    return seqtrain::edit_distance(word, known.name);
  });
  const bool is_near =
      seqtrain::edit_distance(word, nearest->name) <= std::min<std::size_t>(2, word.size() - 1);
  return fail(wrong_input, "'" + std::string{word} + "' is no subcommand; " +
                               (is_near ? "did you mean '" + std::string{nearest->name} + "'? "
                                        : std::string{}) +
                               "see seqtrain help");
}

/// Returns the directory of this program, with links resolved.
fs::path own_directory() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

/// Becomes the program of a subcommand, so that its signals and its exit code are the program's.
int start(const Subcommand& subcommand, std::span<char*> arguments) {
  const fs::path here = own_directory();
  fs::path program = here / "../libexec/seqtrain" / subcommand.program;
  if (!fs::exists(program)) program = here / subcommand.program;  // in the tree of a build
  std::string name = "seqtrain " + std::string{subcommand.name};
  std::string flag{subcommand.flag};
  std::vector<char*> words{name.data()};
  if (!flag.empty()) words.push_back(flag.data());
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  return fail(failed, program.lexically_normal().string() + ": " + std::strerror(errno));
}

/// Returns the directories in which the loader looks for the libraries of the programs.
std::vector<fs::path> library_directories() {
  void* const self = ::dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (self == nullptr || ::dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const found = reinterpret_cast<Dl_serinfo*>(memory.data());
  *found = size;
  if (::dlinfo(self, RTLD_DI_SERINFO, found) != 0) return {};
  const Dl_serpath* const first = found->dls_serpath;
  std::vector<fs::path> directories;
  for (unsigned i = 0; i < found->dls_cnt; ++i) directories.emplace_back(first[i].dls_name);
  return directories;
}

int print_version() {
  const bool cuda = std::ranges::any_of(library_directories(), [](const fs::path& directory) {
    return fs::exists(directory / "libtorch_cuda.so");
  });
  std::cout << SEQTRAIN_BUILT_WITH << "CUDA      "
            << (cuda ? "yes" : "no: the LibTorch that the programs load is a build for processors")
            << std::endl;
  return done;
}

int print_cmake_prefix() {
  const fs::path prefix = own_directory().parent_path();
  if (fs::exists(prefix / "CMakeCache.txt")) {  // the tree of a build, which is installed first
    char flag[] = "--cmake-prefix";
    char* words[] = {flag};
    return start(*std::ranges::find(subcommands, "run", &Subcommand::name), words);
  }
  if (!fs::exists(prefix / "share/cmake/seqtrain")) {
    return fail(failed, prefix.string() + " holds no CMake files of an installed seqtrain");
  }
  std::cout << prefix.string() << std::endl;
  return done;
}

int run(std::span<char*> arguments) {
  if (arguments.empty()) {
    print_usage(std::cerr);
    return wrong_input;
  }
  std::string_view word = arguments.front();
  if (word == "--version") return print_version();
  if (word == "--cmake-prefix") return print_cmake_prefix();
  const bool help = word == "help" || word == "--help" || word == "-h";
  char flag[] = "--help";
  char* only_help[] = {flag};
  if (help) {
    if (arguments.size() == 1) return print_usage(std::cout), done;
    word = arguments[1];
  }
  const auto* const known = std::ranges::find(subcommands, word, &Subcommand::name);
  if (known == std::end(subcommands)) return refuse(word);
  return start(*known, help ? std::span<char*>{only_help} : arguments.subspan(1));
}

}  // namespace

int main(int argc, char** argv) {
  return run(std::span{argv, static_cast<std::size_t>(argc)}.subspan(argc > 0));
}
