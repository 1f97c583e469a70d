#pragma once

#include <fstream>
#include <string>

#include <sys/resource.h>

namespace seqtrain {

/// Returns the largest resident memory of this process so far, in MiB. It reads /proc if it can,
/// because getrusage also counts the process that called `exec`, which may have been larger.
inline double peak_memory_mib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib / 1024;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in KiB
}

}  // namespace seqtrain
