"""Runs the scripts of examples/jobs with fake_gcloud.py in place of gcloud, docker and make, and those of tools with
a pip that fetches nothing."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOBS = ROOT / "examples/jobs"
JOB = "projects/12/locations/us-central1/customJobs/34"
TUNING = "projects/12/locations/us-central1/hyperparameterTuningJobs/56"
ANSWERS = {
    "": "",
    "df --output=avail": "99999M",
    "config get-value project": "my-project",
    "auth list": "me@example.com",
    "buckets describe": "12",
    "projects describe": "12",
    "docker images describe": "sha256:1",
    "custom-jobs create": JOB,
    "hp-tuning-jobs create": TUNING,
    "stream-logs": "a line of the log",
    "(state)": "JOB_STATE_SUCCEEDED",
    "models upload": "78",
    "endpoints create": "projects/12/locations/us-central1/endpoints/90",
}


class Cloud:
    """A folder with the fakes, which is removed at the end of `with`."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        fake = (pathlib.Path(__file__).parent / "fake_gcloud.py").read_text(encoding="utf-8")
        for name in ("bin/gcloud", "bin/docker", "bin/make", "bin/df", ".venv/bin/python"):
            program = self.folder / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f"#!{sys.executable} -SE\n{fake}", encoding="utf-8")
            program.chmod(0o755)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def environment(self, answers, variables):
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
        return {
            **kept,
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
            "JOB_NAME": "seqtrain_20260102_030405",
            "POLL_SECONDS": "0.1",
            "FAKE_CALLS": str(self.folder / "calls"),
            "FAKE_ANSWERS": json.dumps({**ANSWERS, **answers}),
            **variables,
        }

    def run(self, script, *arguments, answers=None, **variables):
        """Runs a script. Returns its exit code, stdout and stderr."""
        (self.folder / "calls").write_text("", encoding="utf-8")
        (self.folder / "calls.streamed").unlink(missing_ok=True)
        ended = subprocess.run(
            [script, *arguments],
            cwd=self.folder,
            env=self.environment(answers or {}, variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return ended.returncode, ended.stdout, ended.stderr

    def calls(self):
        """Returns the commands of the last run, each a list of words."""
        lines = (self.folder / "calls").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def job_file(self, name="seqtrain_20260102_030405"):
        return (self.folder / "runs" / f"{name}.yaml").read_text(encoding="utf-8")
