"""Tests that the installed gcloud accepts the commands and job files of examples/jobs.

gcloud has no account and no network in this test: it looks at its arguments, then says that it has no
account. Ends with 77 ("skipped") where there is no gcloud.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from fakes import JOB, JOBS, ROOT, TUNING, Cloud

GCLOUD = shutil.which("gcloud")
if not GCLOUD:
    print("skipped: gcloud is not installed")
    sys.exit(77)

NO_ACCOUNT = "You do not currently have an active account selected"
ENDPOINT = "projects/12/locations/us-central1/endpoints/90"


class Offline(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLOUDSDK", "GOOGLE"))}
        return {
            **kept,
            "CLOUDSDK_CONFIG": str(self.folder / "config"),
            "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
            "CLOUDSDK_CORE_DISABLE_PROMPTS": "true",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
            # No request reaches the network, whatever happens.
            "CLOUDSDK_PROXY_TYPE": "http",
            "CLOUDSDK_PROXY_ADDRESS": "127.0.0.1",
            "CLOUDSDK_PROXY_PORT": "9",
        }

    def gcloud(self, *words):
        return subprocess.run(
            [GCLOUD, *words],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


class Commands(Offline):
    def commands(self, script, *arguments):
        """Returns the gcloud commands that a script prints, each a list of words. The job file is there."""
        with Cloud() as cloud:
            code, said, warned = cloud.run(script, "--dry-run", *arguments, PROJECT="my-project")
            self.assertEqual(code, 0, warned)
        job = re.search(r"<<'END'\n(.*)\nEND\n", said, re.DOTALL)
        if job:
            (self.folder / "runs").mkdir(exist_ok=True)
            (self.folder / "runs/seqtrain_20260102_030405.yaml").write_text(job[1] + "\n", encoding="utf-8")
        name = TUNING if "hp-tuning-jobs" in said else JOB
        for value in (("JOB", name), ("ENDPOINT", ENDPOINT), ("MODEL", "78")):
            said = said.replace(f'"${value[0]}"', value[1]).replace(f"${value[0]}", value[1])
        lines = re.findall(r"^#? *(?:[A-Z]+=\$\()?gcloud (.*?)\)?$", said, re.MULTILINE)
        return [shlex.split(line if line.count("(") == line.count(")") else line + ")") for line in lines]

    def test_gcloud_takes_every_command(self):
        commands = {}
        for script, *arguments in (
            (JOBS / "submit.sh", "--", "--epochs", "3"),
            (JOBS / "submit.sh", "--build", "--config", JOBS / "trials.yaml"),
            (JOBS / "deploy.sh", "gs://bucket/model"),
        ):
            for words in self.commands(script, *arguments):
                # One command of each shape is checked; its values do not matter.
                shape = (*words[:3], *(word.split("=")[0] for word in words[3:] if word.startswith("--")))
                commands[shape] = words
        self.assertGreater(len(commands), 20)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(lambda words: self.gcloud(*words), commands.values()))
        for words, end in zip(commands.values(), ended):
            with self.subTest(" ".join(words)):
                if words[0] in ("auth", "config"):
                    self.assertEqual(end.returncode, 0, end.stderr)
                else:
                    self.assertIn(NO_ACCOUNT, end.stderr)

    def test_gcloud_takes_the_build(self):
        words = next(
            words
            for words in self.commands(JOBS / "submit.sh", "--cloud-build")
            if words[:2] == ["builds", "submit"]
        )
        (self.folder / "empty").mkdir()
        ended = self.gcloud(*[str(self.folder / "empty") if word == str(ROOT) else word for word in words])
        self.assertIn(NO_ACCOUNT, ended.stderr)

    def test_gcloud_refuses_a_flag_that_it_does_not_have(self):
        ended = self.gcloud("ai", "custom-jobs", "create", "--seqtrain=1", "--region=us-central1")
        self.assertIn("--seqtrain", ended.stderr)
        self.assertNotIn(NO_ACCOUNT, ended.stderr)


class Messages(Offline):
    def problems(self, documents):
        info = self.gcloud("info", "--format=value(installation.sdk_root,basic.python_location)")
        sdk, python = info.stdout.strip().split("\t")
        ended = subprocess.run(
            [python, "-W", "ignore", pathlib.Path(__file__).parent / "gcloud_messages.py", sdk + "/lib"],
            input=json.dumps(documents),
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if ended.returncode != 0:
            self.skipTest("this gcloud has its classes elsewhere: " + ended.stderr[-300:])
        return json.loads(ended.stdout)

    def sent(self, name):
        with Cloud() as cloud:
            code, said, warned = cloud.run(JOBS / "submit.sh", "--config", JOBS / name, "--", "--epochs", "3")
            self.assertEqual(code, 0, said + warned)
            return cloud.job_file()

    def test_classes_take_the_files_and_refuse_wrong_fields(self):
        jobs = {name: self.sent(name) for name in ("job.yaml", "job-two-machines.yaml", "job-languages.yaml")}
        tuning = self.sent("trials.yaml")
        build = (JOBS / "cloudbuild.yaml").read_text(encoding="utf-8")
        good = [["CustomJobSpec", text] for text in jobs.values()]
        good += [["HyperparameterTuningJob", tuning], ["Build", build]]
        bad = [
            ["CustomJobSpec", jobs["job.yaml"].replace(*change)]
            for change in (
                ("timeout:", "timeot:"),
                ("machineSpec:", "machine_spec:"),
                ("NVIDIA_L4", "NVIDIA_L5"),
                ("STANDARD", "CHEAP"),
                ("replicaCount: 1", "replicaCount: one"),
                ("restartJobOnWorkerRestart: true", "restartJobOnWorkerRestart: 3"),
            )
        ]
        bad += [
            ["HyperparameterTuningJob", tuning.replace(*change)]
            for change in (
                ("maxTrialCount", "maxTrials"),
                ("metricId", "metric"),
                ("MAXIMIZE", "MAX"),
                ("UNIT_LOG_SCALE", "LOG"),
                ("discreteValueSpec", "discreteSpec"),
                ("timeout:", "timeot:"),
            )
        ]
        bad += [["Build", build.replace("images:", "image:")], ["Build", build.replace("args:", "arg:")]]
        found = self.problems(good + bad)
        self.assertEqual(found[: len(good)], [None] * len(good))
        for document, problem in zip(bad, found[len(good) :]):
            self.assertIsNotNone(problem, document)


if __name__ == "__main__":
    unittest.main()
