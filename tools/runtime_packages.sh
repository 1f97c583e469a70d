#!/usr/bin/env bash
# runtime_packages.sh FILE...: prints the Debian packages whose libraries the programs among the files load.
set -euo pipefail
programs=()
for file; do
  [[ ! -f $file || $(head -c 4 "$file" | tr -d '\0') != $'\x7fELF' ]] || programs+=("$file")
done
ldd "${programs[@]}" | awk '$3 ~ "^/(usr/)?lib/" { sub(".*/", "", $3); print "*/" $3 }' | sort -u |
  xargs dpkg-query --search | sed 's/:.*//' | sort -u
