#!/usr/bin/env python3
"""fetches_test.py COMPILER...: looks for the instructions that fetch memory ahead in what each compiler makes.

GCC drops the calls of functions that do nothing but fetch, and no result tells.
"""
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = """
#include <seqtrain/kernels/ahead.hpp>
#include <seqtrain/kernels/tile_product.hpp>
namespace seqtrain::kernels {
[[gnu::noinline]] static void fetch_elsewhere(const Ahead& ahead) { fetch(ahead); }
void call_fetch(const Ahead& ahead) { fetch_elsewhere(ahead); }
[[gnu::noinline]] static void step_elsewhere(const Ahead& ahead) { Fetching{ahead, 3}.step(); }
void call_step(const Ahead& ahead) { step_elsewhere(ahead); }
#if SEQTRAIN_HAS_CLONES
void call_tiles(const Bf16* a, const Bf16* b, float* c, const Ahead& ahead) {
  tile::multiply(64, 64, a, 64, b, 64, c, 64, true, ahead);
}
#endif
}
"""
root = pathlib.Path(__file__).resolve().parents[2]


def functions(assembly):
    """Returns the lines of each function."""
    found, name = {}, None
    for line in assembly.splitlines():
        if label := re.match(r"(_Z\w+)(\.\w+)*:", line):
            name = label[1]
        found.setdefault(name, []).append(line)
    return found


def reached(found, name, seen):
    """Returns the names of the functions that a function calls or ends in, and its own."""
    if name in seen or name not in found:
        return seen
    seen.add(name)
    for line in found[name]:
        for called in re.findall(r"\b(?:call|jmp|bl?)q?\s+(_Z\w+)", line):
            reached(found, called, seen)
    return seen


def check(compiler):
    command = [compiler, "-std=c++20", "-O3", f"-I{root}/include", "-S", "-x", "c++", "-", "-o", "-"]
    found = functions(subprocess.run(command, input=SOURCE, text=True, check=True, stdout=subprocess.PIPE).stdout)
    callers = [name for name in found if name and "call_" in name]
    assert len(callers) in (2, 3), callers
    for caller in callers:
        lines = [line for name in reached(found, caller, set()) for line in found[name]]
        assert any(re.search("prefetch|prfm", line) for line in lines), f"{compiler}: {caller} fetches nothing"


if __name__ == "__main__":
    for compiler in filter(shutil.which, sys.argv[1:]):
        check(compiler)
