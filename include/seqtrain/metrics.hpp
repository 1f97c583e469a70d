#pragma once

#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>
