#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/http/timing.hpp>
#include <seqtrain/s3/checksum.hpp>
#include <seqtrain/s3/client.hpp>
#include <seqtrain/s3/credentials.hpp>

#include "support/fake_storage.hpp"
#include "support/fake_transport.hpp"
#include "support/sleepless_time.hpp"

namespace seqtrain::tests {

/// S3's rules for objects in memory, with the bucket in the path: ETags, conditions, checksums,
/// pages, ranges, uploads in parts. Errors have the service's XML.
class FakeS3 {
 public:
  using Answer = http::Response;

  Answer handle(const ServerRequest& request) {
    const std::lock_guard lock{mutex_};
    if (auto refusal = authorise(request)) return *refusal;
    const auto question = std::min(request.target.find('?'), request.target.size());
    const auto path = request.target.substr(1, question - 1);
    const auto query =
        parse_query(request.target.substr(std::min(question + 1, request.target.size())));
    const auto slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) != "bucket") return problem(404, "NoSuchBucket", "no bucket here");
    const auto name = percent_decode(path.substr(std::min(slash + 1, path.size())));
    if (name.empty()) return list(query);
    if (query.contains("uploads")) return begin(request, name);
    const auto named = request.header("x-amz-sdk-checksum-algorithm");
    if (locks_objects && request.method == "PUT" && named != "CRC32C") {
      return problem(400, "MissingUploadObjectWithObjectLockHeaders", "header required");
    }
    if (query.contains("uploadId")) return upload(request, query, name);
    if (request.method == "PUT") return put(request, name);
    if (request.method == "DELETE") return objects_.erase(name), Answer{204};
    return get(request, query, name);
  }

  [[nodiscard]] std::optional<std::string> read(const std::string& name) {
    const std::lock_guard lock{mutex_};
    const auto found = objects_.find(name);
    if (found == objects_.end()) return {};
    return found->second.bytes;
  }
  /// Writes an object as another program does.
  void write(const std::string& name, std::string bytes) {
    const std::lock_guard lock{mutex_};
    store(name, {.bytes = std::move(bytes)});
  }
  /// Writes an object as another program does that sends these parts.
  void write_parts(const std::string& name, const std::vector<std::string>& parts) {
    const std::lock_guard lock{mutex_};
    store(name, joined(parts));
  }
  [[nodiscard]] std::vector<std::string> names() {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> names;
    for (const auto& [name, object] : objects_) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::size_t objects() {
    const std::lock_guard lock{mutex_};
    return objects_.size();
  }
  [[nodiscard]] std::size_t open_uploads() {
    const std::lock_guard lock{mutex_};
    return uploads_.size();
  }

  /// Faults and features of the service, set before requests are sent.
  std::size_t page_size = 1000;
  bool has_checksums = true;        ///< keeps the checksums that are sent with objects
  bool keeps_conditions = true;     ///< false: ignores If-Match and If-None-Match
  std::string unknown_header = {};  ///< a condition that is refused by the status 501
  int damage_reads = 0;             ///< flips a bit in so many answers
  bool damage_writes = false;       ///< flips a bit of each stored object
  bool fails_in_ok = false;         ///< the end of an upload is an error with the status 200, once
  std::string region = "us-east-1";
  std::int64_t ahead = 0;          ///< seconds of the service's clock before the test's
  std::string refused_token = {};  ///< a session token that has expired
  std::string denied = {};         ///< a method that nobody may use
  bool locks_objects = false;      ///< keeps each object for a time, so SDKs name the checksum

 private:
  struct Object {
    std::string bytes;
    std::string token = {};
    std::string crc32c = {};
    std::string etag = {};
    std::vector<std::size_t> parts = {};  ///< their sizes, of an object that was sent in parts
    int number = 0;
  };
  struct Upload {
    std::string token;
    std::map<int, std::string> parts;
  };
  using Query = std::map<std::string, std::string>;

  static Query parse_query(const std::string& text) {
    Query query;
    for (const auto field : split(text, '&')) {
      const auto equal = std::min(field.find('='), field.size());
      if (!field.empty()) {
        query[std::string{field.substr(0, equal)}] =
            percent_decode(field.substr(std::min(equal + 1, field.size())));
      }
    }
    return query;
  }

  static Answer problem(int status, const std::string& code, const std::string& message) {
    return {status,
            {{"Content-Type", "application/xml"}},
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code +
                "</Code><Message>" + message + "</Message><Token-0>secret</Token-0></Error>"};
  }

  /// Returns the refusal of a request's time, region, keys or method, or nothing.
  std::optional<Answer> authorise(const ServerRequest& request) {
    if (request.method == denied) return problem(403, "AccessDenied", "Access Denied");
    const auto authorization = request.header("Authorization");
    if (authorization.empty()) return {};
    constexpr std::time_t start = 1'700'000'000;  // of SleeplessTime
    const auto now = start + ahead;
    std::tm parts{};
    ::strptime(request.header("x-amz-date").c_str(), "%Y%m%dT%H%M%SZ", &parts);
    if (std::abs(::timegm(&parts) - now) > 900) {
      auto answer = problem(403, "RequestTimeTooSkewed", "The difference is too large");
      std::tm date{};
      ::gmtime_r(&now, &date);
      char text[64];
      std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &date);
      answer.headers.push_back({"Date", text});
      return answer;
    }
    if (authorization.find("/" + region + "/s3/aws4_request") == std::string::npos) {
      auto answer = problem(400, "AuthorizationHeaderMalformed", "wrong region");
      answer.headers.push_back({"x-amz-bucket-region", region});
      return answer;
    }
    const auto token = request.header("x-amz-security-token");
    if (!refused_token.empty() && token == refused_token) {
      return problem(400, "ExpiredToken", "The provided token has expired.");
    }
    return {};
  }

  static std::string md5(const std::string& bytes) {
    s3::detail::Md5 sum;
    sum.update(http::bytes_of(bytes));
    return hex(sum.digest());
  }

  Object& store(const std::string& name, Object object) {
    if (damage_writes && !object.bytes.empty()) object.bytes[object.bytes.size() / 2] ^= 1;
    if (object.etag.empty()) object.etag = md5(object.bytes);
    if (!has_checksums) object.crc32c.clear();
    object.number = ++writes_;
    return objects_[name] = std::move(object);
  }

  /// Returns the object that parts make.
  static Object joined(const std::vector<std::string>& parts) {
    Object object;
    std::string sums;
    for (const auto& bytes : parts) {
      object.bytes += bytes;
      object.parts.push_back(bytes.size());
      s3::detail::Md5 sum;
      sum.update(http::bytes_of(bytes));
      const auto digest = sum.digest();
      sums.append(reinterpret_cast<const char*>(digest.data()), digest.size());
    }
    object.etag = md5(sums) + "-" + std::to_string(parts.size());
    return object;
  }

  /// Returns the refusal of a write whose condition does not hold, or nothing.
  std::optional<Answer> check_conditions(const ServerRequest& request, const std::string& name) {
    if (!keeps_conditions) return {};
    if (!unknown_header.empty() && !request.header(unknown_header).empty()) {
      return problem(501, "NotImplemented", "A header you provided implies a function");
    }
    const auto found = objects_.find(name);
    const auto match = request.header("If-Match");
    if (!match.empty() && found == objects_.end()) return problem(404, "NoSuchKey", "no such key");
    const bool other = !match.empty() && match != '"' + found->second.etag + '"';
    const bool exists = request.header("If-None-Match") == "*" && found != objects_.end();
    if (other || exists) return problem(412, "PreconditionFailed", "no match");
    return {};
  }

  Answer put(const ServerRequest& request, const std::string& name) {
    if (auto refusal = check_conditions(request, name)) return *refusal;
    const auto sum = request.header("x-amz-checksum-crc32c");
    if (has_checksums && sum != http::base64_of(Crc32c{}.update(request.body).value())) {
      return problem(400, "BadDigest", "The CRC32C you specified did not match");
    }
    const auto& object =
        store(name, {request.body, request.header("x-amz-meta-seqtrain-write"), sum});
    Answer answer{200, {{"ETag", '"' + object.etag + '"'}}, {}};
    // A service that damages what it stores says so by its checksum.
    const auto stored = http::base64_of(Crc32c{}.update(object.bytes).value());
    if (has_checksums) answer.headers.push_back({"x-amz-checksum-crc32c", stored});
    return answer;
  }

  Answer get(const ServerRequest& request, const Query& query, const std::string& name) {
    const auto found = objects_.find(name);
    if (found == objects_.end()) return problem(404, "NoSuchKey", "no such key");
    if (auto refusal = check_conditions(request, name)) return *refusal;
    const auto& object = found->second;
    Answer answer{200,
                  {{"ETag", '"' + object.etag + '"'},
                   {"Last-Modified", "write " + std::to_string(object.number)}},
                  object.bytes};
    if (!object.token.empty())
      answer.headers.push_back({"x-amz-meta-seqtrain-write", object.token});
    if (request.header("x-amz-checksum-mode") == "ENABLED" && !object.crc32c.empty()) {
      answer.headers.push_back({"x-amz-checksum-crc32c", object.crc32c});
      answer.headers.push_back({"x-amz-checksum-type", "FULL_OBJECT"});
    }
    if (query.contains("partNumber")) {
      answer.status = 206;
      std::size_t begin = 0;
      const auto part = static_cast<std::size_t>(std::stoi(query.at("partNumber"))) - 1;
      if (part >= object.parts.size()) return problem(416, "InvalidPartNumber", "no such part");
      for (std::size_t i = 0; i < part; ++i) begin += object.parts[i];
      answer.body = object.bytes.substr(begin, object.parts[part]);
    }
    std::size_t first = 0, last = 0;
    const auto range = request.header("Range");
    if (std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last) == 2) {
      answer.status = 206;
      answer.body = object.bytes.substr(first, last - first + 1);
      answer.headers.push_back({"Content-Range", "bytes " + std::to_string(first) + "-" +
                                                     std::to_string(last) + "/" +
                                                     std::to_string(object.bytes.size())});
      if (damage_reads > 0 && damage_reads-- > 0) answer.body[answer.body.size() / 2] ^= 1;
    }
    return answer;
  }

  Answer list(const Query& query) {
    const auto prefix = query.at("prefix");
    const auto token =
        query.contains("continuation-token") ? percent_decode(query.at("continuation-token")) : "";
    std::string text =
        "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3/\">"
        "<EncodingType>url</EncodingType>";
    std::string next;
    std::size_t count = 0;
    for (auto at = objects_.lower_bound(std::max(prefix, token)); at != objects_.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      if (++count > page_size) {
        next = at->first;
        break;
      }
      auto key = http::percent_encode(at->first);
      for (auto space = key.find("%20"); space != key.npos; space = key.find("%20")) {
        key.replace(space, 3, "+");
      }
      text += "<Contents><Key>" + key + "</Key><ETag>&quot;" + at->second.etag +
              "&#34;</ETag><Size>" + std::to_string(at->second.bytes.size()) + "</Size></Contents>";
    }
    if (!next.empty())
      text += "<NextContinuationToken>" + http::percent_encode(next) + "</NextContinuationToken>";
    text += std::string{"<IsTruncated>"} + (next.empty() ? "false" : "true");
    return {200, {}, text + "</IsTruncated></ListBucketResult>"};
  }

  Answer begin(const ServerRequest& request, const std::string&) {
    const auto id = "upload/" + std::to_string(++uploads_begun_) + "+=";
    uploads_[id] = {request.header("x-amz-meta-seqtrain-write"), {}};
    return {200,
            {},
            "<InitiateMultipartUploadResult><UploadId>" + id +
                "</UploadId></InitiateMultipartUploadResult>"};
  }

  Answer upload(const ServerRequest& request, const Query& query, const std::string& name) {
    const auto found = uploads_.find(query.at("uploadId"));
    if (found == uploads_.end()) return problem(404, "NoSuchUpload", "no such upload");
    auto& parts = found->second.parts;
    if (request.method == "PUT") {
      const auto sum = http::base64_of(Crc32c{}.update(request.body).value());
      if (request.header("x-amz-checksum-crc32c") != sum) return problem(400, "BadDigest", "part");
      parts[std::stoi(query.at("partNumber"))] = request.body;
      return {200, {{"ETag", '"' + md5(request.body) + '"'}}, {}};
    }
    if (request.method == "DELETE") return uploads_.erase(found), Answer{204};
    if (std::exchange(fails_in_ok, false)) {
      auto answer = problem(500, "InternalError", "We encountered an internal error.");
      answer.status = 200;
      answer.body.insert(0, 1000, ' ');
      return answer;
    }
    return join(request, found->first, name);
  }

  Answer join(const ServerRequest& request, const std::string& id, const std::string& name) {
    const auto& upload = uploads_.at(id);
    std::vector<std::string> parts;
    for (const auto& [number, bytes] : upload.parts) {
      if (request.body.find(md5(bytes)) == std::string::npos) {
        return problem(400, "InvalidPart", "a part is missing");
      }
      parts.push_back(bytes);
    }
    auto object = joined(parts);
    object.token = upload.token;
    object.crc32c = request.header("x-amz-checksum-crc32c");
    const auto whole = http::base64_of(Crc32c{}.update(object.bytes).value());
    if (has_checksums && object.crc32c != whole) return problem(400, "BadDigest", "whole");
    auto& stored = store(name, std::move(object));
    if (has_checksums) stored.crc32c = http::base64_of(Crc32c{}.update(stored.bytes).value());
    uploads_.erase(id);
    return {200, {}, "<CompleteMultipartUploadResult/>"};
  }

  std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::map<std::string, Upload> uploads_;
  int uploads_begun_ = 0;
  int writes_ = 0;
};

