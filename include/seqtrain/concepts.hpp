#pragma once

#include <seqtrain/concepts/one_cycle.hpp>
#include <seqtrain/concepts/outcome.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/concepts/step.hpp>
#include <seqtrain/concepts/stored.hpp>
