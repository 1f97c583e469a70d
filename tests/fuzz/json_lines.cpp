#include "examples.hpp"

void seqtrain::fuzz::run(Input input) {
  read_examples(input, "fuzz.jsonl");
}
