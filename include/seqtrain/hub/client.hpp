#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/hub/digest.hpp>
#include <seqtrain/hub/errors.hpp>
#include <seqtrain/hub/name.hpp>
#include <seqtrain/hub/settings.hpp>

namespace seqtrain::hub {

/// Sends requests to the hub and to the storage that it points to. Only requests to the hub carry
/// the token. Several threads may use one sender.
class Sender {
 public:
  /// An answer and its origin.
  struct Answer {
    http::Response response;
    bool by_hub;  ///< true if the hub answered, false if its storage did
  };

  Sender(std::unique_ptr<http::Transport> transport, Settings settings)
      : transport_{std::move(transport)}, settings_{std::move(settings)} {}

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }

  /// Sends a request and follows redirects, to other hosts only if `elsewhere` is set. Every host
  /// gets the headers of the request, and only the hub gets the token. Throws `TransportError`, or
  /// `TrustError` if a redirect leads from an encrypted address to one that is not.
  [[nodiscard]] Answer send(http::Request request, bool elsewhere) const {
    const auto headers = request.headers;
    const bool has_token = std::ranges::any_of(headers, [](const http::Header& header) {
      return equal_but_case(header.name, "Authorization");
    });
    for (int redirects = 0; redirects <= 10; ++redirects) {
      const bool by_hub = is_hub(request.url);
      request.headers = headers;
      if (by_hub && !has_token && !settings_.token.empty()) {
        request.headers.push_back({"Authorization", "Bearer " + settings_.token});
      }
      auto response = transport_->send(request);
      const auto location = response.redirection();
      if (!location) return {std::move(response), by_hub};
      const auto next = request.url.at(*location, "an address that the hub sent");
      if (!elsewhere && !is_hub(next)) return {std::move(response), by_hub};
      demand_encryption(request.url, next);
      request.url = next;
    }
    throw http::TrustError{"redirected too often", {.object = settings_.endpoint.origin()}};
  }

  /// Throws `TrustError` if a redirect from `from` to `to` would end encryption.
  static void demand_encryption(const http::Url& from, const http::Url& to) {
    if (from.scheme != "https" || to.scheme == "https") return;
    throw http::TrustError{"the hub points to " + to.origin() + ", which is not encrypted",
                           {.object = from.origin()}};
  }

 private:
  /// Tells whether an address belongs to the endpoint or to the public hub, to which mirrors
  /// redirect.
  [[nodiscard]] bool is_hub(const http::Url& url) const {
    const auto origin = url.origin();
    return origin == settings_.endpoint.origin() || origin == public_hub;
  }

  std::unique_ptr<http::Transport> transport_;
  Settings settings_;
};

/// Options of `Client`.
struct ClientOptions {
  http::RetryPolicy retry = {.total = http::Seconds{60}};
  http::Timing timing = {};
  http::Log log = {};  ///< receives a line for each failed attempt
};

/// A repository at one commit.
struct Listing {
  std::string commit;
  std::vector<std::string> files;  ///< relative paths with `/` between folders
};

/// A file of a repository at one commit.
struct RemoteFile {
  std::string path;
  std::string hash;  ///< hash of the content, see `Digest`; also the name of the blob in the cache
  std::uint64_t size = 0;
};

/// Returns the path in the hub's API for a part such as `commit` of a repository's revision.
[[nodiscard]] inline std::string api_path(const Name& name, std::string_view part) {
  return "/api/" + std::string{hub::name(name.kind)} + "s/" + name.id + "/" + std::string{part} +
         "/" + http::percent_encode(name.revision);
}

/// Asks the hub for the names and contents of files. Failed requests are repeated by the rules of
/// `RetryPolicy`. The token is sent only to the hub, not to its storage. Throws `NotFound`,
/// `Forbidden` or `Unavailable`. Several threads may use one client.
class Client {
 public:
  Client(std::unique_ptr<http::Transport> transport, Settings settings, ClientOptions options = {})
      : sender_{std::move(transport), std::move(settings)}, options_{std::move(options)} {
    options_.retry.validate();
  }

