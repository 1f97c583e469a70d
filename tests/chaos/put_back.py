#!/usr/bin/env python3
"""Puts defects back into the checkpoints, one at a time, and prints how many random histories the
simulation needs to find each. Exits with 1 if one is not found.

    tests/chaos/put_back.py [--histories 1000000] [--only NAME]

A defect is a list of replacements in a copy of include/; each text must be there.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FOLDER = "checkpoint/checkpoint_folder.hpp"
ONE_FOLDER = (FOLDER, "run_{std::move(run)} {}", "run_{(void(run), std::string{})} {}")
NO_BOUND = (FOLDER, "kept.erase(std::ranges::upper_bound(kept, step), kept.end());", "(void)step;")

DEFECTS = {
    "1: a checkpoint before the first step lacks the optimizer": [
        ("checkpoint/checkpoint.hpp", "    const std::string name = detail::file_of(owner);\n",
         "    if (tensors.empty()) continue;\n    const std::string name = detail::file_of(owner);\n"),
        ("checkpoint/checkpoint.hpp",
         "if (run_.id.empty() && state_.position.step == 0) return {};", ""),
    ],
    "2: the lowest steps are removed, whoever wrote them": [
        ONE_FOLDER, NO_BOUND,
        (FOLDER, "if (search.read(run.id, step)) return;", "(void)search;"),
    ],
    "2 again, within a run: a newer checkpoint that cannot be read counts": [NO_BOUND],
    "3: another run's complete checkpoint of the step is taken for its own": [ONE_FOLDER],
    "4: checkpoints at any depth count": [
        ONE_FOLDER,
        (FOLDER, "if (search.read(run.id, step)) return;", "(void)search;"),
        (FOLDER, "      const auto step = step_of(key);\n      if (step && key == at(*step) + last)",
         "      const auto folder = std::string_view{key}.substr(0, key.size() - last.size());\n"
         "      const auto step = train::checkpoint_step(folder.substr(folder.rfind('/') + 1));\n"
         "      if (step)"),
    ],
    "10: a failed directory sync is ignored, older checkpoints are removed": [
        ("core/atomic_file.hpp",
         "files_.sync_directory(target_.has_parent_path() ? target_.parent_path() : \".\");",
         "try {\n      files_.sync_directory(target_.has_parent_path() ? target_.parent_path() : "
         "\".\");\n    } catch (const Error&) {\n    }"),
    ],
    "a file is not synced before its rename": [
        ("core/atomic_file.hpp", "files_.sync(*file_);\n    files_.rename", "files_.rename"),
    ],
    "a manifest is uploaded before the rest is durable": [
        ("checkpoint/checkpoint_upload.hpp", "  store.flush();\n  put(last);", "  put(last);"),
    ],
    "a replaced program goes on removing": [
        ("checkpoint/checkpoint_upload.hpp", "if (!record_.renew(step)) return set_replaced();",
         "(void)record_.renew(step);"),
    ],
    "a run without a readable checkpoint keeps its name": [
        ("checkpoint/same_run.hpp",
         "options.resume == \"auto\" && found && found->run().id == named &&\n"
         "                    found->run().steps == plan.steps;",
         "options.resume == \"auto\" && !named.empty() &&\n"
         "                    (!found || found->run().steps == plan.steps);"),
    ],
}


def find(name, replacements, histories):
    """Returns the number of histories until the defect was found, or None, and the problem."""
    with tempfile.TemporaryDirectory() as scratch:
        include = Path(scratch) / "include"
        shutil.copytree(ROOT / "include", include)
        for file, old, new in replacements:
            path = include / "seqtrain" / file
            text = path.read_text()
            if text.count(old) != 1:
                sys.exit(f"{name}: {file} does not have this text once:\n{old}")
            path.write_text(text.replace(old, new))
        program = Path(scratch) / "simulation"
        subprocess.run(
            ["g++", "-std=c++20", "-O1", "-w", f"-I{include}", f"-I{ROOT / 'tests'}",
             "-isystem", "/usr/include/eigen3", ROOT / "tests/checkpoint/checkpoint_simulation_test.cpp",
             "-o", program, "-lgtest", "-lgtest_main", "-lsimdjson", "-pthread"],
            check=True)
        run = subprocess.run(
            [program, "--gtest_filter=CheckpointSimulation.EveryHistoryEndsWell"],
            env={"SEQTRAIN_SIMULATED_HISTORIES": str(histories)}, text=True, capture_output=True)
    found = re.search(r"^history (\d+): (.*)$", run.stdout, re.MULTILINE)
    return (int(found[1]), found[2]) if found else (None, "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1_000_000)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    missed = 0
    for name, replacements in {"nothing put back": [], **DEFECTS}.items():
        if arguments.only not in name:
            continue
        histories = arguments.histories if replacements else 20_000
        begin = time.monotonic()
        count, problem = find(name, replacements, histories)
        missed += (count is None) == bool(replacements)
        print(f"{name}: " + (f"found in history {count}: {problem}" if count else "not found") +
              f" ({time.monotonic() - begin:.0f} s)", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
