// error: a rule has update(group, rates)
#include <seqtrain/optim/by_rule.hpp>

using namespace seqtrain;

struct StillRule {
  using Options = optim::RuleOptions;
  Options options;

  optim::StateTensors fresh(const tensor::Parameter&) const { return {}; }
#ifdef MISTAKE
  void update(optim::Group<>& group) const {
    group.values.clear();
  }
#else
  void update(const optim::Group<>&, const optim::Rates&) const {}
#endif
};

int main() {
  return optim::ByRule<StillRule>{}.learning_rate() > 1;
}
