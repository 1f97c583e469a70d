#!/usr/bin/env python3
"""Installs seqtrain::compiled, and uses it as the owner of an experiment does: `seqtrain new`, `seqtrain run`.

Arguments: build directory, directory of the sources, C++ compiler, and a compiler of another kind or an empty text.
"""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = map(pathlib.Path, sys.argv[1:3])
COMPILER, OTHER_COMPILER = sys.argv[3:5]


class OwnProject(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.here = pathlib.Path(cls.directory.name)
        cls.prefix = cls.here / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)
        # An installation without programs lacks the command; a package has it.
        commands = cls.prefix / "libexec/seqtrain"
        shutil.copytree(SOURCE / "examples/seqtrain", commands)
        (cls.prefix / "bin").mkdir()
        shutil.copy(BUILD / "examples/seqtrain", cls.prefix / "bin/seqtrain")
        cls.environment = dict(os.environ, CXX=COMPILER, XDG_CACHE_HOME=str(cls.here / "cache"))

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def call(self, *words, **changes):
        return subprocess.run([str(word) for word in words], cwd=self.here, text=True, capture_output=True,
                              env=dict(self.environment, **changes), check=False)

    def seqtrain(self, *words, **changes):
        return self.call(self.prefix / "bin/seqtrain", *words, **changes)

    def test_1_a_new_project_builds_and_passes_its_test(self):
        made = self.seqtrain("new", "reviews")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("cmake -S reviews -B reviews/build", made.stdout)
        prefix = self.seqtrain("--cmake-prefix").stdout.strip()
        for command in (["cmake", "-S", "reviews", "-B", "reviews/build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
                         "-DCMAKE_BUILD_TYPE=Debug"],
                        ["cmake", "--build", "reviews/build"],
                        ["ctest", "--test-dir", "reviews/build", "--no-tests=error"]):
            done = self.call(*command)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        helped = self.call(self.here / "reviews/build/reviews", "--help")
        self.assertEqual(helped.returncode, 0)
        self.assertIn("--learning-rate", helped.stdout)

    def test_2_a_program_of_one_file_is_compiled_and_run(self):
        program = self.here / "own.cpp"
        shutil.copy(SOURCE / "examples/own/own_loss.cpp", program)
        helped = self.seqtrain("run", "--debug", "own.cpp", "--help")
        self.assertEqual(helped.returncode, 0, helped.stderr)
        self.assertIn("--learning-rate", helped.stdout)
        wrong = self.seqtrain("run", "--debug", "own.cpp", "--epochs", "many")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("epochs", wrong.stderr)
        program.write_text(program.read_text().replace("square()", "no_such_function()"))
        wrong = self.seqtrain("run", "--debug", "own.cpp", "--help")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("no_such_function", wrong.stderr)
        self.assertIn("own.cpp does not compile", wrong.stderr)

    def test_3_wrong_arguments_are_plain_sentences(self):
        (self.here / "text.txt").write_text("")
        (self.here / "taken").mkdir()
        for words, problem in ((["run"], "seqtrain run [--debug] FILE.cpp"),
                               (["run", "--fast", "own.cpp"], "has no flag '--fast'"),
                               (["run", "missing.cpp"], "missing.cpp: there is no such file"),
                               (["run", "text.txt"], "is no C++ file"),
                               (["new"], "seqtrain new NAME"),
                               (["new", "a b"], "'a b' is no name"),
                               (["new", "taken"], "taken is there already")):
            refused = self.seqtrain(*words)
            self.assertEqual(refused.returncode, 2, words)
            self.assertIn(problem, refused.stderr, words)
        shutil.copy(SOURCE / "examples/own/own_loss.cpp", self.here / "other.cpp")
        absent = self.seqtrain("run", "other.cpp", CXX="no-such-compiler")
        self.assertEqual(absent.returncode, 2)
        self.assertIn("no-such-compiler is not there", absent.stderr)
        self.assertIn("apt-get install", absent.stderr)

    def test_5_the_tree_of_a_build_is_installed_first(self):
        command = BUILD.resolve() / "examples/seqtrain"
        prefix = self.call(command, "--cmake-prefix")
        self.assertEqual((prefix.returncode, prefix.stdout), (0, f"{BUILD.resolve() / 'prefix'}\n"), prefix.stderr)
        self.assertTrue(list((BUILD / "prefix/lib").glob("libseqtrain.*")))
        (self.here / "seven.cpp").write_text("int main() { return 7; }\n")
        ended = self.call(command, "run", "--debug", "seven.cpp")
        self.assertEqual(ended.returncode, 7, ended.stderr)
        unbuilt = self.here / "unbuilt"
        shutil.copytree(SOURCE / "examples/seqtrain", unbuilt / "examples")
        shutil.copy(command, unbuilt / "examples/seqtrain")
        (unbuilt / "CMakeCache.txt").write_text("")
        for words in (["--cmake-prefix"], ["run", "seven.cpp"]):
            refused = self.call(unbuilt / "examples/seqtrain", *words)
            self.assertEqual(refused.returncode, 2, words)
            self.assertIn("unbuilt has no library for programs yet", refused.stderr)
            self.assertIn("--target seqtrain_library", refused.stderr)

    def test_6_a_program_waits_for_its_own_compiler_only(self):
        for name in ("one.cpp", "two.cpp"):
            (self.here / name).write_text("int main() {}\n")
            ended = self.seqtrain("run", "--debug", name)
            self.assertEqual(ended.returncode, 0, ended.stderr)
        folder = hashlib.md5(str((self.here / "one.cpp").resolve()).encode()).hexdigest()
        [path] = (self.here / "cache").glob(f"seqtrain/run/*/programs/{folder}/lock")
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            other = self.seqtrain("run", "--debug", "two.cpp")
            self.assertEqual((other.returncode, other.stderr), (0, ""))
            with subprocess.Popen([self.prefix / "bin/seqtrain", "run", "--debug", "one.cpp"], cwd=self.here, text=True,
                                  stderr=subprocess.PIPE, env=self.environment) as waiting:
                self.assertEqual(waiting.stderr.readline(), "waits for another run of one.cpp that compiles it\n")
                fcntl.flock(lock, fcntl.LOCK_UN)
                self.assertEqual(waiting.wait(), 0)

    @unittest.skipUnless(OTHER_COMPILER, "no compiler of another kind")
    def test_4_a_library_of_another_compiler_is_refused(self):
        shutil.copy(SOURCE / "examples/own/own_loss.cpp", self.here / "other.cpp")
        refused = self.seqtrain("run", "other.cpp", CXX=OTHER_COMPILER)
        self.assertEqual(refused.returncode, 2)
        words = " ".join(refused.stderr.split())
        self.assertIn("its library was compiled by", words)
        self.assertIn("or link seqtrain::seqtrain, the headers alone", words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
