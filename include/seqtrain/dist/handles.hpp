#pragma once

#include <c10/util/intrusive_ptr.h>

// Declared here, because their headers take a compiler seconds.
namespace c10d {
class Backend;
class Store;
class Work;
}  // namespace c10d

namespace seqtrain::dist {

/// A key-value store of c10d, by which processes find each other.
using StorePtr = c10::intrusive_ptr<::c10d::Store>;
/// A group's transport in c10d.
using BackendPtr = c10::intrusive_ptr<::c10d::Backend>;
/// An operation of c10d.
using WorkPtr = c10::intrusive_ptr<::c10d::Work>;

}  // namespace seqtrain::dist
