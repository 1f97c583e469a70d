#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

namespace fs = std::filesystem;
using tests::run_command;
using tests::run_example;

/// The command in an installation whose only program is a script.
class SeqtrainCommand : public testing::Test {
 protected:
  SeqtrainCommand() {
    fs::create_directories(prefix() / "bin");
    fs::create_directories(program().parent_path());
    fs::copy_file(SEQTRAIN_EXAMPLES_DIR "/seqtrain", prefix() / "bin/seqtrain");
  }

  [[nodiscard]] fs::path prefix() const { return fs::canonical(directory_.path()); }
  [[nodiscard]] fs::path program() const { return prefix() / "libexec/seqtrain/mnli"; }
  [[nodiscard]] std::string command() const { return (prefix() / "bin/seqtrain").string(); }

  void write_program(const std::string& body) const {
    tests::write_file(program(), "#!/bin/sh\n" + body + "\n");
    fs::permissions(program(), fs::perms::owner_all);
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(SeqtrainCommand, PassesArgumentsAndTheExitCode) {
  write_program(R"(for word; do echo "<$word>"; done; exit 7)");
  for (const char* name : {" train", " mnli"}) {
    const auto ended = run_command(command() + name + " --lr 'a b' '' -- help");
    EXPECT_EQ(ended.code, 7);
    EXPECT_EQ(ended.output, "<--lr>\n<a b>\n<>\n<-->\n<help>\n");
  }
}

TEST_F(SeqtrainCommand, EmbedsByTheProgramThatPredicts) {
  write_program(R"(for word; do echo "<$word>"; done)");
  fs::rename(program(), program().parent_path() / "predict");
  EXPECT_EQ(run_command(command() + " embed --model m").output, "<--embed>\n<--model>\n<m>\n");
  EXPECT_EQ(run_command(command() + " help embed").output, "<--embed>\n<--help>\n");
}

TEST_F(SeqtrainCommand, BecomesTheProgramSoThatSignalsReachIt) {
  write_program("echo $$");
  const auto ended = run_command("sh -c 'echo $$; exec " + command() + " train'");
  const auto line = ended.output.find('\n');
  ASSERT_NE(line, std::string::npos);
  EXPECT_EQ(ended.output.substr(0, line + 1), ended.output.substr(line + 1));
}

TEST_F(SeqtrainCommand, AsksAProgramForItsHelp) {
  write_program(R"(echo "$*")");
  for (const char* words : {" help train", " --help train", " -h train"}) {
    EXPECT_EQ(run_command(command() + words).output, "--help\n") << words;
  }
}

TEST_F(SeqtrainCommand, NamesAProgramThatIsMissing) {
  const auto ended = run_command(command() + " serve");
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.output, "error: " + command().substr(0, command().rfind('/')) +
                              "/serve: No such file or directory\n");
}

TEST_F(SeqtrainCommand, PrintsThePrefixOfItsCMakeFiles) {
  const auto none = run_command(command() + " --cmake-prefix");
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.output.find("holds no CMake files"), std::string::npos) << none.output;
  fs::create_directories(prefix() / "share/cmake/seqtrain");
  EXPECT_EQ(run_command(command() + " --cmake-prefix").output, prefix().string() + "\n");
}

TEST_F(SeqtrainCommand, IsFoundThroughALink) {
  write_program("echo started");
  fs::create_symlink(command(), prefix() / "link");
  EXPECT_EQ(run_command((prefix() / "link").string() + " train").output, "started\n");
}

TEST_F(SeqtrainCommand, SaysWhetherItsLibTorchHasCuda) {
  const auto version = [&] { return run_command(command() + " --version").output; };
  EXPECT_NE(version().find("CUDA      "), std::string::npos);
  const auto with_libraries = [&](const fs::path& directory) {
    return run_command("LD_LIBRARY_PATH=" + directory.string() + " " + command() + " --version");
  };
  tests::write_file(prefix() / "libtorch_cuda.so", "");
  EXPECT_NE(with_libraries(prefix()).output.find("CUDA      yes\n"), std::string::npos);
}

TEST(Seqtrain, ListsSubcommands) {
  const auto help = run_example("seqtrain", "help");
  EXPECT_EQ(help.code, 0);
  for (const char* name : {"train", "mnli", "imdb", "languages", "baseline", "predict", "embed",
                           "serve", "tokenize", "compare", "storage"}) {
    EXPECT_NE(help.output.find("\n  " + std::string{name} + "  "), std::string::npos) << name;
  }
  const auto nothing = run_example("seqtrain", "");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.output, help.output);
}

TEST(Seqtrain, RefusesAnUnknownSubcommand) {
  const auto refused = [](const std::string& word) {
    const auto ended = run_example("seqtrain", word);
    EXPECT_EQ(ended.code, 2) << word;
    return ended.output;
  };
  EXPECT_EQ(refused("trian"),
            "error: 'trian' is no subcommand; did you mean 'train'? see seqtrain help\n");
  EXPECT_NE(refused("help tokenise").find("did you mean 'tokenize'?"), std::string::npos);
  EXPECT_EQ(refused("evaluate"), "error: 'evaluate' is no subcommand; see seqtrain help\n");
  EXPECT_EQ(refused("''"), "error: '' is no subcommand; see seqtrain help\n");
  EXPECT_EQ(refused("--verbose"), "error: '--verbose' is no subcommand; see seqtrain help\n");
}

TEST(Seqtrain, SaysWhatItWasBuiltWith) {
  const auto version = run_example("seqtrain", "--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.output.starts_with("seqtrain  ")) << version.output;
  for (const char* part : {"\nLibTorch  2.", "\ncompiler  ", "\nParquet   "}) {
    EXPECT_NE(version.output.find(part), std::string::npos) << part << version.output;
  }
}

TEST(Seqtrain, GivesAProgramItsName) {
  const auto help = run_example("seqtrain", "compare --help");
  EXPECT_TRUE(help.output.starts_with("seqtrain compare: ")) << help.output;
  const auto wrong = run_example("seqtrain", "compare --nothing");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.output.find("see seqtrain compare --help"), std::string::npos) << wrong.output;
}

}  // namespace
}  // namespace seqtrain
