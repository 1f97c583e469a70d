#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/background.hpp>
#include <seqtrain/report/event_file.hpp>
#include <seqtrain/sink/any.hpp>

namespace seqtrain::report {

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
