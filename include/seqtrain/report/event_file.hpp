#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <seqtrain/core/background.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/report/summary.hpp>
#include <seqtrain/sink/any.hpp>

namespace seqtrain::report {

/// Returns the current time in seconds since 1970.
inline double wall_time() {
  return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
}

/// Appends a record of an event file: the length, its checksum, the data, its checksum. A checksum
/// is a CRC-32C that is rotated and offset, because a CRC of data that contains its own CRC detects
/// few errors.
inline void append_record(std::string& out, std::string_view data) {
  const auto append_checksum = [&out](std::string_view bytes) {
    const std::uint32_t sum = Crc32c{}.update(bytes).value();
    append_little_endian(out, std::uint32_t{std::rotr(sum, 15) + 0xa282ead8U});
  };
  std::string length;
  append_little_endian(length, std::uint64_t{data.size()});
  out += length;
  append_checksum(length);
  out += data;
  append_checksum(data);
}

/// Returns the record with which each event file begins.
inline std::string first_record() {
  std::string record;
  append_record(record, file_version(wall_time()).encoded());
  return record;
}

/// Returns a name that no other file has. After `events.out.tfevents` it has the time of the
/// process's first call in seconds, the host, the process and the number of the call, so the names
/// of a process sort by age.
inline std::string next_event_file_name() {
  static const auto seconds = static_cast<std::int64_t>(wall_time());
  static std::atomic<unsigned> next{0};
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  std::string name{host.data()};
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain && c != '.') c = '-';
  }
  std::array<char, 16> number;
  std::snprintf(number.data(), number.size(), "%06u", next++);
  return "events.out.tfevents." + std::to_string(seconds) + "." + name + "." +
         std::to_string(::getpid()) + "." + number.data();
}

/// The interface of a place that stores a run's event records.
class EventLog {
 public:
  EventLog() = default;
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  virtual ~EventLog() = default;

  /// Appends whole records. Does not throw `Error`.
  virtual void append(std::string_view records) = 0;
  /// Makes the appended records visible soon, without waiting.
  virtual void publish() {}
  /// Makes the appended records visible and waits until they are.
  virtual void finish() {}
};

/// Appends records to an event file in a directory; each call is one write. The file is created
/// with its first record. If it cannot be written, it ends after its last whole record.
class EventFile final : public EventLog {
 public:
  /// Calls `warn` with the reason if the file cannot be written.
  EventFile(std::filesystem::path directory, std::function<void(std::string_view)> warn)
      : directory_{std::move(directory)}, warn_{std::move(warn)} {}

  void append(std::string_view records) override {
    if (given_up_) return;
    try {
      with_file_errors([&] {
        if (!file_) open();
        write(records);
      });
    } catch (const Error& error) {
      give_up(error);
    }
  }

 private:
  void open() {
    std::filesystem::create_directories(directory_);
    path_ = directory_ / next_event_file_name();
    file_ = files_.create(path_);
    if (!file_) throw Error{"is written by another process", {.object = path_.string()}};
    write(first_record());
  }

  void write(std::string_view records) {
    files_.write(*file_, std::as_bytes(std::span{records}));
    size_ += records.size();
  }

  void give_up(const Error& error) {
    given_up_ = true;
    std::error_code ignored;
    if (file_) std::filesystem::resize_file(path_, size_, ignored);
    file_.reset();
    if (warn_) warn_(std::string{error.what()} + "; training goes on without it");
  }

  Files files_;
  std::filesystem::path directory_;
  std::function<void(std::string_view)> warn_;
  std::filesystem::path path_;
  std::optional<Files::Output> file_;
  std::uintmax_t size_ = 0;  // bytes of the whole records
  bool given_up_ = false;
};

/// Puts records into a store whose objects cannot grow. It collects them and puts each batch on
/// another thread, as an event file with a new name. A failed put is tried again with the next
/// records. The destructor makes a last attempt and waits for it.
class EventObjects final : public EventLog {
 public:
  /// `interval` is the time from one object to the next. If an object cannot be put, `warn` is
  /// called once with the reason, on the thread that calls this object.
  EventObjects(sink::Any store, std::chrono::duration<double> interval,
               std::function<void(std::string_view)> warn)
      : store_{std::move(store)}, interval_{interval}, warn_{std::move(warn)} {}

  ~EventObjects() override {
    try {
      finish();
    } catch (...) {  // the program's own `warn` threw
    }
  }

  void append(std::string_view records) override {
    if (waiting_.size() + unsent_.size() < most_bytes) waiting_ += records;
    if (std::chrono::steady_clock::now() - last_ >= interval_) publish();
  }

  /// Starts to put the collected records. If an object is being put, the next one takes them.
  void publish() override {
    if (background_.busy()) return;
    settle();
    if (waiting_.empty() && unsent_.empty()) return;
    last_ = std::chrono::steady_clock::now();
    if (unsent_.empty()) {
      name_ = next_event_file_name();
      unsent_ = first_record();
    }
    unsent_ += std::exchange(waiting_, {});
    background_.start([this] { put(); });
  }

  void finish() override {
    background_.wait();
    publish();
    background_.wait();
    settle();
  }

 private:
  /// The limit of memory for records that cannot be put. Past it, new records are dropped.
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  /// Puts `unsent_` into the store as one object. Runs on the other thread.
  void put() {
    try {
      store_.put(name_, std::as_bytes(std::span{unsent_}));
      store_.flush();
      sent_ = true;
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
  }

  /// Handles the result of the last put. Call it only while no object is being put.
  void settle() {
    if (std::exchange(sent_, false)) unsent_.clear();
    const std::string failure = std::exchange(failure_, {});
    if (failure.empty() || std::exchange(warned_, true) || !warn_) return;
    warn_(failure + "; training goes on, and its event files are tried again");
  }

  sink::Any store_;
  std::chrono::duration<double> interval_;
  std::function<void(std::string_view)> warn_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::string waiting_;  // records that are in no object yet
  std::string name_;     // name of the object `unsent_`
  std::string unsent_;   // content of an object that is being put or has failed
  bool sent_ = false;    // whether that object is in the store
  std::string failure_;  // why that object is not in the store
  bool warned_ = false;
  Background background_;  // last: its thread uses the others
};

}  // namespace seqtrain::report
