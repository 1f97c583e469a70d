#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/dist/address.hpp>

namespace seqtrain::dist {
namespace {

/// Returns the message of the `InputError` that `action` throws, or "".
template <class Action>
std::string address_problem(const Action& action) {
  try {
    static_cast<void>(action());
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

/// Returns an address of this machine that other machines may reach, or "".
std::string outer_address() {
  for (const auto& [interface, address] : detail::interface_addresses()) {
    if (!detail::is_loopback(address) && address.find(':') == std::string::npos) return address;
  }
  return {};
}

TEST(AddressTowards, IsLoopbackIfTheMasterIs) {
  for (const auto* master : {"127.0.0.1", "127.0.1.1", "localhost"}) {
    for (const bool other_hosts : {false, true}) {
      const auto address = address_towards(master, 29500, other_hosts);
      EXPECT_TRUE(address == "127.0.0.1" || address == "::1") << master << " " << address;
    }
  }
}

TEST(AddressTowards, IsTheMastersOwnOnTheMaster) {
  const auto own = outer_address();
  if (own.empty()) GTEST_SKIP() << "this machine has no network";
  EXPECT_EQ(address_towards(own, 29500), own);
}

TEST(AddressTowards, LeadsOutwardIfTheMastersNameIsLoopbackOnTheMasterAlone) {
  if (outer_address().empty()) GTEST_SKIP() << "this machine has no network";
  EXPECT_FALSE(detail::is_loopback(detail::outward_address("127.0.0.1")));
}

TEST(AddressTowards, NamesWhatDoesNotResolve) {
  const auto problem = address_problem([] { return address_towards("no-such-host.invalid", 1); });
  EXPECT_NE(problem.find("no-such-host.invalid"), std::string::npos) << problem;
}

TEST(AddressOfInterface, TakesANameOrAnAddress) {
  EXPECT_EQ(address_of_interface("lo"), "127.0.0.1");
  EXPECT_EQ(address_of_interface("127.0.0.1"), "127.0.0.1");
}

TEST(AddressOfInterface, ListsThoseThereAre) {
  const auto problem = address_problem([] { return address_of_interface("eth77"); });
  EXPECT_NE(problem.find("eth77"), std::string::npos) << problem;
  EXPECT_NE(problem.find("lo 127.0.0.1"), std::string::npos) << problem;
}

}  // namespace
}  // namespace seqtrain::dist