  [[nodiscard]] const Settings& settings() const noexcept { return sender_.settings(); }
  [[nodiscard]] const Sender& sender() const noexcept { return sender_; }
  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }

  /// Returns the commit that a name points to now, and its files. If no connection to the hub can
  /// be made, there is no retry.
  [[nodiscard]] Listing list(const Name& name) const {
    const auto path = api_path(name, "revision");
    auto attempts = retry(name.text());
    while (true) {
      const auto answer = attempt(attempts, {.url = settings().url(path)}, name, true, "");
      if (answer) return read_listing(answer->body, name);
    }
  }

  /// Returns size and hash of a file of a commit.
  [[nodiscard]] RemoteFile look_at(const Name& name, const std::string& commit,
                                   const std::string& path) const {
    const http::Request request{.method = "HEAD",
                                .url = file_url(name, commit, path),
                                .headers = {{"Accept-Encoding", "identity"}}};
    auto attempts = retry(name.text() + ": " + path);
    while (true) {
      const auto answer = attempt(attempts, request, name, false, path);
      if (answer) return read_head(*answer, name, commit, path);
    }
  }

  /// Reads a file's content into `target`, starting at the byte `target.size()`. `target` also has
  /// `append(bytes)`, and `clear()`, which is called before the content is read again from its
  /// start. After a broken connection reading continues at the next byte. The content is not
  /// verified.
  template <class Target>
  void read(const Name& name, const std::string& commit, const RemoteFile& file,
            Target& target) const {
    auto attempts = retry(name.text() + ": " + file.path);
    std::uint64_t furthest = target.size();
    while (target.size() < file.size) {
      http::Request request{.url = file_url(name, commit, file.path),
                            .headers = {{"Accept-Encoding", "identity"}},
                            .max_answer = file.size};
      const auto begin = target.size();
      if (begin > 0) request.headers.push_back({"Range", "bytes=" + std::to_string(begin) + "-"});
      request.before_body = [&](const http::Response& answer) {
        if (answer.status == 200 && begin > 0) target.clear();
        if (answer.status == 206) check_range(answer, begin, name, file.path);
      };
      request.sink = [&](std::span<const std::byte> bytes) {
        target.append(bytes);
        if (target.size() <= furthest) return;  // bytes that had arrived before
        furthest = target.size();
        attempts.progressed();
      };
      const auto answer = attempt(attempts, std::move(request), name, true, file.path);
      if (answer && answer->status == 416) target.clear();
      const bool incomplete = answer && target.size() < file.size;
      if (incomplete && !attempts.wait("the answer is too short")) {
        throw Unavailable{"the hub's answers are too short", {name.text(), 0, file.path}};
      }
    }
  }

 private:
  [[nodiscard]] http::Retry retry(const std::string& what) const {
    return {options_.retry, options_.timing, options_.log, what};
  }

  [[nodiscard]] http::Url file_url(const Name& name, const std::string& commit,
                                   const std::string& path) const {
    auto target =
        (name.kind == Kind::dataset ? "/datasets/" : "/") + name.id + "/resolve/" + commit;
    for (const auto part : split(path, '/')) target += '/' + http::percent_encode(part);
    return settings().url(target);
  }

  /// Makes one attempt. If it fails, waits for the next one and returns nothing.
  std::optional<http::Response> attempt(http::Retry& attempts, http::Request request,
                                        const Name& name, bool elsewhere,
                                        const std::string& file) const {
    const Where where{.object = name.text(), .field = file};
    try {
      const auto answer = sender_.send(std::move(request), elsewhere);
      const auto& response = answer.response;
      // The address of a download may have expired; the hub gives a new one.
      const bool stale = !answer.by_hub && response.status >= 400 && response.status != 416;
      if (!stale && !http::is_retryable(response.status)) {
        const bool done = response.status < 400 || (!file.empty() && response.status == 416);
        if (!done) Failure{settings(), name}.raise(response, file);
        return response;
      }
      const auto reason = "status " + std::to_string(response.status);
      if (attempts.wait(reason, http::retry_after(response, options_.timing))) return {};
      if (!stale) Failure{settings(), name}.raise(response, file);
      throw Unavailable{"the hub's storage answered " + std::to_string(response.status), where};
    } catch (const http::Unreachable& error) {
      if (!file.empty() && attempts.wait(error.what())) return {};
      throw Unavailable{std::string{"the hub cannot be reached: "} + error.what(), where};
    } catch (const http::TransportError& error) {
      if (attempts.wait(error.what())) return {};
      throw Unavailable{std::string{"the hub cannot be reached: "} + error.what(), where};
    }
  }

  [[noreturn]] void refuse(const std::string& problem, const Name& name,
                           const std::string& path = "") const {
    throw not_a_hub(settings(), {.object = name.text(), .field = path}, problem);
  }

  [[nodiscard]] Listing read_listing(const std::string& body, const Name& name) const {
    try {
      const auto document = json::Document::parse(body, "answer");
      Listing listing{.commit = std::string{document.root().at("sha").string()}, .files = {}};
      if (!is_commit(listing.commit)) refuse("no commit", name);
      for (const auto& sibling : document.root().at("siblings").items()) {
        std::string path{sibling.at("rfilename").string()};
        if (is_local(path)) listing.files.push_back(std::move(path));
      }
      return listing;
    } catch (const InputError& error) {
      refuse(error.what(), name);
    }
  }

  /// Tells whether a path stays below the folder that it is relative to.
  static bool is_local(std::string_view path) {
    if (path.find('\0') != path.npos) return false;
    return std::ranges::all_of(split(path, '/'), [](std::string_view part) {
      return !part.empty() && part != "." && part != ".." && part.size() <= 255;
    });
  }

  [[nodiscard]] RemoteFile read_head(const http::Response& head, const Name& name,
                                     const std::string& commit, const std::string& path) const {
    const bool redirects = head.redirection().has_value();
    if (head.find("X-Repo-Commit") != commit) refuse("not of the commit " + commit, name, path);
    auto hash = head.find("X-Linked-Etag");
    if (!hash) hash = head.find("ETag");
    if (hash && hash->starts_with("W/")) hash->erase(0, 2);
    if (hash) std::erase(*hash, '"');
    if (!hash || !Digest::is_hash(*hash)) refuse("no hash of the file", name, path);
    auto length = head.find("X-Linked-Size");
    if (!length && !redirects) length = head.find("Content-Length");
    const auto size = length ? parse_number<std::uint64_t>(*length) : std::nullopt;
    if (!size) refuse("no size of the file", name, path);
    return {.path = path, .hash = *hash, .size = *size};
  }

  void check_range(const http::Response& answer, std::uint64_t begin, const Name& name,
                   const std::string& path) const {
    const auto range = answer.find("Content-Range").value_or("");
    if (!range.starts_with("bytes " + std::to_string(begin) + "-")) {
      refuse("another range than was asked for", name, path);
    }
  }

  Sender sender_;
  ClientOptions options_;
};

}  // namespace seqtrain::hub
