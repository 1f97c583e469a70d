"""Tests the calls, the output and the errors of submit.sh and deploy.sh with a fake gcloud, and of the scripts that
build the image.

    scripts_test.py             # runs the tests
    scripts_test.py --update    # writes golden/*.txt anew, to be looked at before a commit
"""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from fakes import JOB, JOBS, ROOT, TUNING, Cloud

GOLDEN = pathlib.Path(__file__).parent / "golden"
SUBMIT, DEPLOY = JOBS / "submit.sh", JOBS / "deploy.sh"
FLAGS = ["--", "--epochs", "3", "--labels=it's,a \"b\""]
DRY_RUNS = {
    "submit": (SUBMIT, ["--dry-run", *FLAGS]),
    "submit_build": (SUBMIT, ["--dry-run", "--build", "--local", *FLAGS]),
    "submit_cloud_build": (SUBMIT, ["--dry-run", "--cloud-build"]),
    "submit_trials": (SUBMIT, ["--dry-run", "--config", JOBS / "trials.yaml", *FLAGS]),
    "submit_two_machines": (SUBMIT, ["--dry-run", "--config", JOBS / "job-two-machines.yaml", *FLAGS]),
    "submit_languages": (
        SUBMIT,
        ["--dry-run", "--local", f"--config={JOBS}/job-languages.yaml", "--", "--lang", "fr"],
    ),
    "deploy": (DEPLOY, ["--dry-run", "gs://bucket/job/models/model_20260102_030405/model"]),
}
# Commands that cost money. None of them may run after something was refused.
COSTLY = re.compile(r"^gcloud (ai \S+ (create|upload|deploy)|builds)|^make|^docker (push|run)")


def dry_run(cloud, name):
    script, arguments = DRY_RUNS[name]
    code, said, warned = cloud.run(script, *arguments, PROJECT="my-project")
    assert code == 0 and not warned and not cloud.calls(), (code, warned, cloud.calls())
    said = said.replace(str(ROOT), "SEQTRAIN").replace(str(cloud.folder), "HOME")
    return re.sub(r"--user \d+:\d+", "--user UID:GID", said).replace(" --gpus all", "")


class Scripts(unittest.TestCase):
    def setUp(self):
        self.cloud = self.enterContext(Cloud())

    def lines(self):
        return [" ".join(words) for words in self.cloud.calls()]

    def runs(self, script, *arguments, **options):
        code, said, warned = self.cloud.run(script, *arguments, **options)
        self.assertEqual(code, 0, said + warned)
        return said

    def refuses(self, expected, *arguments, script=SUBMIT, **options):
        """Expects the script to end with 2 and print `expected` before anything costs money."""
        code, said, warned = self.cloud.run(script, *arguments, **options)
        self.assertEqual(code, 2, said + warned)
        for text in [expected] if isinstance(expected, str) else expected:
            self.assertIn(text, warned)
        costly = [line for line in self.lines() if COSTLY.search(line)]
        self.assertEqual(costly, [])

    def job_with(self, old, new, source="job.yaml"):
        text = (JOBS / source).read_text(encoding="utf-8")
        self.assertIn(old, text)
        path = self.cloud.folder / "changed.yaml"
        path.write_text(text.replace(old, new), encoding="utf-8")
        return path


class DryRun(Scripts):
    def test_prints_what_the_golden_files_hold(self):
        for name in DRY_RUNS:
            with self.subTest(name):
                golden = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
                self.assertEqual(dry_run(self.cloud, name), golden)

    def test_printed_commands_are_those_of_a_real_run(self):
        """Tests that the output of a dry run, run by a shell, makes the calls of the script itself."""
        for name, (script, arguments) in DRY_RUNS.items():
            if "--local" in arguments:
                continue  # needs credentials; see Local
            with self.subTest(name):
                real = [word for word in arguments if word != "--dry-run"]
                code, printed, _ = self.cloud.run(script, *arguments, PROJECT="my-project")
                self.assertEqual(code, 0)
                self.runs(script, *real, PROJECT="my-project")
                calls, job = self.lines(), self.cloud.folder / "runs"
                file = self.cloud.job_file() if job.exists() else ""
                shutil.rmtree(job, ignore_errors=True)
                self.runs("/bin/bash", "-euc", printed, FAKE_STREAM="ends")
                self.assertEqual(sorted(self.lines()), sorted(calls))
                self.assertEqual(file, self.cloud.job_file() if job.exists() else "")
                shutil.rmtree(job, ignore_errors=True)

    def test_runs_nothing_where_no_project_is_set(self):
        said = self.runs(SUBMIT, "--dry-run")
        self.assertEqual(self.cloud.calls(), [])
        self.assertTrue(said.startswith("gcloud config get-value project\n"), said)


