#pragma once

#include "support/simulation/background.hpp"
#include "support/simulation/bucket.hpp"
#include "support/simulation/disk.hpp"
#include "support/simulation/fibers.hpp"
#include "support/simulation/files.hpp"
#include "support/simulation/process.hpp"
#include "support/simulation/random.hpp"
#include "support/simulation/store.hpp"
