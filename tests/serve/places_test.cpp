#include <optional>

#include <gtest/gtest.h>

#include <seqtrain/serve/places.hpp>

namespace seqtrain::serve {
namespace {

TEST(Places, LimitRequestsAndTexts) {
  Places places{2, 10};
  auto first = places.enter();
  auto second = places.enter();
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(places.enter());
  EXPECT_TRUE(first->add_texts(6));
  EXPECT_FALSE(second->add_texts(5));
  EXPECT_TRUE(second->add_texts(4));
  first.reset();
  EXPECT_EQ(places.requests(), 1u);
  EXPECT_TRUE(second->add_texts(6));
}

TEST(Places, APlaceMayOutliveThem) {
  std::optional<Places> places{std::in_place, 1, 1};
  const auto place = places->enter();
  places.reset();
  EXPECT_TRUE(place->add_texts(1));
}

}  // namespace
}  // namespace seqtrain::serve