class Submit(Scripts):
    def test_sends_the_job_and_follows_it(self):
        said = self.runs(SUBMIT, *FLAGS)
        name = "seqtrain_20260102_030405"
        create = next(line for line in self.lines() if "custom-jobs create" in line)
        for word in (f"--display-name={name}", f"--config=runs/{name}.yaml", "--project=my-project", "--region=us"):
            self.assertIn(word, create)
        self.assertTrue(any(f"stream-logs {JOB}" in line for line in self.lines()))
        self.assertIn("a line of the log", said)
        self.assertEqual(said.splitlines()[-1], f"Fine-tuned model: gs://my-project-seqtrain/{name}/models")
        self.assertIn("    - --job-dir=gs://my-project-seqtrain/" + name + "/models\n", self.cloud.job_file())
        self.assertIn('    - "--labels=it\'s,a \\"b\\""\n', self.cloud.job_file())

    def test_takes_the_seeds_variables(self):
        said = self.runs(
            SUBMIT,
            BUCKET_NAME="gs://other/",
            IMAGE_URI="europe-west4-docker.pkg.dev/p/r/i:2",
            REGION="europe-west4",
            JOB_NAME="mine",
            JOB_DIR="gs://other/here",
        )
        self.assertIn("Fine-tuned model: gs://other/here", said)
        file = self.cloud.job_file("mine")
        self.assertIn('imageUri: "europe-west4-docker.pkg.dev/p/r/i:2"', file)
        self.assertIn("outputUriPrefix: gs://other/mine\n", file)
        self.assertTrue(any("--region=europe-west4" in line for line in self.lines()))

    def test_names_the_job_by_the_time(self):
        said = self.runs(SUBMIT, JOB_NAME="")
        self.assertRegex(said, r"model: gs://my-project-seqtrain/seqtrain_\d{8}_\d{6}/models\n")

    def test_a_flag_replaces_the_one_of_the_same_name(self):
        self.runs(SUBMIT, "--", "--model", "gs://b/m")
        self.assertNotIn("all-MiniLM", self.cloud.job_file())
        self.assertTrue(any("storage ls gs://b/m" in line for line in self.lines()))

    def test_trials_are_a_tuning_job(self):
        said = self.runs(SUBMIT, "--config", JOBS / "trials.yaml")
        self.assertTrue(any("hp-tuning-jobs create" in line for line in self.lines()))
        self.assertTrue(any(f"hp-tuning-jobs stream-logs {TUNING}" in line for line in self.lines()))
        self.assertIn("/models/TRIAL/model", said.splitlines()[-1])

    def test_builds_and_pushes_before_it_submits(self):
        self.runs(SUBMIT, "--build")
        order = [re.search("make|push|custom-jobs create", line) for line in self.lines()]
        self.assertEqual([match[0] for match in order if match], ["make", "push", "custom-jobs create"])

    def test_cloud_build_passes_the_arguments_of_the_image(self):
        self.runs(SUBMIT, "--cloud-build", PROGRAM="imdb", TORCH_INDEX="https://torch/cpu")
        line = next(line for line in self.lines() if "builds submit" in line)
        self.assertIn("/seqtrain:latest,_PROGRAM=imdb,_TORCH=cpu,_TORCH_INDEX=https://torch/cpu", line)

    def test_builds_an_image_for_the_jobs_machine(self):
        without = self.job_with("NVIDIA_L4", "ACCELERATOR_TYPE_UNSPECIFIED")
        kinds = [(JOBS / "job.yaml", "cuda", "cuda"), (JOBS / "job-languages.yaml", "cpu", "latest"),
                 (without, "cpu", "latest")]
        for config, torch, tag in kinds:
            said = self.cloud.run(SUBMIT, "--build", "--config", config)[2]
            self.assertRegex(said, f"env IMAGE_URI=[^ ]+/seqtrain:{tag} TORCH={torch} make")
            self.assertIn(f"/seqtrain:{tag}\"", self.cloud.job_file())
        for settings in ({"TORCH": "cpu"}, {"TORCH_INDEX": "https://torch/cpu"}):
            said = self.cloud.run(SUBMIT, "--build", **settings)[2]
            self.assertIn("TORCH=cpu make", said)
            self.assertIn("stays idle", said)

    def test_a_job_that_fails_ends_with_1(self):
        answers = {"(state)": "JOB_STATE_FAILED", "(error.message)": "out of memory"}
        code, said, warned = self.cloud.run(SUBMIT, answers=answers)
        self.assertEqual(code, 1)
        self.assertIn("the job ended as JOB_STATE_FAILED", warned)
        self.assertIn("out of memory", warned)
        self.assertNotIn("Fine-tuned", said)

    def test_an_organization_is_part_of_a_projects_name(self):
        self.runs(SUBMIT, PROJECT="example.com:mine")
        self.assertIn('imageUri: "us-central1-docker.pkg.dev/example.com/mine/', self.cloud.job_file())
        self.assertIn("gs://example-com-mine-seqtrain/", self.cloud.job_file())


