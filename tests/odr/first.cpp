#include <typeinfo>

#include <all_headers.hpp>

const void* error_type_of_second_file();

/// Returns 0 if both files have one type for a name.
int main() {
  return error_type_of_second_file() == &typeid(seqtrain::Error) ? 0 : 1;
}
