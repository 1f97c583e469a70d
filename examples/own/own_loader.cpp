// A loader of your own: it makes the examples of each epoch anew.
#include <cstdint>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include <seqtrain/concepts.hpp>
#include <seqtrain/data.hpp>

using namespace seqtrain;

/// Makes batches of two texts. A text's label says whether its number of words is odd.
class MadeTexts {
 public:
  using batch_type = data::Batch;

  std::vector<data::Batch> epoch(std::int64_t number) const {
    data::EncodedSet set{10, 0};
    for (std::int64_t row = 0; row < examples(); ++row) {
      const std::vector<std::int32_t> ids(static_cast<std::size_t>(1 + (row + number) % 4), 7);
      set.push_back(ids, ids.size(), std::ssize(ids) % 2);
    }
    std::vector<data::Batch> batches;
    data::BucketLoader loader{std::move(set), {.plan = {.batch_size = 2}}};
    for (const auto& batch : loader.epoch(number)) batches.push_back(batch);
    return batches;
  }
  std::int64_t batches_in(std::int64_t) const { return 3; }
  std::int64_t examples() const { return 6; }
};

static_assert(Loader<MadeTexts>);

int main() {
  for (const auto& batch : MadeTexts{}.epoch(1)) std::cout << batch.tokens() << " tokens\n";
}
