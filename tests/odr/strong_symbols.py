"""strong_symbols.py NM OBJECT: fails if the object defines a function or variable that a second object with the same
headers would define again, so that the two did not link together."""

import subprocess
import sys

nm, path = sys.argv[1:]
symbols = subprocess.run([nm, "--demangle", "--extern-only", "--defined-only", path], check=True, text=True,
                         stdout=subprocess.PIPE).stdout.splitlines()
assert symbols, f"{path} defines nothing, not even inline functions"
strong = [line.split(maxsplit=2)[2] for line in symbols if line.split(maxsplit=2)[1] in "TDBRSGC"]
print(f"{len(symbols)} symbols, {len(strong)} of them strong")
for symbol in strong:
    print(f"{symbol} is neither inline nor a template")
sys.exit(bool(strong))
