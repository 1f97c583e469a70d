#!/usr/bin/env bash
# Runs what `make check` leaves out because it takes long and seldom finds anything: slow tests and long histories,
# runs that are killed, whole tutorials and projects, benchmarks and programs that are compiled alone, each header of
# the half with torch alone, and all headers in two files; and every room's tests with GCC.
set -uo pipefail
cd "$(dirname "$0")/.."
source tools/tally.sh
tally "slow tests, long histories, benchmarks and tutorials" tools/test.sh long
tally "every room with GCC" tools/test.sh gcc_long
tally_end