class Local(Scripts):
    def setUp(self):
        super().setUp()
        self.key = self.cloud.folder / "key.json"
        self.key.write_text("{}", encoding="utf-8")

    def run_line(self, *arguments, **options):
        self.runs(SUBMIT, "--local", *arguments, GOOGLE_APPLICATION_CREDENTIALS=str(self.key), **options)
        return next(words for words in self.cloud.calls() if words[:2] == ["docker", "run"])

    def test_runs_the_image_with_the_callers_credentials_first(self):
        words = self.run_line(*FLAGS)
        self.assertIn(f"{self.key}:/tmp/credentials.json:ro", words)
        image = words.index("us-central1-docker.pkg.dev/my-project/seqtrain/seqtrain:cuda")
        self.assertEqual(words[image + 3 :], ["--epochs", "3", "--labels=it's,a \"b\"", "--max-steps=2"])
        self.assertTrue(words[image + 2].endswith("/seqtrain_20260102_030405/local"), words)
        order = [re.search("docker run|custom-jobs create", line) for line in self.lines()]
        self.assertEqual([match[0] for match in order if match], ["docker run", "custom-jobs create"])

    def test_a_given_flag_replaces_one_of_local_args(self):
        self.assertNotIn("--max-steps=2", self.run_line("--", "--max_steps", "9"))
        self.assertEqual(self.run_line(LOCAL_ARGS="--epochs=1 --max-length=8")[-2:], ["--epochs=1", "--max-length=8"])

    def test_runs_the_program_of_the_job_file(self):
        words = self.run_line("--config", JOBS / "job-languages.yaml", LOCAL_ARGS="")
        self.assertEqual(words[words.index("--entrypoint") + 1], "languages")

    def test_submits_nothing_if_the_program_fails(self):
        key = str(self.key)
        code, _, warned = self.cloud.run(
            SUBMIT, "--local", answers={"docker run": None}, GOOGLE_APPLICATION_CREDENTIALS=key
        )
        self.assertEqual(code, 2)
        self.assertIn("the program failed here; nothing was submitted", warned)
        self.assertFalse(any("create" in line for line in self.lines()))

    def test_refuses_without_credentials(self):
        self.refuses("gcloud auth application-default login", "--local")


