#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/data/class_weights.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/encoded_file_writer.hpp>
#include <seqtrain/data/loader.hpp>

#include "support/corrupt.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/row_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

using Ids = std::vector<std::int32_t>;
using tests::refusal;
using tests::row_of;

EncodedSet example_set(std::size_t vocab_size, std::size_t targets_a_row = 0) {
  EncodedSet set{vocab_size, 302, targets_a_row};
  for (std::int32_t row = 0; row < 40; ++row) {
    const std::vector<float> targets(targets_a_row, static_cast<float>(row));
    set.push_back(Ids(static_cast<std::size_t>(row * 7 % 30), row), 0, row % 3, targets);
  }
  return set;
}

/// Gives each test a directory for files of sets.
class EncodedFileOpening : public testing::Test {
 protected:
  void write(const EncodedSet& set) const {
    EncodedFileWriter writer{path, EncodedSet{set.vocab_size(), 302, set.targets_a_row()}, 28};
    writer.append(set);
    writer.commit(set.size(), 5);
  }

  EncodedFile open(std::size_t vocab_size = 303) const {
    return open_encoded_file(path, tests::LetterTokenizer{.vocabulary = vocab_size}, labels);
  }

  [[nodiscard]] std::string problem() const {
    const std::string text = refusal([this] { open(); });
    EXPECT_TRUE(text.starts_with(path.string() + ": ")) << text;
    return text.substr(path.string().size() + 2);
  }

  [[nodiscard]] std::string bytes() const { return tests::read_file(path); }
  void replace_by(const std::string& text) const { tests::write_file(path, text); }

  tests::TemporaryDirectory directory;
  std::filesystem::path path = directory / "set";
  Labels labels = Labels::nli();
};

TEST_F(EncodedFileOpening, GivesWhatWasWritten) {
  for (const std::size_t vocab_size : {303, 65'536, 65'537}) {
    const EncodedSet set = example_set(vocab_size);
    write(set);
    const EncodedFile opened = open(vocab_size);
    ASSERT_EQ(opened.set.size(), set.size());
    EXPECT_EQ(opened.total, set.size());
    EXPECT_EQ(opened.left_out, 5u);
    EXPECT_EQ(opened.at_max_length(), 2u);
    EXPECT_EQ(opened.set.bytes(), 0u);
    for (std::size_t row = 0; row < set.size(); ++row) {
      ASSERT_EQ(row_of(opened.set, row), row_of(set, row));
      ASSERT_EQ(opened.set.label(row), set.label(row));
      ASSERT_EQ(opened.set.first_segment(row), set.first_segment(row));
    }
  }
}

TEST_F(EncodedFileOpening, GivesTargets) {
  labels = Labels{{"a", "b"}, ProblemType::multi_label};
  EncodedSet set{303, 302, 2};
  set.push_back(Ids{1}, 1, 0, std::vector<float>{0, 1});
  set.push_back(Ids{}, 0, -1, std::vector<float>{2, 3});
  write(set);
  const EncodedSet opened = open().set;
  EXPECT_EQ(opened.targets(0)[1], 1);
  EXPECT_EQ(opened.targets(1)[0], 2);
}

TEST_F(EncodedFileOpening, GivesTheSameBatchesAndWeights) {
  const EncodedSet set = example_set(303);
  write(set);
  EXPECT_EQ(balanced_weights(open().set, labels), balanced_weights(set, labels));
  const LoaderOptions options{.plan = {.tokens_per_batch = 90}, .seed = 4};
  BucketLoader from_memory{set, options};
  BucketLoader from_file{open().set, options};
  std::vector<Ids> expected, seen;
  for (const Batch& batch : from_memory.epoch(1)) expected.push_back(batch.input_ids);
  for (const Batch& batch : from_file.epoch(1)) seen.push_back(batch.input_ids);
  EXPECT_EQ(seen, expected);
}

TEST_F(EncodedFileOpening, StaysUsableWhenTheNameIsGone) {
  write(example_set(303));
  const EncodedFile opened = open();
  write(example_set(303));
  std::filesystem::remove(path);
  EXPECT_EQ(row_of(opened.set, 4), Ids(28, 4));
}

