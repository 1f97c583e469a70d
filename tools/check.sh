#!/usr/bin/env bash
# What a maintainer asks besides `make test`: each header compiles alone, everything links twice, a
# user's mistakes end in plain sentences, an installation is usable, and the half without torch runs
# under the sanitizers and withstands a short search by fuzzing.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh
tally "headers, links, mistakes and installations" tools/test.sh check
tally "AddressSanitizer and UndefinedBehaviorSanitizer" tools/test.sh asan
tally "ThreadSanitizer" tools/test.sh tsan
tally "fuzzing" tools/test.sh fuzz
tally_end
