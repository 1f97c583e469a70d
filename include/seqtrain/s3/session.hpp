#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/http/calls.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/http/renewed.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/s3/credentials.hpp>
#include <seqtrain/s3/signature.hpp>
#include <seqtrain/s3/uri.hpp>
#include <seqtrain/s3/xml.hpp>

namespace seqtrain::s3 {

using http::Forbidden, http::NotFound;

/// The error that an object is another one than the request requires.
struct PreconditionFailed : Error {
  using Error::Error;
};

/// The error that a service does not know what a request asks for, such as a condition of a write.
struct NotImplemented : InputError {
  using InputError::InputError;
};

/// Options of `Session`.
struct SessionOptions {
  std::string region = "us-east-1";
  std::optional<http::Url> endpoint = {};  ///< of another service than Amazon's
  bool path_style = false;                 ///< puts the bucket into the path, not into the host
  bool dual_stack = false;                 ///< uses Amazon's addresses that also have IPv6
  http::RetryPolicy retry = {};
  http::Timing timing = {};
  http::Log log = {};
};

/// A storage operation, as error messages name it.
struct Operation {
  Uri uri;
  std::string permission;  ///< the permission that it needs, e.g. `s3:GetObject`

  [[nodiscard]] std::string place() const { return uri.text(); }
};

/// The parts of an answer that tell about an error. Its other parts may have secrets.
struct Problem {
  std::string code = {};
  std::string message = {};
  std::string region = {};  ///< where the bucket is, if the region is the problem

  /// Reads the code and the message of an answer. An answer in another form gives none.
  static Problem of(const http::Response& response) {
    if (response.body.find("<Error") == std::string::npos) return {};
    try {
      const auto root = XmlReader::parse(response.body);
      if (root.name != "Error") return {};
      auto message = detail::one_line(root.text_of("Message"), 300);
      if (message.ends_with('.')) message.pop_back();
      return {detail::one_line(root.text_of("Code"), 80), std::move(message),
              root.text_of("Region")};
    } catch (const InputError&) {
      return {};
    }
  }
};

/// Returns why another attempt may succeed after an answer, or nothing if the answer is final.
inline std::optional<std::string> reason_to_repeat(const http::Response& response) {
  const auto code = Problem::of(response).code;
  const bool conflict = code == "ConditionalRequestConflict" || code == "OperationAborted";
  const bool failed = response.succeeded() && (code == "InternalError" || code == "SlowDown");
  const bool slow = code == "RequestTimeout" || code == "SlowDown" || code == "ServiceUnavailable";
  if (!http::is_retryable(response.status) && !conflict && !failed && !slow) return {};
  return "status " + std::to_string(response.status) + (code.empty() ? "" : " (" + code + ")");
}

/// Sends requests to S3 or to a service that speaks as S3. It signs them, repeats them if that may
/// help, and turns failures into plain errors. It sets its clock by the service's once, goes to the
/// bucket's own region, and renews keys that are refused. It follows no redirects. The target
/// of a request is that of the bucket: `/name?query`, encoded. Several threads may use it.
class Session : public http::Calls<Session, Operation> {
 public:
  Session(std::unique_ptr<http::Transport> transport, std::unique_ptr<Credentials> credentials,
          SessionOptions options)
      : options_{std::move(options)},
        transport_{std::move(transport)},
        credentials_{std::move(credentials)},
        keys_{"the keys",
              [this] {
                return credentials_->fetch(
                    {*transport_, options_.retry, options_.timing, options_.log});
              },
              options_.timing, options_.log} {
    options_.retry.validate();
    options_.timing.stop = stop();
    transport_->stop_at(stop());
  }

  [[nodiscard]] const SessionOptions& options() const noexcept { return options_; }

  /// Throws unless a request was carried out. Some errors come with the status 200.
  void demand_success(const http::Response& response, const Operation& operation) const {
    if (response.succeeded() && Problem::of(response).code.empty()) return;
    fail(response, operation);
  }

