"""Tests that each preset builds the programs of the tests that it runs. Sanitizers and compilers run only some rooms."""

import json
import pathlib
import re
import unittest

PRESETS = json.loads((pathlib.Path(__file__).parents[1] / "CMakePresets.json").read_text())


def included(preset):
    return preset.get("filter", {}).get("include", {}).get("name")


class Presets(unittest.TestCase):
    def test_build_the_tests_that_they_run(self):
        targets = {preset["name"]: preset.get("targets") for preset in PRESETS["buildPresets"]}
        compared = 0
        for preset in filter(included, PRESETS["testPresets"]):
            rooms = included(preset).replace("([.]second_half)?", "")
            programs = re.sub(r"\|\(.*\)", "", rooms.strip("^$")).strip("()").split("|")
            with self.subTest(preset["name"]):
                self.assertEqual([name + "_test" for name in programs], targets[preset["name"]])
            compared += 1
        self.assertGreaterEqual(compared, 3)


if __name__ == "__main__":
    unittest.main()
