#include <seqtrain/parquet.hpp>

int main() {
  try {
    (void)seqtrain::parquet::open("no_such_file.parquet", {});
  } catch (const seqtrain::InputError&) {
    return 0;
  }
  return 1;
}
