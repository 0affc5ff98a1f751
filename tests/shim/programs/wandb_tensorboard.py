"""Weights & Biases with `sync_tensorboard`, offline: the rows of its file."""

import glob
import json
import struct
import time

import wandb
from wandb.proto.wandb_internal_pb2 import Record

run = wandb.init(project="p", mode="offline", sync_tensorboard=True)
wandb.define_metric("*", step_metric="global_step")

from _common import input_fn, make_estimator

BLOCK, HEADER = 32768, 7
MIN_ROWS = 5


def read_records(path):
    """Yields the records of a file in the format of LevelDB's log, whose header has 7 bytes."""
    with open(path, "rb") as file:
        data = file.read()
    position, record = HEADER, b""
    while position + HEADER <= len(data):
        left = BLOCK - position % BLOCK
        if left < HEADER:
            position += left
            continue
        _, size, kind = struct.unpack("<IHB", data[position : position + HEADER])
        position += HEADER + size
        if position > len(data):
            return  # W&B is still writing it.
        record += data[position - size : position]
        if kind in (1, 4):  # Complete, or the last part.
            yield record
            record = b""


def read_rows():
    """Returns the rows that W&B has written, and the metrics whose x axis was chosen."""
    (path,) = glob.glob("wandb/offline-run-*/*.wandb")
    rows, step_metrics = [], []
    for data in read_records(path):
        record = Record.FromString(data)
        if record.HasField("metric"):
            step_metrics.append([record.metric.glob_name, record.metric.step_metric])
        items = {item.key or item.nested_key[0]: item.value_json for item in record.history.item}
        if items:
            rows.append({name: json.loads(value) for name, value in items.items()})
    return rows, step_metrics


estimator = make_estimator("model")
for _ in range(2):
    estimator.train(input_fn, steps=50)
    estimator.evaluate(input_fn, steps=1)
# `finish` may end before W&B has read all event files.
deadline = time.monotonic() + 300
while len(read_rows()[0]) < MIN_ROWS and time.monotonic() < deadline:
    time.sleep(0.2)
wandb.finish()
rows, step_metrics = read_rows()
print(json.dumps({"rows": rows, "step_metrics": step_metrics}))