TEST_F(EncodedFileOpening, IsSharedByProcesses) {
  write(example_set(303));
  const EncodedFile opened = open();
  const auto sum_of = [](const EncodedSet& set) {
    return Crc32c{}.update(set.arrays().ids).update(std::as_bytes(set.arrays().rows)).value();
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(sum_of(open().set) == sum_of(opened.set) ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(EncodedFileOpening, RefusesWhatIsNoSet) {
  EXPECT_EQ(problem(), "No such file or directory");
  replace_by("");
  EXPECT_EQ(problem(), "is empty");
  replace_by("{\"text\": \"a\"}\n");
  EXPECT_EQ(problem(), "is not an encoded set; encode it again");
  replace_by(std::string(10'000, '\0'));
  EXPECT_EQ(problem(), "is not an encoded set; encode it again");
}

TEST_F(EncodedFileOpening, RefusesAnotherVersion) {
  write(example_set(303));
  std::string text = bytes();
  text[offsetof(detail::EncodedHead, version)] = 9;
  replace_by(text);
  EXPECT_EQ(problem(), "has version 9 of the format, not 2; encode it again");
}

TEST_F(EncodedFileOpening, RefusesASetForAnotherRun) {
  write(example_set(400));
  EXPECT_EQ(problem(), "was encoded with a vocabulary of 400, not 303; encode it again");
  write(example_set(303, 2));
  EXPECT_EQ(problem(), "was encoded with targets a row of 2, not 0; encode it again");
  EncodedSet other_pad{303, 0};
  EncodedFileWriter{path, other_pad, 3}.commit(0, 0);
  EXPECT_EQ(problem(), "was encoded with the pad id 0, not 302; encode it again");
  write(example_set(303));
  labels = Labels::sentiment();
  EXPECT_EQ(problem(), "has a label that is not among the 2; encode it again");
}

TEST_F(EncodedFileOpening, RefusesEveryCut) {
  write(example_set(303));
  const std::string whole = bytes();
  tests::expect_no_prefix_is_read(whole, [&](const std::string& prefix) {
    replace_by(prefix);
    open();
  });
  replace_by(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(problem(), "is cut off or damaged at its end; encode it again");
  replace_by(whole + '\0');
  EXPECT_EQ(problem(), "is cut off or damaged at its end; encode it again");
}

TEST_F(EncodedFileOpening, RefusesEveryChangedByte) {
  write(example_set(303));
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] ^= static_cast<char>(1U << at % 8);
    replace_by(text);
    EXPECT_THROW(open(), InputError) << at;
  }
}

/// Changes a file and corrects its checksums.
template <class Change>
std::string with_changed_trailer(std::string text, const Change& change) {
  detail::EncodedTrailer trailer;
  const std::size_t at = text.size() - sizeof trailer;
  std::memcpy(&trailer, text.data() + at, sizeof trailer);
  change(text, trailer);
  trailer.checksum = Crc32c{}.update(std::string_view{text}.substr(0, at)).value();
  trailer.own_checksum = trailer.sum();
  std::memcpy(text.data() + at, &trailer, sizeof trailer);
  return text;
}

TEST_F(EncodedFileOpening, RefusesWhatNoWriterWrites) {
  write(example_set(303));
  const std::string whole = bytes();
  const auto problem_with = [&](const auto& change) {
    replace_by(with_changed_trailer(whole, change));
    return problem();
  };
  using Trailer = detail::EncodedTrailer;
  EXPECT_EQ(problem_with([](std::string& text, Trailer&) {
              text[sizeof(detail::EncodedHead) + 101] = 2;  // an id above 512
            }),
            "has an id outside its vocabulary; encode it again");
  EXPECT_EQ(problem_with([](std::string& text, Trailer& trailer) {
              text[sizeof(detail::EncodedHead) + (2 * trailer.ids + 7) / 8 * 8 + 20] = 1;
            }),
            "a row lies outside the ids, or its label is below -1; encode it again");
  for (const std::uint64_t number : {1ULL, 41ULL, 1ULL << 31, 1ULL << 61, ~0ULL}) {
    for (auto member : {&Trailer::ids, &Trailer::rows, &Trailer::kept}) {
      if (member == &Trailer::kept && number == 1) continue;
      problem_with([&](std::string&, Trailer& trailer) { trailer.*member = number; });
    }
  }
}

TEST_F(EncodedFileOpening, SurvivesFlippedBitsUnderAGoodChecksum) {
  write(example_set(303));
  tests::survive_flipped_bits(bytes(), 2'000, [&](const std::string& text) {
    replace_by(with_changed_trailer(text, [](std::string&, detail::EncodedTrailer&) {}));
    const EncodedFile opened = open();
    for (std::size_t row = 0; row < opened.set.size(); ++row) {
      for (const std::int32_t id : row_of(opened.set, row)) ASSERT_LT(id, 303);
    }
  });
}

}  // namespace
}  // namespace seqtrain::data
