#pragma once

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/concepts/schedule.hpp>
#include <seqtrain/concepts/step.hpp>
