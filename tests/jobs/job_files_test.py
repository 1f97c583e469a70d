"""Tests that google-cloud-aiplatform's own types can read the job files of examples/jobs.

Needs, in the Python that runs it: pip install google-cloud-aiplatform PyYAML. Ends with 77 ("skipped")
where these are missing.
"""

import json
import re
import subprocess
import sys
import unittest

from fakes import JOBS, Cloud

try:
    import yaml
    from google.cloud.aiplatform_v1.types import CustomJob, CustomJobSpec, HyperparameterTuningJob
    from google.protobuf.json_format import ParseError
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TYPES = {
    "job.yaml": CustomJobSpec,
    "job-two-machines.yaml": CustomJobSpec,
    "job-languages.yaml": CustomJobSpec,
    "trials.yaml": HyperparameterTuningJob,
}
# Fields of a HyperparameterTuningJob that the service fills in. A job file has none of them.
OUTPUTS = "name trials state createTime startTime endTime updateTime error satisfiesPzs satisfiesPzi"


def parse(kind, data):
    return kind.from_json(json.dumps(data), ignore_unknown_fields=False)


def mappings(data, path=()):
    """Returns the places of all mappings in a document."""
    if isinstance(data, dict):
        yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from mappings(value, (*path, key))


def changed(data, path, change):
    copy = json.loads(json.dumps(data))
    place = copy
    for step in path:
        place = place[step]
    change(place)
    return copy


class JobFiles(unittest.TestCase):
    def sent(self, name, *flags):
        """Returns the file that submit.sh sends for a job file."""
        with Cloud() as cloud:
            code, said, warned = cloud.run(JOBS / "submit.sh", "--config", JOBS / name, "--", *flags)
            self.assertEqual(code, 0, said + warned)
            return yaml.safe_load(cloud.job_file())

    def test_every_job_file_is_known_here(self):
        files = {path.name for path in JOBS.glob("*.yaml")} - {"cloudbuild.yaml"}
        self.assertEqual(files, set(TYPES))

    def test_types_take_what_is_sent(self):
        for name, kind in TYPES.items():
            with self.subTest(name):
                parse(kind, self.sent(name, "--epochs", "3"))

    def test_types_refuse_an_unknown_field_at_every_place(self):
        for name, kind in TYPES.items():
            data = self.sent(name)
            for path in mappings(data):
                with self.subTest(name, path=path), self.assertRaises(ParseError):
                    parse(kind, changed(data, path, lambda place: place.update({"seqtrain": 1})))

    def test_types_refuse_a_field_that_is_spelled_wrong(self):
        data = self.sent("job.yaml")
        for wrong in ({"scheduling": {"strategy": "CHEAP"}}, {"scheduling": {"timeout": "1h"}}):
            with self.subTest(wrong), self.assertRaises(ParseError):
                parse(CustomJobSpec, {**data, **wrong})

    def test_what_the_jobs_say(self):
        job = parse(CustomJobSpec, self.sent("job.yaml", "--labels", 'a "b"\\c: #d'))
        pool = job.worker_pool_specs[0]
        self.assertEqual((pool.replica_count, pool.machine_spec.accelerator_count), (1, 1))
        self.assertEqual(list(pool.container_spec.args)[-2:], ["--labels", 'a "b"\\c: #d'])
        self.assertEqual(job.scheduling.timeout.total_seconds(), 86400)
        self.assertTrue(job.base_output_directory.output_uri_prefix.startswith("gs://"))
        CustomJob(display_name="seqtrain", job_spec=job)

        pools = parse(CustomJobSpec, self.sent("job-two-machines.yaml", "--epochs=3")).worker_pool_specs
        self.assertEqual([pool.replica_count for pool in pools], [1, 1])
        self.assertEqual(pools[0].container_spec, pools[1].container_spec)
        self.assertEqual(list(pools[1].container_spec.args)[-1], "--epochs=3")

    def test_what_the_trials_say(self):
        tuning = parse(HyperparameterTuningJob, self.sent("trials.yaml"))
        metric = tuning.study_spec.metrics[0]
        self.assertEqual((metric.metric_id, metric.goal.name), ("accuracy", "MAXIMIZE"))
        rate, decay = tuning.study_spec.parameters
        self.assertEqual((rate.parameter_id, rate.scale_type.name), ("learning-rate", "UNIT_LOG_SCALE"))
        self.assertEqual((rate.double_value_spec.min_value, rate.double_value_spec.max_value), (1e-6, 1e-3))
        self.assertEqual(decay.parameter_id, "weight-decay")
        self.assertEqual(list(decay.discrete_value_spec.values), [0, 0.001, 0.01, 0.1])
        self.assertIn("--hp-tune=y", tuning.trial_job_spec.worker_pool_specs[0].container_spec.args)


