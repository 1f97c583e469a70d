#include <typeinfo>

#include <all_headers.hpp>

const void* error_type_of_second_file();

/// Both files mean the same type by one name.
int main() {
  return error_type_of_second_file() == &typeid(seqtrain::Error) ? 0 : 1;
}
