#pragma once

#include <seqtrain/page/compare.hpp>
#include <seqtrain/page/run_page.hpp>
