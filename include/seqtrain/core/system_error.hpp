#pragma once

#include <cerrno>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/resource.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain {

/// Returns what a user may do about the system's error `number`, or an empty text.
inline std::string remedy_of(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "make room there, or name another place";
    case EFBIG: {
      rlimit limit{};
      const bool known = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
      return known ? "`ulimit -f` allows a file only " + std::to_string(limit.rlim_cur) +
                         " bytes: raise it"
                   : "name a place whose file system allows larger files";
    }
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files: ulimit -n";
    case EACCES:
    case EPERM:
    case EROFS:
      return "change the permissions, or name another place";
    case ELOOP:
      return "its symbolic links lead in a circle";
    default:
      return {};
  }
}

/// Returns an error of type `E` about `object` for the system's error `number`: what failed, the
/// system's reason and what to do.
template <class E = Error>
[[nodiscard]] E system_error(const std::string& problem, const std::string& object,
                             int number = errno) {
  return E{problem + ": " + std::generic_category().message(number),
           {.object = object},
           remedy_of(number)};
}

/// Tells whether an exception says that a path can never name a file: its links lead in a circle or
/// it is too long.
[[nodiscard]] inline bool is_about_a_wrong_path(const std::exception& error) {
  const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  return file != nullptr && (file->code() == std::errc::too_many_symbolic_link_levels ||
                             file->code() == std::errc::filename_too_long);
}

/// Returns a sentence about an exception of any library. It names the path of an error of the file
/// system, says what to do about a thread that cannot be started, and has no stack trace.
[[nodiscard]] inline std::string sentence_of(const std::exception& error) {
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return system_error("cannot be used", file->path1().string(), file->code().value()).what();
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&error);
      system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {
    return "a thread cannot be started: " + system->code().message() +
           "; ask for fewer --threads, or raise the limit of processes: ulimit -u, or the "
           "container's";
  }
  const std::string_view text = error.what();
  const std::size_t trace = text.find("\nException raised from ");  // LibTorch's
  if (trace == text.npos) return std::string{text};
  const std::string problem{text.substr(0, trace)};
  const auto is_about = [&](const char* word) { return problem.find(word) != problem.npos; };
  const bool is_of_shapes = is_about("shapes cannot be") || is_about("must match") ||
                            is_about("input of size") || is_about("size of tensor");
  return "LibTorch fails: " + problem +
         (is_of_shapes ? "" : "; another --device or --precision may work");
}

}  // namespace seqtrain