  /// Throws the error that an answer reports.
  [[noreturn]] void fail(const http::Response& response, const Operation& operation) const {
    const auto [code, message, named] = Problem::of(response);
    const auto text = (code.empty() ? "" : ": " + code) + (message.empty() ? "" : ": " + message);
    const Where where{.object = operation.uri.text()};
    const auto account = credentials_->account();
    const auto status = response.status;
    if (code == "NoSuchBucket") {
      throw NotFound{"no such bucket", where, "create it, or see its name and AWS_ENDPOINT_URL"};
    }
    if (status == 404) throw NotFound{"no such bucket or object" + text, where};
    if (status == 501) throw NotImplemented{"the service does not know this request" + text, where};
    if (status == 412) throw PreconditionFailed{"somebody else has changed the object", where};
    if (code == "ExpiredToken" || code == "InvalidToken" || code == "TokenRefreshRequired") {
      throw Forbidden{"the service does not accept " + account + " any more" + text, where,
                      "fetch new keys, for example by logging in again"};
    }
    if (code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || status == 401) {
      throw Forbidden{"the service does not accept " + account + text, where,
                      "see that these keys are complete, and of this service: AWS_ENDPOINT_URL"};
    }
    if (code == "RequestTimeTooSkewed") {
      throw Forbidden{"this machine's clock is wrong" + text, where, "set the clock"};
    }
    if (const auto region = region_of(response)) {
      throw InputError{"the bucket is in the region " + *region + text, where,
                       "set AWS_REGION=" + *region};
    }
    if (status == 301 || status == 307 || code == "AuthorizationHeaderMalformed") {
      throw InputError{"the bucket is at another address" + text, where,
                       "see AWS_REGION and AWS_ENDPOINT_URL"};
    }
    if (status == 403) {
      const bool reads = operation.permission == "s3:GetObject";
      const std::string more =
          reads ? "; without s3:ListBucket, a missing object looks like this too" : "";
      throw Forbidden{account + " may not do this" + text, where,
                      "the permission " + operation.permission + " is needed" + more};
    }
    const auto problem = "the service answered " + std::to_string(status) + text;
    const bool may_pass = status < 400 || status >= 500 || repeats(response);
    if (may_pass) throw Error{problem, where};
    throw InputError{problem, where, options_.endpoint ? "see AWS_ENDPOINT_URL" : ""};
  }

 private:
  friend class http::Calls<Session, Operation>;

  static std::optional<std::string> repeats(const http::Response& response) {
    return s3::reason_to_repeat(response);
  }

  /// Throws the error for a request that got no answer.
  [[noreturn]] void give_up(const http::TransportError& error, const Operation& operation) const {
    const auto problem = std::string{"the service cannot be reached: "} + error.what();
    const Where where{.object = operation.uri.text()};
    if (options_.endpoint) throw InputError{problem, where, "see AWS_ENDPOINT_URL"};
    const bool unreachable = dynamic_cast<const http::Unreachable*>(&error) != nullptr;
    if (unreachable) throw InputError{problem, where, "see AWS_REGION and the network"};
    throw Error{problem, where};
  }

  /// Sends one request. What a refusal tells about the clock, the region and the keys is put right
  /// once.
  http::Response exchange(const http::Request& request, const Operation& operation) {
    const auto& bucket = operation.uri.bucket;
    bool clock = true, region = true, renewal = true;
    while (true) {
      const auto keys = keys_.get();
      const auto sent_to = region_for(bucket);
      const std::int64_t ahead = ahead_;
      auto response = transport_->send(addressed(request, bucket, keys, sent_to, ahead));
      if (response.succeeded()) return response;
      const auto code = Problem::of(response).code;
      const bool unknown = request.method == "HEAD" && response.status == 400;
      const bool expired = code == "ExpiredToken" || code == "InvalidToken" || unknown;
      if (std::exchange(region, false) && go_to_region(response, bucket, sent_to)) continue;
      if (std::exchange(clock, false) && set_clock(response, code, ahead)) continue;
      if (expired && !keys.session_token.empty() && std::exchange(renewal, false)) {
        keys_.refuse(keys);
        continue;
      }
      return response;
    }
  }

