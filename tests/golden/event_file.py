#!/usr/bin/env python3
"""Writes event_file.tfevents: records as tensorboard's own protocol buffers and writer make them, for
the tests of report/event_file.hpp and report/summary.hpp."""
import math
from pathlib import Path

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.plugins.text import metadata as text_metadata
from tensorboard.summary.writer.record_writer import RecordWriter
from tensorboard.util import tensor_util

TIME = 1700000000.125


def event(step=0, **content):
    return event_pb2.Event(wall_time=TIME, step=step, **content)


def scalars(step, **values):
    summary = summary_pb2.Summary()
    for tag, value in values.items():
        summary.value.add(tag=tag.replace("__", "/"), simple_value=value)
    return event(step, summary=summary)


def text(step, tag, markdown):
    metadata = text_metadata.create_summary_metadata(display_name=None, description=None)
    metadata.data_class = summary_pb2.DATA_CLASS_TENSOR
    tensor = tensor_util.make_tensor_proto(markdown, dtype=np.object_)
    summary = summary_pb2.Summary()
    summary.value.add(tag=tag, metadata=metadata, tensor=tensor)
    return event(step, summary=summary)


def hparams(step, tag, content):
    metadata = hparams_metadata.create_summary_metadata(content)
    metadata.data_class = summary_pb2.DATA_CLASS_TENSOR
    summary = summary_pb2.Summary()
    summary.value.add(tag=tag, metadata=metadata, tensor=hparams_metadata.NULL_TENSOR)
    return event(step, summary=summary)


def session_start():
    info = plugin_data_pb2.SessionStartInfo(start_time_secs=TIME)
    info.hparams["batch-size"].number_value = 0
    info.hparams["fp16"].bool_value = False
    info.hparams["learning-rate"].number_value = 3e-5
    info.hparams["model"].string_value = "größe"
    info.hparams["nan"].string_value = "nan"
    info.hparams["tune"].bool_value = True
    return plugin_data_pb2.HParamsPluginData(session_start_info=info)


def session_end():
    info = plugin_data_pb2.SessionEndInfo(status="STATUS_SUCCESS", end_time_secs=TIME)
    return plugin_data_pb2.HParamsPluginData(session_end_info=info)


def restart(step):
    return event(step, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START))


EVENTS = [
    event(file_version="brain.Event:2"),
    restart(0),
    restart(43),
    scalars(300, train__loss=0.6931, a=0, b=math.nan, c=-math.inf),
    scalars(1 << 40, largest=3.4e38),
    text(7, "flags", "| größe |\n|:--|\n" + 200 * "long "),
    text(0, "invalid", "a\ufffd\ufffdb"),
    hparams(0, hparams_metadata.SESSION_START_INFO_TAG, session_start()),
    hparams(9, hparams_metadata.SESSION_END_INFO_TAG, session_end()),
]

# Hyperparameters are a map, which is sorted by its keys only on request.
with open(Path(__file__).parent / "event_file.tfevents", "wb") as file:
    writer = RecordWriter(file)
    for one in EVENTS:
        for value in one.summary.value:
            if value.tag == hparams_metadata.SESSION_START_INFO_TAG:
                value.metadata.plugin_data.content = session_start().SerializeToString(
                    deterministic=True)
        writer.write(one.SerializeToString(deterministic=True))
