#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/hub/ask.hpp>
#include <seqtrain/hub/client.hpp>
#include <seqtrain/hub/name.hpp>

namespace seqtrain::hub {

/// The account that a token belongs to.
struct Account {
  std::string name;
  std::vector<std::string> organizations = {};
  /// The token's role: `read`, `write` or `fineGrained`; empty if the hub does not give it.
  std::string role = {};

  /// Tells whether the account can own repositories whose names begin with `owner/`: `owner` is the
  /// account or an organization that it is a member of. Letter case is ignored.
  [[nodiscard]] bool owns(std::string_view owner) const {
    const auto is_owner = [&](const auto& one) { return equal_but_case(one, owner); };
    return is_owner(name) || std::ranges::any_of(organizations, is_owner);
  }
};

/// Returns the account of the client's token. Throws `Forbidden` if the hub does not accept the
/// token, or `Unavailable`. Errors name the repository `name`.
[[nodiscard]] inline Account account_of(const hub::Client& client, const hub::Name& name) {
  const auto answer = hub::demand(client, name, {.url = client.settings().url("/api/whoami-v2")});
  return hub::read_answer(client, name, answer, [](const json::Value& root) {
    Account account{.name = std::string{root.at("name").string()}};
    if (const auto organizations = root.find("orgs")) {
      for (const auto& one : organizations->items()) {
        account.organizations.emplace_back(one.at("name").string());
      }
    }
    const auto auth = root.find("auth");
    const auto token = auth ? auth->find("accessToken") : std::nullopt;
    const auto role = token ? token->find("role") : std::nullopt;
    if (role) account.role = role->string();
    return account;
  });
}

/// Throws `InputError` if it is certain, before anything is sent, that the client cannot write to a
/// repository: the name lacks an owner or has a revision, there is no token, the token can only
/// read, or the account does not own the repository. Only the hub knows what a fine-grained token
/// may do, so it may still refuse a push.
inline void check_may_push(const hub::Client& client, const hub::Name& name) {
  const auto slash = name.id.find('/');
  if (slash == name.id.npos || name.revision != "main") {
    throw InputError{"is not the name of a repository to push to",
                     {.object = name.text()},
                     "write org/name, or the name of your account in place of org"};
  }
  if (client.settings().offline) {
    throw InputError{
        "cannot be pushed to in offline mode", {.object = name.text()}, "unset HF_HUB_OFFLINE"};
  }
  if (client.settings().token.empty()) {
    throw InputError{"needs a token to be pushed to",
                     {.object = name.text()},
                     "set HF_TOKEN to a token that may write, or run hf auth login"};
  }
  const auto account = account_of(client, name);
  if (account.role == "read") {
    throw hub::Forbidden{"the token of " + account.name + " may only read",
                         {.object = name.text()},
                         "set HF_TOKEN to a token that may write"};
  }
  if (account.role != "fineGrained" && !account.owns(name.id.substr(0, slash))) {
    throw hub::Forbidden{
        "the account " + account.name + " is not a member of " + name.id.substr(0, slash),
        {.object = name.text()},
        "push to " + account.name + name.id.substr(slash) +
            ", or set HF_TOKEN to the token of a member"};
  }
}

}  // namespace seqtrain::hub
