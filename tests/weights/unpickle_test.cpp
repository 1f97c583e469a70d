#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/unpickle.hpp>

#include "support/corrupt.hpp"

namespace seqtrain::weights {
namespace {

using namespace std::string_literals;

constexpr std::array<std::string_view, 2> globals{"collections.OrderedDict", "torch.rebuild"};

/// A pickle refers to the bytes that it was read from.
Pickle parse(const std::string& program) {
  return parse_pickle(tests::bytes_of(program), "p", globals);
}
Pickle parse(std::string&&) = delete;

template <class T>
T value(const std::string& program) {
  const auto pickle = parse(program);
  return std::get<T>(pickle[pickle.root]);
}

void expect_refused(const std::string& program, const std::string& message) {
  const auto text = tests::refusal([&] { parse(program); });
  EXPECT_NE(text.find(message), std::string::npos) << text;
}

TEST(Unpickle, ReadsNumbers) {
  EXPECT_EQ(value<std::int64_t>("K\xff."s), 255);
  EXPECT_EQ(value<std::int64_t>("M\x00\x80."s), 32768);
  EXPECT_EQ(value<std::int64_t>("J\xfe\xff\xff\xff."s), -2);
  EXPECT_EQ(value<std::int64_t>("\x8a\x00."s), 0);
  EXPECT_EQ(value<std::int64_t>("\x8a\x01\xff."s), -1);
  EXPECT_EQ(value<std::int64_t>("\x8a\x03\x00\x00\x80."s), -8388608);
  EXPECT_EQ(value<std::int64_t>("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."s), INT64_MAX);
  EXPECT_EQ(value<double>("G\xc0\x04\x00\x00\x00\x00\x00\x00."s), -2.5);
  EXPECT_TRUE(value<bool>("\x88."));
  EXPECT_FALSE(value<bool>("\x89."));
}

TEST(Unpickle, StringsAreThePicklesOwnBytes) {
  const auto program = "X\x02\x00\x00\x00\xc3\xa9."s;
  const auto pickle = parse(program);
  const auto text = std::get<std::string_view>(pickle[pickle.root]);
  EXPECT_EQ(text, "\u00e9");
  EXPECT_EQ(text.data(), program.data() + 5);
}

TEST(Unpickle, BuildsContainers) {
  // {"a": [1, 2], "b": (3,)}
  const auto program =
      "}(\x8c\x01"
      "a](K\x01K\x02"
      "e\x8c\x01"
      "bK\x03\x85u."s;
  const auto pickle = parse(program);
  const auto& members = std::get<Pickle::Dict>(pickle[pickle.root]).members;
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(std::get<std::string_view>(pickle[members[0].first]), "a");
  EXPECT_EQ(std::get<Pickle::List>(pickle[members[0].second]).items.size(), 2u);
  const auto& tuple = std::get<Pickle::Tuple>(pickle[members[1].second]);
  EXPECT_EQ(std::get<std::int64_t>(pickle[tuple.items.at(0)]), 3);
}

TEST(Unpickle, ACallIsDataAndNothingElse) {
  const auto program = "ctorch\nrebuild\nK\x07\x85R."s;
  const auto pickle = parse(program);
  const auto& call = std::get<Pickle::Call>(pickle[pickle.root]);
  EXPECT_EQ(std::get<Pickle::Global>(pickle[call.function]).name, "torch.rebuild");
  EXPECT_EQ(std::get<Pickle::Tuple>(pickle[call.arguments]).items.size(), 1u);
}

TEST(Unpickle, AnOrderedDictIsADictAndItsAttributesAreDropped) {
  const auto program = "ccollections\nOrderedDict\n)R\x8c\x01kNs}\x8c\x09_metadataNsb."s;
  const auto pickle = parse(program);
  EXPECT_EQ(std::get<Pickle::Dict>(pickle[pickle.root]).members.size(), 1u);
}

TEST(Unpickle, TheMemoGivesTheSameValueAgain) {
  const auto program = "(]q\x05h\x05t."s;
  const auto pickle = parse(program);
  const auto& items = std::get<Pickle::Tuple>(pickle[pickle.root]).items;
  EXPECT_EQ(items.at(0), items.at(1));
}

TEST(Unpickle, AListMayHoldItself) {
  const auto program =
      "]q\x00h\x00"
      "a."s;
  const auto pickle = parse(program);
  EXPECT_EQ(std::get<Pickle::List>(pickle[pickle.root]).items.at(0), pickle.root);
}

TEST(Unpickle, NeverCallsAndNamesWhatItWillNotRead) {
  expect_refused("cos\nsystem\n\x8c\x04true\x85R."s, "p: pickle: 'os.system' is not supported");
  expect_refused(
      "\x8c\x08"
      "builtins\x8c\x04"
      "eval\x93."s,
      "'builtins.eval' is not supported");
  expect_refused("c\x1b[31m\nx\n."s, "'?[31m.x'");
  expect_refused("P\n."s, "opcode 80 is not supported");
  expect_refused("\x80\x06."s, "made by a later Python");
}

TEST(Unpickle, ReadsBytes) {
  for (const auto& program :
       {"C\x02\x00z."s, "B\x02\x00\x00\x00\x00z."s, "\x8e\x02\x00\x00\x00\x00\x00\x00\x00\x00z."s,
        "\x96\x02\x00\x00\x00\x00\x00\x00\x00\x00z."s}) {
    const auto pickle = parse(program);
    const auto bytes = std::get<Pickle::Bytes>(pickle[pickle.root]).bytes;
    EXPECT_EQ(as_text(bytes), "\0z"s);
  }
}

TEST(Unpickle, AnObjectKeepsItsAttributes) {
  const auto program = "ctorch\nrebuild\n)\x81}\x8c\x01kK\x05sb."s;
  const auto pickle = parse(program);
  const auto& call = std::get<Pickle::Call>(pickle[pickle.root]);
  EXPECT_EQ(pickle.called(pickle.root), "torch.rebuild");
  ASSERT_TRUE(call.state);
  const auto member = pickle.member(*call.state, "k");
  ASSERT_TRUE(member);
  EXPECT_EQ(std::get<std::int64_t>(pickle[*member]), 5);
  EXPECT_FALSE(pickle.member(*call.state, "other"));
  EXPECT_EQ(pickle.called(*call.state), "");
}

TEST(Unpickle, AdvisesAsItIsAsked) {
  const auto text = tests::refusal([] {
    static_cast<void>(parse_pickle(tests::bytes_of("cos\nsystem\n."), "p", globals, "do that"));
  });
  EXPECT_EQ(text, "p: pickle: 'os.system' is not supported; do that");
}

TEST(Unpickle, RefusesWhatMakesNoSense) {
  expect_refused(".", "takes more values than there are");
  expect_refused("K\x01(.", "takes more values than there are");
  expect_refused("t.", "needs a mark that was not set");
  expect_refused("K\x01\x86.", "takes more values than there are");
  expect_refused("K\x01K\x02R.", "a call of something that is not a function");
  expect_refused("ctorch\nrebuild\nK\x01R.", "a call of something that is not a function");
  expect_refused("K\x01K\x02\x93.", "name of a class is not a string");
  expect_refused(
      "K\x01K\x02"
      "a.",
      "an append to something that is not a list");
  expect_refused("}(K\x01u.", "members of something that is not a dict");
  expect_refused("K\x01}b.", "attributes of something that is not an object");
  expect_refused("h\x01.", "a reference to a value that does not exist");
  expect_refused("\x8a\x09"s + std::string(9, '\0') + ".", "more than 64 bits");
  expect_refused("X\x01\x00\x00\x00\xff."s, "not UTF-8");
}

TEST(Unpickle, LengthsAreCheckedBeforeAnythingIsTaken) {
  expect_refused("X\xff\xff\xff\xff.", "cut off in the middle");
  expect_refused("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "cut off in the middle");
  expect_refused("ctorch", "cut off in the middle");
  expect_refused("ctorch\nrebuild", "cut off in the middle");
  expect_refused("", "cut off in the middle");
}

TEST(Unpickle, DepthIsNoDanger) {
  const std::size_t depth = 1'000'000;
  const auto program = ")" + std::string(depth, '\x85') + ".";
  const auto pickle = parse(program);
  EXPECT_EQ(pickle.values.size(), depth + 1);
  expect_refused(std::string(depth, '('), "cut off in the middle");
}

}  // namespace
}  // namespace seqtrain::weights
