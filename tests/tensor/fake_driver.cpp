// Stands in for NVIDIA's libcuda.so.1: a driver that supports the version in FAKE_DRIVER.
#include <cstdlib>

extern "C" int cuDriverGetVersion(int* version) {
  *version = std::atoi(std::getenv("FAKE_DRIVER"));
  return 0;
}
