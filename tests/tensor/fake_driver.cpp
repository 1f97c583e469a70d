// Stands in for NVIDIA's libcuda.so.1: a driver that supports the version in FAKE_DRIVER. Its
// devices have the compute capabilities in FAKE_CAPABILITIES, such as 7580 for 7.5 and 8.0.
#include <cstdlib>

extern "C" int cuDriverGetVersion(int* version) {
  *version = std::atoi(std::getenv("FAKE_DRIVER"));
  return 0;
}

extern "C" int cuDeviceGet(int* device, int index) {
  *device = 100 + index;
  return 0;
}

extern "C" int cuDeviceGetAttribute(int* value, int attribute, int device) {
  constexpr int major = 75, minor = 76;
  if (attribute != major && attribute != minor) return 1;
  *value = std::getenv("FAKE_CAPABILITIES")[2 * (device - 100) + attribute - major] - '0';
  return 0;
}
