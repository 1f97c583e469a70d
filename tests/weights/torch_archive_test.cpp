#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/torch_archive.hpp>
#include <seqtrain/weights/zip_writer.hpp>

#include "support/corrupt.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::weights::detail {
namespace {

using namespace std::string_literals;

/// Returns the persistent id ("storage", torch.<kind>, "0", "cpu", <count>).
std::string storage(const std::string& kind, char count, char key = '0') {
  return "(\x8c\x07storagectorch\n" + kind + "\n\x8c\x01" + key + "\x8c\x03" + "cpuK" + count +
         "tQ";
}

/// Returns the call that rebuilds a tensor, with `arguments` after the storage.
std::string tensor(const std::string& arguments, char count = 6) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage("FloatStorage", count) + arguments + "tR";
}

struct Entries {
  std::string pickle;
  std::string storage = std::string(24, '\0');
  std::string byteorder = "little";
  std::string name = "m/data.pkl";
};

std::string archive(const Entries& entries) {
  const tests::TemporaryDirectory directory;
  ZipWriter zip{directory / "m"};
  zip.add(entries.name, entries.pickle + ".");
  zip.add("m/byteorder", entries.byteorder);
  zip.add("m/data/0", entries.storage);
  zip.commit();
  return tests::read_file(directory / "m");
}

void expect_refused(const Entries& entries, const std::string& message) {
  const auto text = tests::refusal([&] {
    const auto bytes = archive(entries);
    TorchArchive{tests::bytes_of(bytes), "m.pth"};
  });
  EXPECT_NE(text.find(message), std::string::npos) << text;
}

TEST(TorchArchive, ReadsATensor) {
  const auto bytes = archive({.pickle = tensor("K\x01K\x02\x85K\x03\x85\x89N"s)});
  const TorchArchive file{tests::bytes_of(bytes), "m.pth"};
  const auto* read = file.tensor(file.pickle().root);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->shape, std::vector<std::int64_t>{2});
}

TEST(TorchArchive, ATensorStaysInItsStorage) {
  const auto whole = archive({.pickle = tensor("K\x00K\x06\x85K\x01\x85"s)});
  EXPECT_NO_THROW((TorchArchive{tests::bytes_of(whole), "m.pth"}));
  expect_refused({.pickle = tensor("K\x00K\x07\x85K\x01\x85"s)},
                 "m.pth: a tensor beyond its storage");
  expect_refused({.pickle = tensor("K\x06K\x01\x85K\x01\x85"s)}, "beyond its storage");
  expect_refused({.pickle = tensor("K\x00K\x02\x85K\x06\x85"s)}, "beyond its storage");
  expect_refused({.pickle = tensor("K\x00J\xff\xff\xff\xff\x85K\x01\x85"s)}, "beyond its storage");
  expect_refused({.pickle = tensor("K\x00K\x02\x85)"s)}, "beyond its storage");
  expect_refused({.pickle = tensor("K\x00K\x02\x85K\x01\x85"s, 7)}, "storage 0 is shorter");
  expect_refused({.pickle = tensor("K\x00K\x06\x85K\x01\x85"s), .storage = "abc"},
                 "storage 0 is shorter");
}

TEST(TorchArchive, AnExpandedTensorDoesNotEatTheMemory) {
  const auto huge = "K\x00J\x00\x00\x00\x40J\x00\x00\x00\x40\x86K\x00K\x00\x86"s;
  expect_refused({.pickle = tensor(huge)}, "far larger than the file");
  std::string repeated;
  for (int i = 0; i < 100; ++i)
    repeated += tensor("K\x00J\x00\x80\x00\x00\x85K\x00\x85"s) + "q\x01";
  expect_refused({.pickle = "(" + repeated + "t"}, "far larger than the file");
}

TEST(TorchArchive, DimensionsAreBounded) {
  std::string ones = "(";
  for (int i = 0; i < 65; ++i) ones += "K\x01";
  expect_refused({.pickle = tensor("K\x00"s + ones + "t" + ones + "t")}, "more than 64 dimensions");
}

