#include <concepts>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include <seqtrain/train/events.hpp>

namespace seqtrain::train {
namespace {

template <class T>
struct IsNumber : std::is_arithmetic<T> {};

TEST(FindPart, RefersToTheFirstArgumentWithTheProperty) {
  std::string text;
  int first = 1;
  double second = 2;
  EXPECT_EQ(&find_part<IsNumber>(text, first, second), &first);
  static_assert(std::same_as<decltype(find_part<IsNumber>(text, first, second)), int&>);
}

TEST(FindPart, KeepsAnArgumentConst) {
  const int number = 1;
  EXPECT_EQ(&find_part<IsNumber>(number), &number);
  static_assert(std::same_as<decltype(find_part<IsNumber>(number)), const int&>);
}

TEST(FindPart, IsNoPartWhereNoneHasTheProperty) {
  std::string text;
  static_assert(std::same_as<decltype(find_part<IsNumber>()), NoPart>);
  static_assert(std::same_as<decltype(find_part<IsNumber>(text)), NoPart>);
}

}  // namespace
}  // namespace seqtrain::train
