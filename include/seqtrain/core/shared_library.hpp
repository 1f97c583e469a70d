#pragma once

#include <memory>
#include <string>

#include <dlfcn.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain {

/// A shared library that is loaded at run time.
class SharedLibrary {
 public:
  /// The address of a function, which converts to any type of pointer to a function.
  struct Symbol {
    void* address;
    template <class Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };

  /// Throws `Error` with the loader's reason if the library cannot be loaded.
  explicit SharedLibrary(const std::string& name)
      : library_{::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)} {
    if (!library_) throw Error{::dlerror()};
  }

  /// Throws `Error` if the library has no such function.
  [[nodiscard]] Symbol find(const char* name) const {
    void* const address = ::dlsym(library_.get(), name);
    if (address == nullptr) throw Error{::dlerror()};
    return {address};
  }

 private:
  struct Close {
    void operator()(void* library) const { ::dlclose(library); }
  };

  std::unique_ptr<void, Close> library_;
};

}  // namespace seqtrain