TEST(TorchArchive, NamesWhatItCannotRead) {
  const auto call = [](const std::string& arguments) {
    return "ctorch._utils\n_rebuild_tensor_v2\n(" + arguments + "tR";
  };
  expect_refused({.pickle = call("")}, "a tensor with too few arguments");
  expect_refused({.pickle = call("NK\x01K\x01K\x01")}, "a tensor without a storage");
  expect_refused({.pickle = call(")QK\x01K\x01K\x01")}, "a tensor without a storage");
  expect_refused({.pickle = tensor("NK\x01\x85K\x01\x85")}, "other than an integer");
  expect_refused({.pickle = tensor("K\x01K\x01K\x01")}, "other than a tuple");
  expect_refused({.pickle = "ctorch._utils\n_rebuild_parameter\n(NtR"}, "a parameter without data");
  expect_refused({.pickle = "ctorch._utils\n_rebuild_parameter\n)R"}, "a parameter without data");
  expect_refused({.pickle = "ctorch\nFloatStorage\n)R"}, "a call of torch.FloatStorage");
  expect_refused({.pickle = "ctorch\nQInt8Storage\n"}, "'torch.QInt8Storage' is not supported");
  expect_refused({.pickle = "N", .byteorder = "big"}, "not little-endian");
  expect_refused({.pickle = "N", .name = "m/other.pkl"}, "contains no data.pkl");
  expect_refused({.pickle = "N", .name = "m/n/data.pkl"}, "contains no data.pkl");
  expect_refused({.pickle = call(storage("FloatStorage", 6, '7') + "K\x01))")}, "no entry data/7");
}

}  // namespace
}  // namespace seqtrain::weights::detail

namespace seqtrain::weights {
namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();

TEST(Strided, ExtentIsOneBehindTheLastElement) {
  EXPECT_EQ(extent({.offset = 3, .shape = {}, .strides = {}}), 4);
  EXPECT_EQ(extent({.offset = 1, .shape = {2, 3}, .strides = {3, 1}}), 7);
  EXPECT_EQ(extent({.shape = {4, 1000}, .strides = {6, 0}}), 19);
  EXPECT_EQ(extent({.offset = 9, .shape = {5, 0}, .strides = {1, 1}}), 0);
  EXPECT_EQ(extent({.shape = {1}, .strides = {most}}), 1);
}

TEST(Strided, WhatIsNoLayoutHasNoExtent) {
  EXPECT_FALSE(extent({.offset = -1}));
  EXPECT_FALSE(extent({.shape = {2}, .strides = {}}));
  EXPECT_FALSE(extent({.shape = {2}, .strides = {-1}}));
  EXPECT_FALSE(extent({.shape = {-2}, .strides = {1}}));
  EXPECT_FALSE(extent({.shape = {3}, .strides = {most / 2 + 1}}));
  EXPECT_FALSE(extent({.offset = most, .shape = {2}, .strides = {1}}));
  EXPECT_FALSE(extent({.shape = {most, most}, .strides = {1, 1}}));
}

TEST(Strided, KnowsWhatIsContiguous) {
  EXPECT_TRUE(contiguous({.shape = {}, .strides = {}}));
  EXPECT_TRUE(contiguous({.offset = 5, .shape = {2, 3}, .strides = {3, 1}}));
  EXPECT_TRUE(contiguous({.shape = {2, 1, 3}, .strides = {3, 77, 1}}));
  EXPECT_TRUE(contiguous({.shape = {0, most, most}, .strides = {1, most, 1}}));
  EXPECT_FALSE(contiguous({.shape = {3, 2}, .strides = {1, 3}}));
  EXPECT_FALSE(contiguous({.shape = {2}, .strides = {0}}));
}

std::vector<std::uint16_t> gathered(const Strided& layout, std::size_t count) {
  std::vector<std::uint16_t> storage(24);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint16_t> out(count);
  gather(std::as_bytes(std::span{storage}), layout, 2, std::as_writable_bytes(std::span{out}));
  return out;
}

TEST(Strided, GathersRowByRow) {
  using Numbers = std::vector<std::uint16_t>;
  EXPECT_EQ(gathered({.offset = 1, .shape = {3, 2}, .strides = {1, 6}}, 6),
            (Numbers{1, 7, 2, 8, 3, 9}));
  EXPECT_EQ(gathered({.shape = {2, 3}, .strides = {6, 0}}, 6), (Numbers{0, 0, 0, 6, 6, 6}));
  EXPECT_EQ(gathered({.shape = {2, 2, 2}, .strides = {12, 1, 4}}, 8),
            (Numbers{0, 4, 1, 5, 12, 16, 13, 17}));
  EXPECT_EQ(gathered({.offset = 7, .shape = {1}, .strides = {most}}, 1), Numbers{7});
}

}  // namespace
}  // namespace seqtrain::weights