class UnknownKeys(unittest.TestCase):
    """Tests that unknown_keys.awk has the keys of the types, each at its place."""

    def check(self, kind, text):
        command = ["awk", "-v", f"root={kind.__name__}", "-f", str(JOBS / "unknown_keys.awk")]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout

    def table(self):
        """Returns the keys that unknown_keys.awk lists for each parent."""
        text = (JOBS / "unknown_keys.awk").read_text(encoding="utf-8")
        listed = re.findall(r'known\("(\w+)", ((?:"[^"]*"[\s\\]*)+)\)', text)
        table = {parent: set("".join(re.findall('"([^"]*)"', keys)).split()) for parent, keys in listed}
        same = re.findall(r'children\["(\w+)"\] = children\["(\w+)"\]', text)
        return {**table, **{one: table[other] for one, other in same}}

    def keys_of_types(self, descriptor, parent, found):
        """Adds the keys of a type and of all types in it to `found`, by the field that holds them."""
        if descriptor.full_name.startswith("google.protobuf") or parent in found or parent == "labels":
            return found
        outputs = OUTPUTS.split() if parent == "HyperparameterTuningJob" else []
        fields = [field for field in descriptor.fields if field.json_name not in outputs]
        found[parent] = {field.json_name for field in fields}
        for field in fields:
            if field.message_type:
                self.keys_of_types(field.message_type, field.json_name, found)
        return found

    def styles(self, data):
        return {
            "block": yaml.safe_dump(data),
            "flow": yaml.safe_dump(data, default_flow_style=True),
            "json": json.dumps(data, indent=2),
            "json in a line": json.dumps(data),
        }

    def test_the_table_is_that_of_the_types(self):
        """If a newer package has more keys, add them to unknown_keys.awk."""
        found = {}
        for kind in (CustomJobSpec, HyperparameterTuningJob):
            self.keys_of_types(kind.pb(kind()).DESCRIPTOR, kind.__name__, found)
        self.assertEqual(self.table(), found)

    def test_a_key_is_found_at_every_place(self):
        for name, kind in TYPES.items():
            data = yaml.safe_load((JOBS / name).read_text(encoding="utf-8"))
            for path in mappings(data):
                wrong = changed(data, path, lambda place: place.update({"seqtrain": 1}))
                parents = [step for step in path if isinstance(step, str)]
                expected = f"{parents[-1] if parents else kind.__name__}.seqtrain"
                for style, text in self.styles(wrong).items():
                    with self.subTest(name, path=path, style=style):
                        found = self.check(kind, text).splitlines()
                        self.assertEqual([line.split(": ")[1] for line in found], [expected])

    def test_a_key_of_another_place_is_found(self):
        data = yaml.safe_load((JOBS / "job.yaml").read_text(encoding="utf-8"))
        data["timeout"] = data["scheduling"].pop("timeout")
        for style, text in self.styles(data).items():
            with self.subTest(style):
                self.assertRegex(self.check(CustomJobSpec, text), r"^\d+: CustomJobSpec.timeout\n$")


if __name__ == "__main__":
    unittest.main()
