#!/usr/bin/env bash
# OpenVINO's plugin for CPUs computes `Greater` and `GreaterEqual` of NaN and a number as true. IEEE
# 754, NumPy, TensorFlow and onnxruntime say false, and so does OpenVINO for `Less` and `LessEqual`.
# A model that puts missing values into buckets, or a decision tree by comparisons, sends them the
# other way after its conversion, without an error. `IsNaN` works: replace NaN before the comparison.
#
# Seen with OpenVINO 2026.4.1, NumPy 2.1.3 and Python 3.11 on Linux, x86-64:
#
#   NumPy:    NaN > 1: False, NaN >= 1: False, NaN < 1: False, NaN <= 1: False
#   OpenVINO: NaN > 1: True, NaN >= 1: True, NaN < 1: False, NaN <= 1: False
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openvino==2026.4.1 numpy==2.1.3
"$folder/venv/bin/python" - > "$folder/found" <<'PYTHON'
import numpy as np
import openvino
from openvino import opset13

NAMES = {">": "greater", ">=": "greater_equal", "<": "less", "<=": "less_equal"}
nan, one = np.float32([np.nan] * 3), np.float32([1.0] * 3)


def compute(name):
    given = [opset13.parameter([3], np.float32) for _ in range(2)]
    model = openvino.Model([getattr(opset13, name)(*given)], given)
    return openvino.Core().compile_model(model, "CPU")([nan, one])[0][0]


def show(answers):
    return ", ".join(f"NaN {sign} 1: {bool(answer)}" for sign, answer in answers.items())


print("NumPy:   ", show({sign: getattr(np, name)(nan, one)[0] for sign, name in NAMES.items()}))
print("OpenVINO:", show({sign: compute(name) for sign, name in NAMES.items()}))
PYTHON
diff <(sed -n 's/^#   \(NumPy\|OpenVINO\):/\1:/p' "$0") "$folder/found"
echo "as described"
