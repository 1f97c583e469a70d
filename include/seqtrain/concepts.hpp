#pragma once

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/concepts/schedule.hpp>
