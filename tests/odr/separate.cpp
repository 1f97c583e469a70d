#include <seqtrain/src.hpp>
