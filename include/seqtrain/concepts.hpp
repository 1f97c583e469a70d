#pragma once

#include <seqtrain/concepts/optimizer_choice.hpp>
#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/concepts/schedule.hpp>
