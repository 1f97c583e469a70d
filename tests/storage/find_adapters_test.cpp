#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/storage/find_adapters.hpp>
#include <seqtrain/weights/adapter.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

/// Writes an adapter without tensors.
void write_adapter_of(const std::string& base, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  tests::write_file(folder / "adapter_config.json",
                    weights::adapter_config_text({.lora = {}, .base = base}));
}

/// Returns `name:folder` of each adapter.
std::vector<std::string> found(const std::vector<std::string>& given,
                               const std::string& model = "/base") {
  std::vector<std::string> result;
  for (const auto& [name, adapter] : find_adapters(given, model, model, "model", {log::Log{}})) {
    result.push_back(name + ":" + adapter.directory.string());
  }
  return result;
}

TEST(FindAdapters, TakesNamesAndPlaces) {
  const tests::TemporaryDirectory folder;
  const std::string place = folder.path().string();
  write_adapter_of("org/base", folder / "a");
  write_adapter_of("/elsewhere/base", folder / "run/model");
  tests::write_file(folder / "run/model/config.json", "{}");
  EXPECT_EQ(found({}), std::vector<std::string>{});
  EXPECT_EQ(found({"x=" + place + "/run", "y=" + place + "/a"}),
            (std::vector<std::string>{"x:" + place + "/run/model", "y:" + place + "/a"}));
}

TEST(FindAdapters, NamesTheAdaptersInAFolderByTheirFolders) {
  const tests::TemporaryDirectory folder;
  const std::string place = folder.path().string();
  for (const char* name : {"b", "a/model", "c"}) write_adapter_of("org/base", folder / name);
  std::filesystem::create_directories(folder / "empty");
  tests::write_file(folder / "notes.txt", "");
  tests::write_file(folder / "c/model.safetensors", "a whole model");
  EXPECT_EQ(found({place}),
            (std::vector<std::string>{"a:" + place + "/a/model", "b:" + place + "/b"}));
}

TEST(FindAdapters, SaysWhatDoesNotFit) {
  const tests::TemporaryDirectory folder;
  const std::string place = folder.path().string();
  write_adapter_of("org/base", folder / "a");
  std::filesystem::create_directories(folder / "other/x");
  const auto problem = [&](const std::vector<std::string>& given, const std::string& model = "/m") {
    return tests::problem_of([&] { found(given, model); });
  };
  EXPECT_EQ(problem({"x=" + place + "/a", "x=" + place + "/a"}),
            "--adapters: two models are called x; give each a name of its own");
  EXPECT_EQ(problem({"model=" + place + "/a"}),
            "--adapters: two models are called model; give each a name of its own");
  for (const std::string name : {"", "a b", "a/b"}) {
    EXPECT_EQ(problem({name + "=" + place + "/a"}),
              "--adapters: '" + name + "' must consist of letters, digits and -._~");
  }
  EXPECT_EQ(problem({place + "/other"}),
            place + "/other: has no folder with an adapter; give an adapter as name=PLACE");
  EXPECT_EQ(
      problem({place + "/a"}),
      place + "/a: is one adapter, not a directory of adapters; give an adapter as name=PLACE");
  EXPECT_NE(problem({place + "/none"}).find("there is no such directory"), std::string::npos);
  EXPECT_NE(problem({"x=" + place + "/other"}).find("holds no model"), std::string::npos);
}

TEST(FindAdapters, RefusesAnAdapterOfAnotherBase) {
  const tests::TemporaryDirectory folder;
  write_adapter_of("org/base", folder.path());
  const std::string given = "x=" + folder.path().string();
  for (const char* model : {"org/base", "org/base/", "org/base@main"}) {
    EXPECT_EQ(found({given}, model).size(), 1U) << model;
  }
  EXPECT_EQ(found({given}, folder.path().string()).size(), 1U);  // perhaps a copy of the base
  EXPECT_EQ(tests::problem_of([&] { found({given}, "org/other"); }),
            folder.path().string() +
                ": is an adapter of org/base, not of org/other; serve it with that model");
}

}  // namespace
}  // namespace seqtrain::storage
