#!/usr/bin/env bash
# protobuf 6.33.5 and 7.36.2 with numpy 2.4.6, Python 3.11.
#
# protobuf up to 6 takes Python's bools in fields of integers; many programs store bools in
# tf.train.Int64List, as TensorFlow's guide on TFRecord does. protobuf 7 raises TypeError for True.
# A failing assignment to a slice of a list has then changed the length of the list already. NumPy's
# bools are refused by both: in NumPy 2.4 they are no integers.
#
# Output seen:
#   6.33.5 True: [1]
#   6.33.5 np.True_: TypeError
#   6.33.5 slice: [7, 1, 1, 8]
#   7.36.2 True: TypeError
#   7.36.2 np.True_: TypeError
#   7.36.2 slice: TypeError, and the list [7, 9, 8] is [7, 9, 8, 8]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/bools.py" <<'PYTHON'
import google.protobuf
import numpy as np
from google.protobuf.descriptor_pb2 import SourceCodeInfo


def show(what, fill, before=()):
    path = SourceCodeInfo.Location(path=before).path
    try:
        fill(path)
        print(google.protobuf.__version__, f"{what}: {list(path)}")
    except TypeError:
        changed = f", and the list {list(before)} is {list(path)}" if before else ""
        print(google.protobuf.__version__, f"{what}: TypeError{changed}")


show("True", lambda path: path.append(True))
show("np.True_", lambda path: path.append(np.True_))
show("slice", lambda path: path.__setitem__(slice(1, 2), [True, True]), [7, 9, 8])
PYTHON
for version in 6.33.5 7.36.2; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install --quiet "protobuf==$version" numpy==2.4.6
  "$folder/$version/bin/python" "$folder/bools.py" | tee -a "$folder/output"
done
diff "$folder/output" <(sed -n '/^# Output seen:/,/^set/s/^#   //p' "$0")
