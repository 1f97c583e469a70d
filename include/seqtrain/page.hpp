#pragma once

#include <seqtrain/page/run_page.hpp>
