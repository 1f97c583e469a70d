#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>

#include "support/sink_conformance.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

/// The conformance suite for stores, with the rules that the suite for sinks does not have.
/// `Subject` is default-constructible and has the store as `sink`. Instantiate with
/// INSTANTIATE_TYPED_TEST_SUITE_P(Name, StoreConformance, Subject).
template <class Subject>
class StoreConformance : public testing::Test {
 protected:
  void put(std::string_view key, std::string_view text) {
    subject_.sink.put(key, bytes_of(text));
    subject_.sink.flush();
  }
  std::optional<std::string> get(std::string_view key) {
    auto found = subject_.sink.get(key);
    if (!found) return {};
    EXPECT_GT(found->generation, 0);
    return std::move(found->bytes);
  }
  std::optional<std::int64_t> put_if(std::string_view key, std::string_view text,
                                     std::int64_t generation) {
    return subject_.sink.put_if(key, bytes_of(text), generation);
  }
  std::int64_t generation_of(std::string_view key) {
    const auto found = subject_.sink.get(key);
    return found ? found->generation : 0;
  }
  std::vector<std::string> list(std::string_view key) { return subject_.sink.list(key); }

  Subject subject_;
  TemporaryDirectory files_;
};

TYPED_TEST_SUITE_P(StoreConformance);

TYPED_TEST_P(StoreConformance, SatisfiesTheConcept) {
  static_assert(Store<decltype(this->subject_.sink)>);
  EXPECT_FALSE(std::string{this->subject_.sink.name()}.empty());
}

TYPED_TEST_P(StoreConformance, GivesBackWhatItWasGiven) {
  const std::string_view binary{"a\0b\xff\n", 5};
  this->put("exp/name", binary);
  this->put("empty", "");
  EXPECT_EQ(this->get("exp/name"), binary);
  EXPECT_EQ(this->get("empty"), "");
  this->put("exp/name", "other");
  EXPECT_EQ(this->get("exp/name"), "other");
}

TYPED_TEST_P(StoreConformance, GivesNothingWhereThereIsNone) {
  this->put("exp/name", "text");
  for (const char* key : {"absent", "exp", "exp/name/deeper", "exp/nam", "name", "exp/absent"}) {
    EXPECT_EQ(this->get(key), std::nullopt) << key;
    const auto file = this->files_ / "file";
    EXPECT_FALSE(this->subject_.sink.get_file(key, file)) << key;
    EXPECT_TRUE(std::filesystem::is_empty(this->files_.path())) << key;
  }
}

TYPED_TEST_P(StoreConformance, ListsWhatIsInsideADirectory) {
  for (const char* key : {"exp/checkpoint-1/manifest.json", "exp/checkpoint-1/model/a.bin",
                          "exp/checkpoint-10/manifest.json", "exp2/a", "exp.txt", "a"}) {
    this->put(key, "text");
  }
  using Keys = std::vector<std::string>;
  const Keys first{"exp/checkpoint-1/manifest.json", "exp/checkpoint-1/model/a.bin"};
  EXPECT_EQ(this->list("exp/checkpoint-1"), first);
  EXPECT_EQ(this->list("exp"), (Keys{first[0], first[1], "exp/checkpoint-10/manifest.json"}));
  EXPECT_EQ(this->list(""), (Keys{"a", "exp.txt", first[0], first[1],
                                  "exp/checkpoint-10/manifest.json", "exp2/a"}));
  for (const char* key : {"ex", "checkpoint-1", "a", "absent", "exp/checkpoint-1/manifest.json"}) {
    EXPECT_EQ(this->list(key), Keys{}) << key;
  }
}

TYPED_TEST_P(StoreConformance, ListsNothingWhileItIsEmpty) {
  EXPECT_TRUE(this->list("").empty());
  EXPECT_TRUE(this->list("exp/deeper").empty());
}

TYPED_TEST_P(StoreConformance, ListsMoreThanAPage) {
  std::vector<std::string> keys;
  for (int i = 1000; i < 2200; ++i) keys.push_back("run/" + std::to_string(i));
  for (const auto& key : keys) this->subject_.sink.put(key, {});
  this->subject_.sink.flush();
  EXPECT_EQ(this->list("run"), keys);
}

TYPED_TEST_P(StoreConformance, TakesNamesAsTheyAre) {
  const std::vector<std::string> keys{"dir/#1?x=y&z", "dir/%2F", "dir/a b", "dir/a+b", "dir/ü"};
  for (const auto& key : keys) this->put(key, key);
  EXPECT_EQ(this->list("dir"), keys);
  for (const auto& key : keys) EXPECT_EQ(this->get(key), key);
  for (const auto& key : keys) this->subject_.sink.remove(key);
  EXPECT_TRUE(this->list("").empty());
}

