#!/usr/bin/env bash
# Runs what `make test` leaves out: each header of the half without torch compiles alone, tests of scripts and services
# pass; with GCC, which users have, the tests of kernels and tokenizers pass, users' mistakes end in plain sentences, and
# an installation is usable; the half without torch passes under the sanitizers and in a short search by fuzzing.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh
tally "headers alone, scripts and services" tools/test.sh checks
tally "GCC, users' mistakes and installations" tools/test.sh gcc
tally "AddressSanitizer and UndefinedBehaviorSanitizer, with fuzzing" tools/test.sh asan
tally "ThreadSanitizer" tools/test.sh tsan
tally_end
