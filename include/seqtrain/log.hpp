#pragma once

#include <seqtrain/log/background_output.hpp>
#include <seqtrain/log/bar.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/log/log.hpp>
