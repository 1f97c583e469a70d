#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/serve/queue.hpp>

namespace seqtrain::serve {
namespace {

const Clock::time_point noon{std::chrono::hours{12}};

std::shared_ptr<Ticket> ticket_of(std::vector<std::size_t> tokens, const void* model = nullptr,
                                  Clock::time_point since = noon) {
  return std::make_shared<Ticket>(std::move(tokens), model, since);
}

std::vector<std::size_t> lengths_of(const std::vector<Queue::Pick>& batch) {
  std::vector<std::size_t> lengths;
  for (const auto& [ticket, text] : batch) lengths.push_back(ticket->tokens(text));
  return lengths;
}

using Lengths = std::vector<std::size_t>;

TEST(Queue, FillsABatchUpToItsTokens) {
  Queue queue;
  queue.push(ticket_of({3, 7, 5}));
  EXPECT_EQ(queue.texts(), 3u);
  EXPECT_EQ(lengths_of(queue.take(12)), (Lengths{7, 5}));
  EXPECT_EQ(queue.texts(), 1u);
  EXPECT_EQ(lengths_of(queue.take(12)), (Lengths{3}));
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.take(12).empty());
}

TEST(Queue, ATextLongerThanABatchGoesAlone) {
  Queue queue;
  queue.push(ticket_of({100, 1}));
  EXPECT_EQ(lengths_of(queue.take(10)), (Lengths{100}));
  EXPECT_EQ(lengths_of(queue.take(10)), (Lengths{1}));
}

TEST(Queue, RequestsTakeTurns) {
  Queue queue;
  const auto large = ticket_of(Lengths(1000, 10));
  const auto small = ticket_of({4});
  const auto middle = ticket_of({9, 8});
  queue.push(large);
  queue.push(small);
  queue.push(middle);
  EXPECT_EQ(lengths_of(queue.take(30)), (Lengths{10, 9, 4}));
  EXPECT_EQ(small->waiting(), 0u);
  EXPECT_EQ(middle->waiting(), 1u);
  EXPECT_EQ(lengths_of(queue.take(30)), (Lengths{10, 10, 8}));
  EXPECT_EQ(middle->waiting(), 0u);
  EXPECT_EQ(queue.texts(), 997u);
}

TEST(Queue, EachTurnIsTheNextOnes) {
  Queue queue;
  const std::vector<std::shared_ptr<Ticket>> tickets{ticket_of({5, 5}), ticket_of({5, 5}),
                                                     ticket_of({5, 5})};
  for (const auto& ticket : tickets) queue.push(ticket);
  for (const std::size_t turn : {0u, 1u, 2u, 0u, 1u, 2u}) {
    EXPECT_EQ(queue.take(5).at(0).ticket, tickets[turn]);
  }
}

TEST(Queue, PutsTheLongestTextFirst) {
  Queue queue;
  queue.push(ticket_of({2}));
  queue.push(ticket_of({9}));
  queue.push(ticket_of({4}));
  EXPECT_EQ(lengths_of(queue.take(100)), (Lengths{9, 4, 2}));
}

TEST(Queue, ABatchHasTextsOfOneModel) {
  const int before = 0;
  const int after = 0;
  Queue queue;
  queue.push(ticket_of({1, 1}, &before));
  queue.push(ticket_of({2}, &after));
  queue.push(ticket_of({3}, &before));
  queue.push(ticket_of({4}, &after));
  EXPECT_EQ(lengths_of(queue.take(100)), (Lengths{3, 1, 1}));
  EXPECT_EQ(lengths_of(queue.take(100)), (Lengths{4, 2}));
  EXPECT_TRUE(queue.empty());
}

TEST(Queue, RemovesARequest) {
  Queue queue;
  const auto gone = ticket_of({1, 2, 3});
  const auto stays = ticket_of({4});
  queue.push(gone);
  queue.push(stays);
  queue.take(3);
  queue.remove(*gone);
  queue.remove(*gone);
  EXPECT_EQ(queue.texts(), 1u);
  EXPECT_EQ(queue.take(100).at(0).ticket, stays);
}

TEST(Queue, RemovesRequestsThatHadNoTurnInTime) {
  using std::chrono::seconds;
  Queue queue;
  const auto begun = ticket_of({1, 1}, nullptr, noon);
  const auto old = ticket_of({2}, nullptr, noon);
  const auto fresh = ticket_of({3}, nullptr, noon + seconds{2});
  queue.push(begun);
  queue.take(1);
  queue.push(old);
  queue.push(fresh);
  EXPECT_TRUE(queue.remove_older(noon).empty());
  const auto removed = queue.remove_older(noon + seconds{1});
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0], old);
  EXPECT_EQ(queue.texts(), 2u);
}

}  // namespace
}  // namespace seqtrain::serve
