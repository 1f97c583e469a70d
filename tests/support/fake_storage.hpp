#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/gcs/object_info.hpp>
#include <seqtrain/http/message.hpp>

namespace seqtrain::tests {

/// A request in the form in which a server gets it.
struct ServerRequest {
  std::string method;
  std::string target;
  std::vector<http::Header> headers;
  std::string body;

  [[nodiscard]] std::string header(std::string_view name) const {
    for (const auto& one : headers) {
      if (equal_but_case(one.name, name)) return one.value;
    }
    return {};
  }
};

/// The storage service's rules for objects in memory: names, generations, preconditions, checksums,
/// pages, ranges, uploads in chunks, copies in steps, joins. Errors have the service's JSON.
class FakeStorage {
 public:
  using Answer = http::Response;

  FakeStorage() { buckets_["bucket"]; }

  Answer handle(const ServerRequest& request) {
    const std::lock_guard lock{mutex_};
    const auto question = request.target.find('?');
    const auto path = request.target.substr(0, question);
    const auto query =
        question == std::string::npos ? Query{} : parse_query(request.target.substr(question + 1));
    if (path.starts_with("/upload/")) return upload(request, query, path);
    const auto parts = split(path);  // "", storage, v1, b, bucket, o, name, …
    if (parts.size() < 6 || !buckets_.contains(parts[4])) return no_bucket();
    auto& bucket = buckets_[parts[4]];
    if (parts.size() == 6) return list(bucket, query);
    const auto name = decode(parts[6]);
    if (parts.size() > 7 && parts[7] == "compose") return compose(request, bucket, query, name);
    if (parts.size() > 7) return rewrite(bucket, query, name, parts);
    if (request.method == "DELETE") return remove(bucket, query, name);
    if (query.contains("alt")) return media(request, bucket, query, name);
    return bucket.contains(name) ? done(describe(name, bucket[name])) : no_object();
  }

  /// Returns the object that is visible under that name.
  [[nodiscard]] std::optional<std::string> read(const std::string& name) {
    const std::lock_guard lock{mutex_};
    const auto found = buckets_["bucket"].find(name);
    if (found == buckets_["bucket"].end()) return {};
    return found->second.bytes;
  }
  std::int64_t write(const std::string& name, std::string bytes) {
    const std::lock_guard lock{mutex_};
    return store(buckets_["bucket"], name, std::move(bytes)).generation;
  }
  void clear() {
    const std::lock_guard lock{mutex_};
    for (auto& [name, bucket] : buckets_) bucket.clear();
  }

