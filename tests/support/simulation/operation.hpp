#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace seqtrain::tests::sim {

/// The kind of a simulated call.
enum class Operation : unsigned char {
  create,
  write,
  write_at,
  sync,
  close,
  rename,
  remove,
  make_directory,
  sync_directory,
  list,
  read,
  stamp,
  try_lock,
  store_put,
  store_flush,
  store_list,
  store_get,
  store_put_if,
  store_remove,
};

inline std::string_view name_of(Operation operation) {
  constexpr std::array<std::string_view, 19> names{
      "create",     "write",     "write_at",       "sync",           "close",
      "rename",     "remove",    "make_directory", "sync_directory", "list",
      "read",       "stamp",     "try_lock",       "store_put",      "store_flush",
      "store_list", "store_get", "store_put_if",   "store_remove"};
  return names[static_cast<std::size_t>(operation)];
}

/// Returns whether an operation is a call to the remote store.
inline bool is_remote(Operation operation) {
  return operation >= Operation::store_put;
}

inline bool is_reading(Operation operation) {
  return operation == Operation::list || operation == Operation::read;
}

/// Returns whether an operation may need room on the disk.
inline bool needs_room(Operation operation) {
  return operation <= Operation::close || operation == Operation::make_directory;
}

}  // namespace seqtrain::tests::sim
