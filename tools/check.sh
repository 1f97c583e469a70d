#!/usr/bin/env bash
# Runs the longest tests with GCC, which users have, and those that `make test` leaves out: each header compiles
# alone, everything links twice, users' mistakes end in plain sentences, an installation is usable, and
# the half without torch passes under the sanitizers and in a short search by fuzzing.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh
tally "GCC, headers, links, mistakes and installations" tools/test.sh check
tally "AddressSanitizer and UndefinedBehaviorSanitizer" tools/test.sh asan
tally "ThreadSanitizer" tools/test.sh tsan
tally "fuzzing" tools/test.sh fuzz
tally_end
