#pragma once

#include <algorithm>
#include <string>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/settings.hpp>

namespace seqtrain::hub {

using http::Forbidden, http::NotFound;

/// The error that the hub cannot be reached or cannot answer now.
struct Unavailable : Error {
  using Error::Error;
};

/// Returns the error for an answer that a hub would not give. The caller throws it.
[[nodiscard]] inline Unavailable not_a_hub(const Settings& settings, const Where& where,
                                           const std::string& problem) {
  return Unavailable{"the answer of " + settings.endpoint.origin() + " is not a hub's: " + problem,
                     where, "see HF_ENDPOINT, and HTTPS_PROXY if there is a proxy"};
}

/// Turns error responses of the hub into exceptions.
class Failure {
 public:
  Failure(const Settings& settings, const Name& name) : settings_{settings}, name_{name} {}

  /// Throws the error that a response reports. `file` is empty unless the request was for a file.
  [[noreturn]] void raise(const http::Response& response, const std::string& file = "") const {
    const auto code = response.find("X-Error-Code").value_or("");
    const Where where{.object = name_.text(), .field = file};
    if (code == "GatedRepo") throw gated(where);
    if (code == "RevisionNotFound") {
      throw NotFound{"has no revision '" + name_.revision + "'", where, "see " + page()};
    }
    if (code == "EntryNotFound") throw NotFound{"has no such file", where, "see " + page()};
    switch (response.status) {
      case 401:
        refuse_account(code, where);
      case 403:
        throw Forbidden{"the hub does not allow this" + said(response), where,
                        "see HF_TOKEN and " + page()};
      case 404:
        throw absent(where);
      case 429:
        throw Unavailable{"the hub gets too many requests from here" + asked_wait(response), where,
                          settings_.token.empty() ? "try again later, or with HF_TOKEN, which has "
                                                    "a limit of its own"
                                                  : "try again later"};
      default:
        throw Unavailable{"the hub answered " + std::to_string(response.status) + said(response),
                          where};
    }
  }

 private:
  /// Returns the address of the repository's web page.
  [[nodiscard]] std::string page() const {
    const auto url = settings_.url((name_.kind == Kind::dataset ? "/datasets/" : "/") + name_.id);
    return url.origin() + url.target;
  }

  [[nodiscard]] Forbidden gated(const Where& where) const {
    const auto login = settings_.token.empty() ? ", then set HF_TOKEN to a token of that account"
                                               : " with the account that HF_TOKEN belongs to";
    return Forbidden{"its owners ask for conditions to be accepted first", where,
                     "accept them at " + page() + login};
  }

  /// Throws the error for status 401, which the hub sends for private repositories and for those
  /// that do not exist.
  [[noreturn]] void refuse_account(const std::string& code, const Where& where) const {
    if (settings_.token.empty() || code == "RepoNotFound") throw absent(where);
    throw Forbidden{"the hub does not accept the token", where,
                    "see HF_TOKEN, or the token file in HF_HOME"};
  }

  [[nodiscard]] NotFound absent(const Where& where) const {
    return NotFound{"there is no such " + std::string{hub::name(name_.kind)} + " at " +
                        settings_.endpoint.origin() + ", or it is private",
                    where, "check the name; a private one needs HF_TOKEN"};
  }

  static std::string asked_wait(const http::Response& response) {
    const auto wait = response.find("Retry-After");
    const bool seconds = wait && wait->find_first_not_of("0123456789") == wait->npos;
    return seconds ? ", and asks to wait " + *wait + " s" : "";
  }

  /// Returns the hub's own message as one line, from the header or else from the body.
  static std::string said(const http::Response& response) {
    auto text = response.find("X-Error-Message").value_or("");
    if (text.empty()) text = error_in(response.body);
    text = text.substr(0, 300);
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text.empty() ? "" : ": " + text;
  }

  static std::string error_in(const std::string& body) {
    try {
      const auto document = json::Document::parse(body, "answer");
      const auto error = document.root().find("error");
      return error && error->is_string() ? std::string{error->string()} : "";
    } catch (const InputError&) {  // the body is not a JSON object
      return {};
    }
  }

  const Settings& settings_;
  const Name& name_;
};

}  // namespace seqtrain::hub