/// Keys that are numbered by how often they were fetched.
class CountingKeys final : public s3::Credentials {
 public:
  [[nodiscard]] http::Fresh<s3::Keys> fetch(const http::FetchContext&) const override {
    const auto number = std::to_string(++fetched_);
    return {{"key", "secret", "token-" + number}, http::Seconds{3600}};
  }
  [[nodiscard]] std::string account() const override { return "the role test"; }

 private:
  mutable std::atomic<int> fetched_ = 0;
};

/// A service and clients that reach it without a network and without waits.
struct OfflineS3 {
  s3::Client client(s3::SessionOptions options = {}) {
    auto fake = std::make_unique<FakeTransport>([this](const FakeTransport::Seen& seen) {
      ++requests;
      if (answers) {
        if (auto answer = answers(seen)) return *answer;
      }
      auto response = storage.handle({seen.method, seen.target, seen.headers, seen.body});
      response.headers.push_back({"Content-Length", std::to_string(response.body.size())});
      if (seen.method == "HEAD") response.body.clear();
      return response;
    });
    transport = fake.get();
    options.endpoint = http::Url{"http", "127.0.0.1", "9000"};
    options.path_style = true;
    options.timing = time.timing();
    options.log = [this](std::string_view line) {
      const std::lock_guard lock{mutex};
      log += std::string{line} + '\n';
    };
    return s3::Client{std::make_unique<s3::Session>(
        std::move(fake), std::make_unique<CountingKeys>(), std::move(options))};
  }

  FakeS3 storage;
  SleeplessTime time;
  std::atomic<int> requests = 0;
  /// Answers in place of the service, unless it returns nothing.
  std::function<std::optional<http::Response>(const FakeTransport::Seen&)> answers = {};
  FakeTransport* transport = nullptr;
  std::mutex mutex;
  std::string log;
};

}  // namespace seqtrain::tests