class Refusals(Scripts):
    def test_unknown_keys(self):
        for old, new in (
            ("timeout:", "timeot:"),
            ("machineSpec:", "machine_spec:"),
            ("  replicaCount", "  timeout: 3s\n  replicaCount"),
            ("replicaCount: 1", "diskSpec: {bootDiskSizeGB: 100}"),
            ("scheduling:", "env: []\nscheduling:"),
        ):
            with self.subTest(new):
                name = re.search(r"timeot|machine_spec|timeout|bootDiskSizeGB|env", new)[0]
                changed = self.job_with(old, new)
                self.refuses([f".{name}\n", "vi "], "--config", changed, PROJECT="my-project")
                self.assertEqual(self.cloud.calls(), [])

    def test_unknown_keys_of_trials(self):
        path = self.job_with("metricId", "metric", source="trials.yaml")
        self.refuses("metrics.metric\n", "--config", path)

    def test_a_word_that_nothing_fills_in(self):
        self.refuses("@IMAGE@", "--config", self.job_with("@IMAGE_URI@", "@IMAGE@"))

    def test_no_job_file(self):
        self.refuses("nowhere.yaml cannot be read", "--config", "nowhere.yaml")

    def test_flags_that_have_no_place(self):
        self.refuses("no line '# @ARGS@'", "--config", self.job_with("# @ARGS@", ""), "--", "--epochs=3")

    def test_flags_that_the_job_sets(self):
        self.refuses("JOB_DIR=gs://", "--", "--job_dir=gs://b/x")
        trials = JOBS / "trials.yaml"
        self.refuses("--learning-rate is varied", "--config", trials, "--", "--learning_rate", "1e-5")

    def test_unknown_flag(self):
        self.refuses("there is no flag --epochs; flags of the program follow --", "--epochs", "3")

    def test_two_ways_to_build(self):
        self.refuses("one of --build and --cloud-build", "--build", "--cloud-build")

    def test_values_that_a_job_file_cannot_hold(self):
        self.refuses("BUCKET_NAME is not usable", BUCKET_NAME="a|b")
        self.refuses("JOB_NAME has to be a name", JOB_NAME="a/b")
        self.refuses("JOB_DIR gs://", JOB_DIR="/tmp/models")

    def test_unknown_kind_of_image(self):
        for build in ("--build", "--cloud-build"):
            self.refuses("TORCH is 'gpu'; it must be cpu or cuda", build, TORCH="gpu")
            self.assertEqual(self.cloud.calls(), [])

    def test_no_project(self):
        answers = {"config get-value project": "(unset)"}
        self.refuses(["no project is set", "gcloud config set project"], answers=answers)
        self.refuses("gcloud config set project", answers={"config get-value project": ""})

    def test_no_account(self):
        self.refuses("gcloud auth login", answers={"auth list": ""})

    def test_project_that_cannot_be_read(self):
        self.refuses("gcloud projects list", answers={"projects describe": None})

    def test_bucket_of_another_project(self):
        self.refuses(
            ["belongs to project number 99, not to my-project (12)", "gcloud storage buckets create"],
            "--build",
            answers={"buckets describe": "99"},
        )

    def test_bucket_that_is_not_there(self):
        self.refuses(
            "gcloud storage buckets create gs://my-project-seqtrain --project=my-project --location=us-central1",
            answers={"buckets describe": None},
        )

    def test_input_that_is_not_there(self):
        place = "gs://my-project-seqtrain/checkpoints/all-MiniLM-L6-v2"
        self.refuses(f"gcloud storage cp --recursive LOCAL_PATH {place}", answers={"storage ls": None})
        for flags in (["--train-file", "gs://b/t"], ["--train_file=gs://b/t"]):
            self.refuses("gs://b/t is not there", "--", *flags, answers={"ls gs://b/t": None})

    def test_outputs_need_not_be_there(self):
        self.runs(SUBMIT, "--", "--checkpoint_dir", "gs://b/c", answers={"ls gs://b/c": None})

    def test_image_that_is_not_there(self):
        self.refuses("submit.sh --build", answers={"docker images describe": None})

    def test_no_repository_for_the_image(self):
        for build in ("--build", "--cloud-build"):
            self.refuses(
                "gcloud artifacts repositories create seqtrain --repository-format=docker"
                " --location=us-central1 --project=my-project",
                build,
                answers={"repositories describe": None},
            )

    def test_repository_of_another_project(self):
        for place, repository in (
            ("other/images/a/b:1", "describe images --location=us-east1 --project=other "),
            ("example.com/other/images/a", "describe images --location=us-east1 --project=example.com:other "),
        ):
            self.runs(SUBMIT, "--cloud-build", IMAGE_URI=f"us-east1-docker.pkg.dev/{place}")
            self.assertTrue(any(repository in line for line in self.lines()), self.lines())

    def test_image_that_cannot_be_pushed(self):
        code, _, warned = self.cloud.run(SUBMIT, "--build", answers={"push": None})
        self.assertEqual(code, 2)
        self.assertIn("gcloud auth configure-docker us-central1-docker.pkg.dev", warned)
        self.assertFalse(any("create" in line for line in self.lines()))

    def test_image_that_cannot_be_built(self):
        for build, command in (("--build", "make"), ("--cloud-build", "builds submit")):
            code, _, warned = self.cloud.run(SUBMIT, build, answers={command: None})
            self.assertEqual(code, 2)
            self.assertIn("the image cannot be built", warned)
            self.assertFalse(any("create" in line for line in self.lines()))

    def test_job_that_is_not_accepted(self):
        code, said, warned = self.cloud.run(SUBMIT, answers={"custom-jobs create": None})
        self.assertEqual(code, 2)
        self.assertIn("gcloud services enable aiplatform.googleapis.com", warned)
        self.assertNotIn("Fine-tuned", said)


