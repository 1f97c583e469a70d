"""Reads documents as gcloud's own message classes do.

    PYTHON gcloud_messages.py LIB < DOCUMENTS

PYTHON is gcloud's; LIB is the folder `lib` of its installation. DOCUMENTS is a JSON list of pairs: a
message, `CustomJobSpec`, `HyperparameterTuningJob` or `Build`, and the document's text, YAML or JSON.
Prints a JSON list with what is wrong with each, or null.
"""

import io
import json
import sys

sys.path[:0] = [sys.argv[1], sys.argv[1] + "/third_party"]

from googlecloudsdk.api_lib.cloudbuild import config
from googlecloudsdk.api_lib.util import apis, messages
from googlecloudsdk.core import yaml


def problem(kind, text):
    try:
        if kind == "Build":
            build = apis.GetMessagesModule("cloudbuild", "v1")
            config.LoadCloudbuildConfigFromStream(io.StringIO(text), build, path="cloudbuild.yaml")
        else:
            vertex = apis.GetMessagesModule("aiplatform", "v1")
            message = getattr(vertex, f"GoogleCloudAiplatformV1{kind}")
            messages.DictToMessageWithErrorCheck(yaml.load(text), message)
    except Exception as error:  # each loader has exceptions of its own
        return f"{type(error).__name__}: {error}"
    return None


print(json.dumps([problem(*document) for document in json.load(sys.stdin)]))
