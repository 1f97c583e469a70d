#pragma once

#include <seqtrain/machine/machine.hpp>