class Deploy(Scripts):
    MODEL = "gs://b/job/models/model_20260102_030405/model"

    def test_uploads_deploys_and_asks_once(self):
        said = self.runs(DEPLOY, self.MODEL + "/")
        steps = [re.search("upload|endpoints create|deploy-model|predict ", line) for line in self.lines()]
        names = [match[0] for match in steps if match]
        self.assertEqual(names, ["upload", "endpoints create", "deploy-model", "predict "])
        self.assertTrue(any("--model=78 " in line for line in self.lines()))
        self.assertIn("gcloud ai endpoints delete projects/12/locations/us-central1/endpoints/90", said)

    def test_says_how_to_remove_what_was_made_before_a_failure(self):
        code, said, _ = self.cloud.run(DEPLOY, self.MODEL, answers={"deploy-model": None})
        self.assertNotEqual(code, 0)
        self.assertIn("gcloud ai models delete 78", said)

    def test_help_says_what_the_image_must_contain(self):
        self.assertIn("must contain the program `serve`", self.runs(DEPLOY, "--help"))

    def test_refusals(self):
        self.refuses("MODEL_DIR has to be in a bucket", script=DEPLOY)
        self.refuses("cannot be read", self.MODEL, "nowhere.json", script=DEPLOY)
        self.refuses("there is no flag --epochs", "--epochs", script=DEPLOY)
        self.refuses("one argument too many", self.MODEL, JOBS / "request.json", "c", script=DEPLOY)
        self.refuses("config.json is not there", self.MODEL, script=DEPLOY, answers={"storage ls": None})
        self.refuses("submit.sh --build", self.MODEL, script=DEPLOY, answers={"docker images describe": None})
        image = "us-docker.pkg.dev/p/r/seqtrain:mine"
        missing = {f"docker images describe {image}": None}
        self.refuses(f"no image {image}\n", self.MODEL, script=DEPLOY, answers=missing, IMAGE_URI=image)

    def test_takes_the_image_for_gpus_if_there_is_no_other(self):
        image = "us-central1-docker.pkg.dev/my-project/seqtrain/seqtrain:latest"
        self.runs(DEPLOY, self.MODEL, answers={f"docker images describe {image}": None})
        self.assertTrue(any("models upload" in line and "/seqtrain:cuda " in line for line in self.lines()))


