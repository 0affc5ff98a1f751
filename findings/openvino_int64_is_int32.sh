#!/usr/bin/env bash
# OpenVINO's plugin for CPUs computes int64 as int32: sums wrap around, larger inputs lose their upper
# bits, and a constant beyond int32 becomes the largest int32 in a comparison. The outputs are int64
# again, so nothing shows it. Times in milliseconds, ids above 2**31 and fingerprints become
# others. NumPy, TensorFlow, onnxruntime and LiteRT compute 64 bits.
#
# Seen with OpenVINO 2026.4.1, NumPy 2.1.3 and Python 3.11 on Linux, x86-64, for
# [7, 2147483647, 1099511627779]:
#
#   NumPy:    x + 1 = [8, 2147483648, 1099511627780], x > 2**31 = [False, False, True]
#   OpenVINO: x + 1 = [8, -2147483648, 4], x > 2**31 = [False, False, False]
#
# Pass such numbers as floats, or as the strings or bucket numbers that the model makes of them.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openvino==2026.4.1 numpy==2.1.3
"$folder/venv/bin/python" - > "$folder/found" <<'PYTHON'
import numpy as np
import openvino
from openvino import opset13

NUMBERS = np.array([7, 2**31 - 1, 2**40 + 3], np.int64)


def compute(operation, number):
    given = opset13.parameter([3], np.int64)
    output = operation(given, opset13.constant(np.int64(number)))
    model = openvino.Core().compile_model(openvino.Model([output], [given]), "CPU")
    return model([NUMBERS])[0].tolist()


def show(sums, comparisons):
    return f"x + 1 = {sums}, x > 2**31 = {comparisons}"


print("NumPy:   ", show((NUMBERS + 1).tolist(), (NUMBERS > 2**31).tolist()))
print("OpenVINO:", show(compute(opset13.add, 1), compute(opset13.greater, 2**31)))
PYTHON
diff <(sed -n 's/^#   \(NumPy\|OpenVINO\):/\1:/p' "$0") "$folder/found"
echo "as described"
