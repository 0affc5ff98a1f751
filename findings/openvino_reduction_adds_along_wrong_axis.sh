#!/usr/bin/env bash
# openvino 2026.4.1: a sum over the last axis plus a constant row adds the row along another axis.
#
# A reduction without keep_dims, such as ReduceSum of [2, 3, 4] over axis 2, and an Add of a constant
# of shape [3] are fused on CPUs. The fused operation takes the constant for one of channels of
# the unreduced tensor, and adds its first number to the first row of the result, the second to the
# second row. Multiply and Subtract, ReduceMax and ReduceMean, and float32, int32 and int64 behave in
# the same way. If the constant is an input of the model, the answer is right.
#
# Output:
#   expected: [[1.0, 10.0, 100.0], [1.0, 10.0, 100.0]]
#   constant: [[1.0, 1.0, 1.0], [10.0, 10.0, 10.0]]
#   input:    [[1.0, 10.0, 100.0], [1.0, 10.0, 100.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3.11 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check openvino==2026.4.1 numpy==2.4.6
cat > "$folder/program.py" <<'PROGRAM'
import numpy as np
import openvino
from openvino import opset13

ROW = np.float32([1, 10, 100])


def compute(is_constant):
    x = opset13.parameter([2, 3, 4], np.float32)
    row = opset13.constant(ROW) if is_constant else opset13.parameter([3], np.float32)
    total = opset13.reduce_sum(x, np.int64([2]), keep_dims=False)
    inputs = [x] if is_constant else [x, row]
    model = openvino.Model([opset13.add(total, row)], inputs)
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    values = [np.zeros([2, 3, 4], np.float32), ROW]
    return list(compiled(values[: len(inputs)]).values())[0].tolist()


print("expected:", (np.zeros([2, 3, 4], np.float32).sum(2) + ROW).tolist())
print("constant:", compute(is_constant=True))
print("input:   ", compute(is_constant=False))
PROGRAM
result=$("$folder/env/bin/python" "$folder/program.py")
echo "$result"
[ "$result" = "expected: [[1.0, 10.0, 100.0], [1.0, 10.0, 100.0]]
constant: [[1.0, 1.0, 1.0], [10.0, 10.0, 10.0]]
input:    [[1.0, 10.0, 100.0], [1.0, 10.0, 100.0]]" ]