TYPED_TEST_P(StoreConformance, GetsFiles) {
  std::string text(3'000'000, 'x');
  text[1'234'567] = 'y';
  this->put("dir/large", text);
  this->put("empty", "");
  const auto file = write_file(this->files_ / "file", "what was there");
  EXPECT_TRUE(this->subject_.sink.get_file("dir/large", file));
  EXPECT_TRUE(read_file(file) == text);
  EXPECT_TRUE(this->subject_.sink.get_file("empty", file));
  EXPECT_EQ(read_file(file), "");
  EXPECT_THROW(this->subject_.sink.get_file("empty", this->files_ / "absent/file"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{this->files_.path()}, {}), 1);
}

TYPED_TEST_P(StoreConformance, PutsOnlyWhereThereIsNone) {
  const auto first = this->put_if("exp/lease", "one", 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(this->generation_of("exp/lease"), *first);
  EXPECT_EQ(this->put_if("exp/lease", "two", 0), std::nullopt);
  EXPECT_EQ(this->get("exp/lease"), "one");
}

TYPED_TEST_P(StoreConformance, PutsOnlyOverThatGeneration) {
  EXPECT_EQ(this->put_if("lease", "none", 12345), std::nullopt);
  EXPECT_EQ(this->get("lease"), std::nullopt);
  this->put("lease", "one");
  const auto first = this->generation_of("lease");
  const auto second = this->put_if("lease", "two", first);
  ASSERT_TRUE(second);
  EXPECT_NE(*second, first);
  EXPECT_EQ(this->put_if("lease", "late", first), std::nullopt);
  EXPECT_EQ(this->get("lease"), "two");
  EXPECT_TRUE(this->put_if("lease", "three", *second));
  this->put("lease", "four");
  EXPECT_EQ(this->put_if("lease", "late", *second), std::nullopt);
  EXPECT_EQ(this->get("lease"), "four");
}

TYPED_TEST_P(StoreConformance, AGenerationIsOfOneWriteNotOfItsContent) {
  const auto first = this->put_if("lease", "text", 0);
  const auto second = this->put_if("lease", "text", first.value());
  EXPECT_NE(second.value(), *first);
  EXPECT_EQ(this->put_if("lease", "text", *first), std::nullopt);
}

TYPED_TEST_P(StoreConformance, PutsAgainAfterARemoval) {
  const auto first = this->put_if("exp/lease", "one", 0);
  this->subject_.sink.remove("exp/lease");
  EXPECT_EQ(this->put_if("exp/lease", "late", first.value()), std::nullopt);
  EXPECT_TRUE(this->put_if("exp/lease", "two", 0));
  EXPECT_EQ(this->list(""), (std::vector<std::string>{"exp/lease"}));
}

TYPED_TEST_P(StoreConformance, RemovesOneObject) {
  for (const char* key : {"exp/a", "exp/ab", "exp/a.b", "exp/c/d"}) this->put(key, "text");
  using Keys = std::vector<std::string>;
  this->subject_.sink.remove("exp/a");
  EXPECT_EQ(this->list(""), (Keys{"exp/a.b", "exp/ab", "exp/c/d"}));
  for (const char* key : {"exp/a", "absent/deeper", "exp", "exp/c", "exp/ab/deeper"}) {
    EXPECT_NO_THROW(this->subject_.sink.remove(key)) << key;
  }
  EXPECT_EQ(this->list("exp"), (Keys{"exp/a.b", "exp/ab", "exp/c/d"}));
  this->subject_.sink.remove("exp/c/d");
  this->put("exp/c/d", "again");
  EXPECT_EQ(this->get("exp/c/d"), "again");
}

TYPED_TEST_P(StoreConformance, RefusesWhatIsNoKey) {
  auto& store = this->subject_.sink;
  for (const std::string_view key :
       {"/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a\nb"}) {
    EXPECT_THROW((void)store.get(key), Error) << key;
    EXPECT_THROW((void)store.list(key), Error) << key;
    EXPECT_THROW((void)store.get_file(key, this->files_ / "file"), Error) << key;
    EXPECT_THROW((void)this->put_if(key, "text", 0), Error) << key;
    EXPECT_THROW(store.remove(key), Error) << key;
  }
  EXPECT_THROW((void)store.get(""), Error);
  EXPECT_THROW(store.remove(""), Error);
}

REGISTER_TYPED_TEST_SUITE_P(StoreConformance, SatisfiesTheConcept, GivesBackWhatItWasGiven,
                            GivesNothingWhereThereIsNone, ListsWhatIsInsideADirectory,
                            ListsNothingWhileItIsEmpty, ListsMoreThanAPage, TakesNamesAsTheyAre,
                            GetsFiles, PutsOnlyWhereThereIsNone, PutsOnlyOverThatGeneration,
                            AGenerationIsOfOneWriteNotOfItsContent, PutsAgainAfterARemoval,
                            RemovesOneObject, RefusesWhatIsNoKey);

}  // namespace seqtrain::tests