  [[nodiscard]] std::vector<std::string> names() {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> names;
    for (const auto& [name, object] : buckets_["bucket"]) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::size_t objects() {
    const std::lock_guard lock{mutex_};
    return buckets_["bucket"].size();
  }

  /// Faults of the service, set before requests are sent.
  std::size_t page_size = 1000;
  /// Number of bytes that are kept of the next chunk.
  std::optional<std::size_t> keep_of_chunk = {};
  std::int64_t claim_more = 0;  ///< bytes that the next 308 confirms too many
  bool damage_writes = false;   ///< flips a bit of each stored object
  int damage_reads = 0;         ///< flips a bit in one of so many answers
  bool forget_uploads = false;  ///< forgets the upload at the next chunk, once
  bool always_forget_uploads = false;
  int short_reads = 0;     ///< number of answers that have only half of the range
  bool no_ranges = false;  ///< ignores ranges and sends the whole object

  /// The number of chunks that began before the end of the kept bytes.
  int overlapping_chunks = 0;

 private:
  struct Object {
    std::string bytes;
    std::int64_t generation = 0;
    std::string content_type;
  };
  struct Upload {
    std::string bucket;
    std::string name;
    std::string bytes;
    std::string content_type;
    std::string precondition;
    bool finished = false;
  };
  using Bucket = std::map<std::string, Object>;
  using Query = std::map<std::string, std::string>;

  static std::vector<std::string> split(const std::string& path) {
    std::vector<std::string> parts(1);
    for (const char c : path) {
      if (c == '/') {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  }

  static std::string decode(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%' || i + 2 >= text.size()) {
        plain += text[i];
        continue;
      }
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
    return plain;
  }

  static Query parse_query(const std::string& text) {
    Query query;
    for (std::size_t start = 0; start < text.size();) {
      const auto end = std::min(text.find('&', start), text.size());
      const auto field = text.substr(start, end - start);
      const auto equal = std::min(field.find('='), field.size() - 1);
      query[field.substr(0, equal)] = decode(field.substr(equal + 1));
      start = end + 1;
    }
    return query;
  }

  static Answer done(std::string body) {
    return {200, {{"Content-Type", "application/json"}}, std::move(body)};
  }
  static Answer problem(int status, const std::string& message) {
    json::Writer writer;
    writer.begin_object().key("error").begin_object();
    writer.member("code", status).member("message", message).end_object().end_object();
    return {status, {{"Content-Type", "application/json"}}, writer.text()};
  }
  static Answer no_bucket() { return problem(404, "The specified bucket does not exist."); }
  static Answer no_object() { return problem(404, "No such object"); }

  static std::string describe(const std::string& name, const Object& object) {
    json::Writer writer;
    writer.begin_object().member("name", name);
    writer.member("generation", std::to_string(object.generation));
    writer.member("size", std::to_string(object.bytes.size()));
    writer.member("crc32c", http::base64_of(Crc32c{}.update(object.bytes).value()));
    writer.member("contentType", object.content_type);
    return writer.member("updated", "2026-01-31T09:05:00.250Z").end_object().text();
  }

  Object& store(Bucket& bucket, const std::string& name, std::string bytes,
                std::string content_type = "text/plain") {
    if (damage_writes && !bytes.empty()) bytes[bytes.size() / 2] ^= 1;
    return bucket[name] = {std::move(bytes), ++generation_, std::move(content_type)};
  }

  static bool allowed(const Bucket& bucket, const std::string& name, const std::string& wanted) {
    const auto found = bucket.find(name);
    const auto generation = found == bucket.end() ? 0 : found->second.generation;
    return wanted.empty() || wanted == std::to_string(generation);
  }
  static std::string value(const Query& query, const std::string& key) {
    const auto found = query.find(key);
    return found == query.end() ? "" : found->second;
  }

  Answer list(const Bucket& bucket, const Query& query) const {
    const auto prefix = value(query, "prefix");
    auto from = bucket.lower_bound(std::max(prefix, value(query, "pageToken")));
    json::Writer writer;
    writer.begin_object().key("items").begin_array();
    for (std::size_t i = 0; i < page_size && from != bucket.end(); ++i, ++from) {
      if (!from->first.starts_with(prefix)) break;
      writer.raw(describe(from->first, from->second));
    }
    writer.end_array();
    const bool more = from != bucket.end() && from->first.starts_with(prefix);
    if (more) writer.member("nextPageToken", from->first);
    return done(writer.end_object().text());
  }

  static Answer remove(Bucket& bucket, const Query& query, const std::string& name) {
    if (!bucket.contains(name)) return no_object();
    if (!allowed(bucket, name, value(query, "ifGenerationMatch"))) return problem(412, "no match");
    bucket.erase(name);
    return {204};
  }

  Answer media(const ServerRequest& request, Bucket& bucket, const Query& query,
               const std::string& name) {
    if (!bucket.contains(name)) return no_object();
    if (!allowed(bucket, name, value(query, "generation"))) return no_object();
    const auto& bytes = bucket[name].bytes;
    std::size_t first = 0, last = bytes.size() - 1;
    const auto range = request.header("Range");
    const bool partial =
        !no_ranges && std::sscanf(range.c_str(), "bytes=%zu-%zu", &first, &last) == 2;
    last = std::min(last, bytes.size() - 1);
    if (partial && first > last) return problem(416, "range");
    if (short_reads > 0 && short_reads-- > 0) last = first + (last - first) / 2;
    Answer answer{partial ? 206 : 200, {}, bytes.substr(first, last - first + 1)};
    if (damage_reads > 0 && damage_reads-- > 0) answer.body[answer.body.size() / 2] ^= 1;
    const auto span = std::to_string(first) + "-" + std::to_string(last);
    const auto total = std::to_string(bytes.size());
    if (partial) answer.headers.push_back({"Content-Range", "bytes " + span + "/" + total});
    return answer;
  }

  Answer compose(const ServerRequest& request, Bucket& bucket, const Query& query,
                 const std::string& name) {
    if (!allowed(bucket, name, value(query, "ifGenerationMatch"))) return problem(412, "no match");
    const auto document = json::Document::parse(request.body, "compose");
    std::string bytes;
    for (const auto& source : document.root().at("sourceObjects").items()) {
      const auto found = bucket.find(std::string{source.at("name").string()});
      if (found == bucket.end()) return no_object();
      bytes += found->second.bytes;
    }
    return done(describe(name, store(bucket, name, std::move(bytes))));
  }

  Answer rewrite(Bucket& bucket, const Query& query, const std::string& name,
                 const std::vector<std::string>& parts) {
    if (!bucket.contains(name) || parts.size() != 12) return no_object();
    if (!buckets_.contains(parts[9])) return no_bucket();
    auto& target = buckets_[parts[9]];
    const auto to = decode(parts[11]);
    if (!allowed(target, to, value(query, "ifGenerationMatch"))) return problem(412, "no match");
    if (!query.contains("rewriteToken")) return done(R"({"done": false, "rewriteToken": "t/1"})");
    if (value(query, "rewriteToken") != "t/1") return problem(400, "token");
    const auto resource = describe(to, store(target, to, bucket[name].bytes));
    return done(R"({"done": true, "resource": )" + resource + "}");
  }

  Answer upload(const ServerRequest& request, const Query& query, const std::string& path) {
    if (query.contains("upload_id")) return chunk(request, value(query, "upload_id"));
    const auto parts = split(path);
    if (parts.size() < 7 || !buckets_.contains(parts[5])) return no_bucket();
    if (value(query, "uploadType") == "multipart") return multipart(request, query, parts[5]);
    const auto id = "secret" + std::to_string(++sessions_);
    uploads_[id] = {parts[5],
                    value(query, "name"),
                    {},
                    request.header("X-Upload-Content-Type"),
                    value(query, "ifGenerationMatch")};
    return {200, {{"Location", "http://" + request.header("Host") + path + "?upload_id=" + id}}};
  }

  Answer multipart(const ServerRequest& request, const Query& query, const std::string& bucket) {
    const auto type = request.header("Content-Type");
    const auto mark = "--" + type.substr(type.find("boundary=") + 9);
    const auto& body = request.body;
    const auto meta = body.find("\r\n\r\n") + 4;
    const auto meta_end = body.find("\r\n" + mark, meta);
    const auto content = body.find("\r\n\r\n", meta_end) + 4;
    const auto end = body.find("\r\n" + mark + "--", content);
    if (end == std::string::npos) return problem(400, "broken multipart body");
    const auto document = json::Document::parse(body.substr(meta, meta_end - meta), "metadata");
    const std::string name{document.root().at("name").string()};
    auto bytes = body.substr(content, end - content);
    if (document.root().at("crc32c").string() != http::base64_of(Crc32c{}.update(bytes).value())) {
      return problem(400, "Provided CRC32C doesn't match");
    }
    auto& objects = buckets_[bucket];
    if (!allowed(objects, name, value(query, "ifGenerationMatch"))) return problem(412, "no match");
    const std::string stored_type{document.root().at("contentType").string()};
    return done(describe(name, store(objects, name, std::move(bytes), stored_type)));
  }

  Answer chunk(const ServerRequest& request, const std::string& id) {
    if (std::exchange(forget_uploads, false) || always_forget_uploads) uploads_.erase(id);
    if (!uploads_.contains(id)) return problem(410, "gone");
    auto& upload = uploads_[id];
    auto& bucket = buckets_[upload.bucket];
    if (upload.finished) return done(describe(upload.name, bucket[upload.name]));
    std::size_t first = 0, last = 0, total = 0;
    const auto range = request.header("Content-Range");
    const bool known = std::sscanf(range.c_str(), "bytes %*[0-9*-]/%zu", &total) == 1;
    if (std::sscanf(range.c_str(), "bytes %zu-%zu/", &first, &last) == 2) {
      if (last - first + 1 != request.body.size()) return problem(400, "length");
      const bool ends = known && last + 1 == total;
      if (!ends && request.body.size() % (256 << 10) != 0) return problem(400, "granularity");
      if (first > upload.bytes.size()) return problem(400, "a hole");
      overlapping_chunks += first < upload.bytes.size() ? 1 : 0;
      const auto news =
          request.body.substr(std::min(upload.bytes.size() - first, request.body.size()));
      upload.bytes += news.substr(0, std::exchange(keep_of_chunk, {}).value_or(news.size()));
    }
    if (known && upload.bytes.size() == total) return finish(request, upload, bucket);
    return incomplete(upload);
  }

  Answer incomplete(const Upload& upload) {
    const auto kept = static_cast<std::int64_t>(upload.bytes.size()) + std::exchange(claim_more, 0);
    Answer answer{308};
    if (kept > 0) answer.headers.push_back({"Range", "bytes=0-" + std::to_string(kept - 1)});
    return answer;
  }

  Answer finish(const ServerRequest& request, Upload& upload, Bucket& bucket) {
    const auto sum = http::base64_of(Crc32c{}.update(upload.bytes).value());
    const auto given = request.header("X-Goog-Hash");
    if (!given.empty() && given != "crc32c=" + sum)
      return problem(400, "Provided CRC32C doesn't match");
    if (!allowed(bucket, upload.name, upload.precondition)) return problem(412, "no match");
    upload.finished = true;
    return done(describe(upload.name,
                         store(bucket, upload.name, std::move(upload.bytes), upload.content_type)));
  }

  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
  std::map<std::string, Upload> uploads_;
  std::int64_t generation_ = 1000;
  int sessions_ = 0;
};

}  // namespace seqtrain::tests
