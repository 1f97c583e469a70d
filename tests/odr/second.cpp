#include <typeinfo>

#include <all_headers.hpp>

const void* error_type_of_second_file() {
  return &typeid(seqtrain::Error);
}
