#pragma once

#include <seqtrain/experiment/main.hpp>
#include <seqtrain/experiment/run.hpp>
