#!/usr/bin/env bash
# tensorflow-datasets 4.9.10 with tensorflow 2.21.0 and numpy 2.4.6, Python 3.11.
#
# A feature that a builder of TensorFlow Datasets declares as float64 is stored as 32-bit floats, in
# TFRecord and in ArrayRecord files. It is read as float64 again, so that the type says nothing of
# the lost digits: coordinates, timestamps in seconds and large amounts change. There is no warning.
# Integers of 64 bits are exact.
#
# Output seen:
#   tfrecord: scalar float64 1700000000.25 -> 1700000000.0, tensor float64 0.1 -> 0.10000000149011612, int64 9007199254740993 -> 9007199254740993
#   array_record: scalar float 1700000000.25 -> 1700000000.0, tensor float64 0.1 -> 0.10000000149011612, int 9007199254740993 -> 9007199254740993
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/program.py" <<'PYTHON'
import sys

import numpy as np
import tensorflow_datasets as tfds

ROW = {"scalar": 1_700_000_000.25, "tensor": [0.1], "count": 2**53 + 1}


class Numbers(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")
    pkg_dir_path = None

    def _info(self):
        features = {
            "scalar": np.float64,
            "tensor": tfds.features.Tensor(shape=(1,), dtype=np.float64),
            "count": np.int64,
        }
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

    def _split_generators(self, manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        yield 0, ROW


tfds.disable_progress_bar()
for form in ("tfrecord", "array_record"):
    builder = Numbers(data_dir=f"{sys.argv[1]}/{form}", file_format=form)
    builder.download_and_prepare()
    if form == "tfrecord":
        row = next(iter(tfds.as_numpy(builder.as_dataset(split="train"))))
    else:
        row = builder.as_data_source(split="train")[0]
    scalar, tensor, count = row["scalar"], row["tensor"], row["count"]
    print(
        f"{form}: scalar {type(scalar).__name__} {ROW['scalar']} -> {float(scalar)},",
        f"tensor {tensor.dtype} {ROW['tensor'][0]} -> {tensor.tolist()[0]},",
        f"{type(count).__name__} {ROW['count']} -> {int(count)}",
    )
PYTHON
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet \
  tensorflow-datasets==4.9.10 tensorflow==2.21.0 numpy==2.4.6
TF_CPP_MIN_LOG_LEVEL=3 "$folder/venv/bin/python" "$folder/program.py" "$folder" \
  2> /dev/null | grep record: | tee "$folder/output"
diff "$folder/output" <(sed -n '/^# Output seen/,/^set/s/^#   //p' "$0")
