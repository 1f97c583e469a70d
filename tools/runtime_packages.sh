#!/usr/bin/env bash
# runtime_packages.sh PROGRAM...: prints the Debian packages whose libraries the programs load.
set -euo pipefail
ldd "$@" | awk '$3 ~ "^/(usr/)?lib/" { sub(".*/", "", $3); print "*/" $3 }' | sort -u |
  xargs dpkg-query --search | sed 's/:.*//' | sort -u
