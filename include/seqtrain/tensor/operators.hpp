#pragma once

// The operators + - * / and [] of tensors. By itself <ATen/TensorOperators.h> includes all
// functions of ATen, which take a compiler seconds; with this macro it includes the one that it
// uses.
#ifdef AT_PER_OPERATOR_HEADERS
#include <ATen/TensorOperators.h>
#else
#define AT_PER_OPERATOR_HEADERS
#include <ATen/TensorOperators.h>
#undef AT_PER_OPERATOR_HEADERS
#endif