  /// Returns the request with its address, and signed unless there are no keys.
  http::Request addressed(http::Request request, const std::string& bucket, const Keys& keys,
                          const std::string& region, std::int64_t ahead) const {
    request.url = address(bucket, region, request.url.target);
    if (keys.access_key.empty()) return request;
    const bool protected_by_tls = request.url.scheme == "https";
    const auto hash = protected_by_tls ? unsigned_payload : sha256_hex(request.body);
    sign(request, keys, {region, options_.timing.wall_seconds() + ahead}, hash);
    return request;
  }

  [[nodiscard]] http::Url address(const std::string& bucket, const std::string& region,
                                  const std::string& target) const {
    // The certificates of *.s3.amazonaws.com are not for names with dots.
    const bool in_path = options_.path_style || bucket.find('.') != bucket.npos;
    auto url = options_.endpoint.value_or(http::Url{"https", "s3", "443"});
    if (!options_.endpoint) {
      const std::string end = region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com";
      url.host += (options_.dual_stack ? ".dualstack." : ".") + region + end;
    }
    auto path =
        url.target.ends_with('/') ? url.target.substr(0, url.target.size() - 1) : url.target;
    if (in_path) path += "/" + bucket;
    if (!in_path) url.host = bucket + "." + url.host;
    url.target = path + target;
    return url;
  }

  std::string region_for(const std::string& bucket) {
    const std::lock_guard lock{mutex_};
    const auto found = regions_.find(bucket);
    return found == regions_.end() ? options_.region : found->second;
  }

  /// Returns the region that a refusal names. Some services name it in every answer, so the code
  /// of a refusal with status 400 must be that of a wrong region, or there must be none.
  static std::optional<std::string> region_of(const http::Response& response) {
    if (response.status != 301 && response.status != 307 && response.status != 400) return {};
    const auto problem = Problem::of(response);
    const bool other = !problem.code.empty() && problem.code != "AuthorizationHeaderMalformed";
    if (response.status == 400 && other) return {};
    auto region = response.find("x-amz-bucket-region");
    if (!region) region = problem.region;
    if (region->empty() || region->size() > 64) return {};
    const auto fits = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return std::ranges::all_of(*region, fits) ? region : std::nullopt;
  }

  /// Returns true if the bucket is in another region than the one that a request was sent to.
  bool go_to_region(const http::Response& response, const std::string& bucket,
                    const std::string& sent_to) {
    const auto region = region_of(response);
    if (!region || *region == sent_to) return false;
    if (*region == region_for(bucket)) return true;  // another thread has found it
    if (options_.log) options_.log("the bucket " + bucket + " is in the region " + *region);
    const std::lock_guard lock{mutex_};
    regions_[bucket] = *region;
    return true;
  }

  /// Returns true if the service refuses the time, and its own time is known now. An answer to HEAD
  /// has no code, so the difference to the time of the request decides, which was `sent_ahead` of
  /// this machine's.
  bool set_clock(const http::Response& response, const std::string& code, std::int64_t sent_ahead) {
    constexpr std::int64_t allowed = 5 * 60;
    const auto date = http::parse_http_date(response.find("Date").value_or(""));
    if (!date || response.status != 403) return false;
    const std::int64_t ahead = *date - options_.timing.wall_seconds();
    const auto off = std::abs(ahead - sent_ahead);
    if (code != "RequestTimeTooSkewed" && (!code.empty() || off < allowed)) return false;
    if (options_.log) {
      options_.log("this machine's clock is off by " + std::to_string(-ahead) +
                   " seconds; the service's time is used");
    }
    ahead_ = ahead;
    return true;
  }

  SessionOptions options_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<Credentials> credentials_;
  http::Renewed<Keys> keys_;
  std::atomic<std::int64_t> ahead_ = 0;  ///< seconds of the service's clock before this machine's
  std::mutex mutex_;
  std::map<std::string, std::string> regions_;  ///< of buckets in another region than the options'
};

}  // namespace seqtrain::s3
