#include <seqtrain/serve/server.hpp>
