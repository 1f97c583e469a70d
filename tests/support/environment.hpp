#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace seqtrain::tests {

/// Sets or removes an environment variable until the object is destroyed.
class Environment {
 public:
  Environment(std::string name, const std::optional<std::string>& value) : name_{std::move(name)} {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace seqtrain::tests
