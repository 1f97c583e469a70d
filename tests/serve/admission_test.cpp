#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/serve/admission.hpp>

namespace seqtrain::serve {
namespace {

TEST(Admission, LimitRequestsAndTexts) {
  Admission admission{2, 10};
  auto first = admission.enter();
  auto second = admission.enter();
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(admission.enter());
  EXPECT_TRUE(first->add_texts(6));
  EXPECT_FALSE(second->add_texts(5));
  EXPECT_TRUE(second->add_texts(4));
  first.reset();
  EXPECT_EQ(admission.requests(), 1u);
  EXPECT_TRUE(second->add_texts(6));
}

TEST(Admission, APlaceMayOutliveThem) {
  std::optional<Admission> admission{std::in_place, 1, 1};
  const auto place = admission->enter();
  admission.reset();
  EXPECT_TRUE(place->add_texts(1));
}

}  // namespace
}  // namespace seqtrain::serve