class Packages(unittest.TestCase):
    @unittest.skipUnless(shutil.which("dpkg-query"), "packages are Debian's")
    def test_are_those_of_programs_and_scripts_are_passed_over(self):
        run = ROOT / "examples/seqtrain/run.sh"
        command = [ROOT / "tools/runtime_packages.sh", "/bin/sh", run, run.parent / "project"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertIn("libc6", done.stdout.split())


class Image(Scripts):
    """Tests image.sh and make_venv.sh in a folder with a docker and a pip that only record their calls."""

    FOR_CUDA_12 = "filelock nvidia-cuda-runtime-cu12==12.6 nvidia-cublas-cu12==12.6 triton==3 cuda-bindings"

    def setUp(self):
        super().setUp()
        self.tools = self.cloud.folder / "tools"
        self.tools.mkdir()
        for name in ("image.sh", "container_engine.sh", "make_venv.sh"):
            shutil.copy(ROOT / "tools" / name, self.tools)

    def line(self, word, script="image.sh", arguments=(), **variables):
        """Returns the last command with this word that a script runs."""
        self.runs(self.tools / script, *arguments, SOURCE_DATE_EPOCH="0", **variables)
        return next((line for line in reversed(self.lines()) if word in line), None)

    def test_each_kind_has_a_tag_and_a_folder_of_wheels(self):
        other = self.cloud.folder / "build/wheels-cuda"
        for torch, tag in ((None, "latest"), ("cpu", "latest"), ("cuda", "cuda")):
            variables = {"TORCH": torch} if torch else {}
            build = self.line("docker build", FAKE_REQUIRES="cuda-toolkit[cudart]==13", **variables)
            self.assertIn(f"--build-arg TORCH={torch or 'cpu'} --tag localhost/seqtrain:{tag} ", build)
            self.assertTrue((self.cloud.folder / f"build/wheels-{torch or 'cpu'}").exists())
            self.assertEqual(other.exists(), torch == "cuda")
        ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8")
        for kind in ("cpu", "cuda"):
            self.assertIn(f"!build/wheels-{kind}\n", ignored)

    def test_the_pip_of_this_machine_fetches_what_no_index_is_named_for(self):
        index = "https://torch/cpu"
        fetched = {"FAKE_REQUIRES": "cuda-toolkit[cudart]==13", "TORCH_INDEX": index}
        self.assertIsNone(self.line("download", TORCH="cpu", **fetched))
        self.assertIsNotNone(self.line("download", TORCH="cuda", **fetched))

    def test_refuses_an_unknown_kind_first(self):
        (self.cloud.folder / "build/wheels").mkdir(parents=True)
        for script in ("image.sh", "make_venv.sh"):
            self.refuses("TORCH is 'gpu'; it must be cpu or cuda", script=self.tools / script, TORCH="gpu")
            self.assertEqual([line for line in self.lines() if "info" not in line], [])
        make = subprocess.run(["make", "-n", "image", "TORCH=gpu"], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual((make.returncode, "TORCH is 'gpu'; it must be cpu or cuda" in make.stderr), (2, True))

    def test_fetches_what_torch_requires(self):
        download = {"script": "make_venv.sh", "arguments": ("--download", "wheels")}
        for requires, expected in (
            ("cuda-toolkit[cudart]==13 nvidia-nccl-cu13 triton", "cuda-toolkit[crt,cccl,cudart]==13 nvidia-nccl-cu13"),
            (self.FOR_CUDA_12, "filelock nvidia-cuda-runtime-cu12==12.6 nvidia-cublas-cu12==12.6"),
        ):
            line = self.line("wheels " + expected, TORCH="cuda", FAKE_REQUIRES=requires, **download)
            self.assertIsNotNone(line, self.lines())
            self.assertTrue(line.endswith(expected), line)

    def test_fetches_two_libraries_of_cuda_for_a_processor(self):
        def requires(words):
            variables = {"answers": {"+cpu": None}, "TORCH": "cpu", "FAKE_REQUIRES": words}
            self.runs(self.tools / "make_venv.sh", "--download", "wheels", **variables)
            return [line.split(" wheels ")[1] for line in self.lines() if "download" in line]

        self.assertIn("cuda-toolkit[cudart,cupti]==13", requires("cuda-toolkit[nvrtc,cudart]==13"))
        self.assertIn("nvidia-cuda-runtime-cu12==12.6", requires(self.FOR_CUDA_12))

    def test_refuses_an_index_that_has_no_torch_for_gpus(self):
        code, _, warned = self.cloud.run(
            self.tools / "make_venv.sh", "--download", "wheels", TORCH="cuda", FAKE_REQUIRES="filelock"
        )
        self.assertEqual(code, 1)
        self.assertIn("for processors only", warned)


@unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is missing")
class ShellCheck(unittest.TestCase):
    def test_scripts_are_clean(self):
        scripts = sorted(map(str, JOBS.glob("*.sh")))
        ended = subprocess.run(
            ["shellcheck", "-x", *scripts], cwd=ROOT, capture_output=True, text=True, check=False
        )
        self.assertEqual(ended.returncode, 0, ended.stdout)


def update():
    GOLDEN.mkdir(exist_ok=True)
    with Cloud() as cloud:
        for name in DRY_RUNS:
            (GOLDEN / f"{name}.txt").write_text(dry_run(cloud, name), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
