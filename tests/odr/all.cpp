#include <all_headers.hpp>
